"""torch.nn.utils and torch.nn.init: programs that print the same on both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.layers import numbers

BEGIN = """
import copy, math, warnings
nn, init, utils = torch.nn, torch.nn.init, torch.nn.utils
warnings.simplefilter("ignore")
def attempt(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, str(error))
def layer():
    made = nn.Linear(2, 3)
    made.weight.data = torch.tensor([[1.0, -2.0], [0.5, 3.0], [2.0, 0.25]]); made.bias.data = torch.tensor([0.5, 0.0, -1.0])
    return made
x = torch.tensor([[1.0, 2.0]])
"""

PROGRAMS = {
    "clipping": """
def gradients(scale=1.0):
    found = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2, 2)), nn.Parameter(torch.zeros(1))]
    found[0].grad = torch.tensor([3.0, -4.0]) * scale; found[1].grad = torch.tensor([[0.0, 12.0], [-1.0, 2.0]]) * scale
    return found
for p in (2.0, 1.0, 3, "inf", math.inf, 0.5):
    found = gradients(); print(utils.clip_grad_norm_(found, 1.0, norm_type=p), [t.grad for t in found])
    print(utils.get_total_norm([t.grad for t in found if t.grad is not None], p))
print(utils.clip_grad_norm_(found[0], 0.01), utils.clip_grad_norm_(found, 1e9, foreach=False), found[0].grad)
bad = gradients(math.nan); attempt(lambda: utils.clip_grad_norm_(bad, 1.0, error_if_nonfinite=True))
print(utils.clip_grad_norm_(bad, 1.0), bad[0].grad)
large = gradients(math.inf); print(utils.clip_grad_norm_(large, 1.0), large[0].grad)
print(utils.clip_grad_norm_([], 1.0), utils.clip_grad_norm_(iter(gradients()), 1.0), utils.get_total_norm([]))
found = gradients(); utils.clip_grad_value_(found, 2.5); print([t.grad for t in found])
found = gradients(); utils.clip_grads_with_norm_(found, 1.0, torch.tensor(10.0)); print([t.grad for t in found])
""",
    "vectors": """
l = layer(); v = utils.parameters_to_vector(l.parameters()); print(v)
utils.vector_to_parameters(torch.arange(9.0), l.parameters()); print(l.weight, l.bias)
attempt(lambda: utils.vector_to_parameters([1.0], l.parameters()))
""",
    "weight_norm": """
l = utils.weight_norm(layer()); print(l, list(l.state_dict()), l.weight_g, l.weight_v)
out = l(x); print(out.grad_fn.name(), l.weight.grad_fn.name()); out.square().sum().backward()
print(l.weight_g.grad, l.weight_v.grad)
attempt(lambda: utils.weight_norm(l)); print(utils.remove_weight_norm(l), list(l.state_dict()), l(x))
attempt(lambda: utils.remove_weight_norm(l))
print(utils.weight_norm(layer(), dim=None).weight_g, utils.weight_norm(layer(), dim=1).weight_g)
print(utils.weight_norm(layer(), "bias"))
""",
    "spectral_norm": """
torch.manual_seed(1); l = utils.spectral_norm(layer()); print(l, list(l.state_dict()), l.weight_u, l.weight_v)
out = l(x); print(out, l.weight_u); out.square().sum().backward(); print(l.weight_orig.grad)
l.eval(); print(torch.equal(l(x), l(x)), l.weight_u); attempt(lambda: utils.spectral_norm(l))
print(utils.remove_spectral_norm(l), list(l.state_dict())); attempt(lambda: utils.remove_spectral_norm(l))
attempt(lambda: utils.spectral_norm(layer(), n_power_iterations=0))
""",
    "parametrizations": """
P = utils.parametrize; torch.manual_seed(1)
l = utils.parametrizations.weight_norm(layer())
print(l, list(l.state_dict()), P.is_parametrized(l), P.is_parametrized(l, "bias"))
l(x).square().sum().backward(); print(l.parametrizations.weight.original0.grad, l.parametrizations.weight.original1.grad)
l.weight = torch.ones(3, 2); print(l.weight, l.parametrizations.weight.original0)
print(P.type_before_parametrizations(l).__name__, P.remove_parametrizations(l, "weight"), l.weight)
l = utils.parametrizations.spectral_norm(layer()); print(l, list(l.state_dict()), l(x), l.parametrizations.weight[0]._u)
l.eval(); print(l(x)); print([n for n, _ in l.named_parameters()], copy.deepcopy(l)(x))
attempt(lambda: utils.parametrizations.spectral_norm(layer(), "nothing"))
""",
    "a parametrization of one's own": """
P = utils.parametrize
class Symmetric(nn.Module):
    def forward(self, x): return x.triu() + x.triu(1).T
    def right_inverse(self, x): return x.triu()
class Doubled(nn.Module):
    def forward(self, x): print("computed"); return 2 * x
square = nn.Linear(2, 2); square.weight.data = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
P.register_parametrization(square, "weight", Symmetric()); print(square, square.weight, square.parametrizations.weight.original)
P.register_parametrization(square, "weight", Doubled()); print(square.weight)
with P.cached(): square.weight; print(square.weight)
attempt(lambda: setattr(square, "weight", torch.ones(2, 2)))
(square.weight * torch.tensor([[1.0, 10.0], [100.0, 1000.0]])).sum().backward()
print(square.parametrizations.weight.original.grad)
print(P.remove_parametrizations(square, "weight", leave_parametrized=False), square.weight)
P.register_parametrization(square, "bias", Doubled()); P.remove_parametrizations(square, "bias"); print(type(square).__name__)
attempt(lambda: P.register_parametrization(square, "nothing", Doubled()))
attempt(lambda: P.remove_parametrizations(square, "weight"))
""",
    "functional_call": """
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight; self.a.weight.data = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        self.register_buffer("k", torch.ones(2))
    def forward(self, x, y=0): return self.b(self.a(x)) * self.k + y
m, x, z, call = Tied(), torch.ones(2), torch.eye(2), torch.func.functional_call
for given in ({"a.weight": z}, {"b.weight": z}, {"k": x * 3}, {"q": z}, {"q.z": z}, [{"a.weight": z}, {"k": x * 3}],
              {}, 3, [z], {"a.weight": 3}, [{"a.weight": z}, {"a.weight": z}], {"a.weight": z, "b.weight": z + 1},
              {"a.weight": z, "b.weight": z}):
    attempt(lambda: call(m, given, (x,))); attempt(lambda: call(m, given, x, {"y": 1.0}, tie_weights=False))
    if isinstance(given, dict): attempt(lambda: call(m, given, x, strict=True))
print(m(x), call(m, {"a.weight": z, "k": x}, x, strict=True))
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, same: Any) -> None:
    same(BEGIN + PROGRAMS[name])


def test_gradients_of_a_functional_call() -> None:
    layer, x = ft.nn.Linear(2, 1), ft.tensor([2.0, 3.0])
    found = ft.func.grad(lambda p: ft.func.functional_call(layer, p, (x,)).sum())(
        dict(layer.named_parameters())
    )
    assert {k: v.tolist() for k, v in found.items()} == {"weight": [[2.0, 3.0]], "bias": [1.0]}
    stacked, buffers = ft.func.stack_module_state([ft.nn.Linear(2, 1) for _ in range(3)])
    out = ft.func.vmap(lambda p, b: ft.func.functional_call(layer, (p, b), (x,)))(stacked, buffers)
    assert out.shape == (3, 1)


INITIAL = [
    "init.uniform_(t, -1.0, 2.0)",
    "init.normal_(t, 1.0, 2.0)",
    "init.constant_(t, 3.0)",
    "init.ones_(t)",
    "init.zeros_(t)",
    "init.eye_(t)",
    "init.dirac_(t)",
    "init.dirac_(t, 2)",
    "init.xavier_uniform_(t, gain=2.0)",
    "init.xavier_normal_(t)",
    "init.kaiming_uniform_(t, a=0.3)",
    "init.kaiming_uniform_(t, mode='fan_out', nonlinearity='relu')",
    "init.kaiming_normal_(t, nonlinearity='tanh')",
    "init.kaiming_normal_(t, mode='all')",
    "init.trunc_normal_(t, std=0.5, a=-0.6, b=1.0)",
    "init.orthogonal_(t, gain=2.0)",
    "init.sparse_(t, 0.4)",
    "init.calculate_gain('leaky_relu', 0.3)",
    "init.calculate_gain('selu')",
    "init.calculate_gain('conv2d')",
    "init.calculate_gain('unknown')",
    "init.calculate_gain('leaky_relu', True)",
    "init.uniform_(t, generator=torch.Generator().manual_seed(5))",
]


@pytest.mark.parametrize("line", INITIAL)
@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_first_values(line: str) -> None:
    """The same numbers from the same seed, of tensors of several shapes; the same errors."""
    torch = pytest.importorskip("torch", reason="the original is not installed")
    for shape in ((4, 3), (3, 5), (4, 2, 3), (4, 4, 3, 3), (3,), (0, 2), (5, 17)):
        found = []
        for library in (ft, torch):
            library.manual_seed(2)
            t = library.nn.Parameter(library.zeros(shape, dtype=library.float32))
            try:
                out = eval(line, {"init": library.nn.init, "t": t, "torch": library})
            except (ValueError, RuntimeError, AssertionError) as error:
                found.append((type(error), str(error)[:40]))
                continue
            found.append(numbers(out) if out is t else out)
            assert out is t or isinstance(out, (int, float))
        mine, theirs = found
        if isinstance(theirs, np.ndarray):
            np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=2e-6, err_msg=str(shape))
        else:
            assert mine == theirs, shape


def test_fused_layers_do_the_same() -> None:
    conv, norm = ft.nn.Conv2d(2, 3, 2, bias=False), ft.nn.BatchNorm2d(3)
    norm(conv(ft.randn(4, 2, 5, 5)))
    x = ft.randn(1, 2, 4, 4)
    fused = ft.nn.utils.fuse_conv_bn_eval(conv.eval(), norm.eval())
    np.testing.assert_allclose(
        fused(x).detach().numpy(), norm(conv(x)).detach().numpy(), rtol=1e-4, atol=1e-5
    )
    linear, norm = ft.nn.Linear(3, 2).eval(), ft.nn.BatchNorm1d(2, affine=False).eval()
    fused = ft.nn.utils.fuse_linear_bn_eval(linear, norm)
    np.testing.assert_allclose(
        fused(ft.ones(1, 3)).detach().numpy(), norm(linear(ft.ones(1, 3))).detach().numpy(), rtol=1e-5
    )
    with pytest.raises(AssertionError, match="only for eval"):
        ft.nn.utils.fuse_linear_bn_eval(linear.train(), norm)


def test_skipped_first_values_take_no_random_numbers() -> None:
    ft.manual_seed(0)
    expected = ft.rand(3).tolist()
    ft.manual_seed(0)
    assert ft.nn.utils.skip_init(ft.nn.Linear, 3, 2).weight.shape == (2, 3)
    assert ft.rand(3).tolist() == expected
