"""torch.optim on tensors: the same values, states, texts and errors as the original; memory and graphs."""

from __future__ import annotations

import copy
import pickle
import tracemalloc

import numpy as np
import pytest

import funcgrad.torch as ft

CASES = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1, "maximize": True, "betas": (0.5, 0.7), "eps": 1e-3}),
    ("AdamW", {"lr": 0.1}),
    ("AdamW", {"amsgrad": True}),
    ("RMSprop", {}),
    ("RMSprop", {"centered": True, "momentum": 0.5, "weight_decay": 0.1}),
    ("RMSprop", {"momentum": 0.5, "maximize": True}),
    ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5, "maximize": True}),
    ("Adadelta", {"weight_decay": 0.1, "rho": 0.5, "maximize": True}),
    ("Adamax", {"weight_decay": 0.1, "maximize": True}),
    ("NAdam", {"weight_decay": 0.1, "momentum_decay": 0.1}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("RAdam", {"weight_decay": 0.1}),
    ("RAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("Rprop", {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (1e-3, 0.5)}),
    ("ASGD", {"t0": 3, "weight_decay": 0.1, "lambd": 0.01}),
]
NAMES = sorted({name for name, _ in CASES})


@pytest.fixture(scope="module")
def original():
    return pytest.importorskip("torch", reason="the original is not installed")


def numbers(rng, shape, dtype):
    made = rng.normal(size=shape).astype(dtype)
    return np.asarray(made + 1j * rng.normal(size=shape) if made.dtype.kind == "c" else made, dtype)


def trained(torch, name, options, dtype, steps=20):
    rng = np.random.default_rng(0)
    params = [torch.nn.Parameter(torch.tensor(numbers(rng, shape, dtype))) for shape in ((3, 4), (5,), ())]
    optimizer = getattr(torch.optim, name)(params, foreach=False, **options)
    for _ in range(steps):
        for p in params:
            p.grad = torch.tensor(numbers(rng, tuple(p.shape), dtype))
        optimizer.step()
    return params, optimizer


def array(t):
    return np.asarray(t.detach().numpy())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64], ids=lambda d: d.__name__)
@pytest.mark.parametrize(("name", "options"), CASES)
def test_twenty_steps_are_those_of_the_original(original, name, options, dtype):
    theirs, other = trained(original, name, options, dtype)
    mine, optimizer = trained(ft, name, options, dtype)
    tolerance = 1e-9 if name == "NAdam" else 1e-14  # PyTorch keeps NAdam's product of momenta in float32
    tolerance = tolerance if dtype == np.float64 else 1e-6
    for p, expected in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(array(p), array(expected), rtol=tolerance, atol=tolerance)
    state, expected = optimizer.state_dict(), other.state_dict()
    assert str(state["param_groups"]) == str(expected["param_groups"])
    assert repr(optimizer) == repr(other)
    for entry, wanted in zip(state["state"].values(), expected["state"].values(), strict=True):
        assert list(entry) == list(wanted)
        for key, value in wanted.items():
            assert str(entry[key].dtype) == str(value.dtype)
            np.testing.assert_allclose(
                array(entry[key]), array(value), rtol=max(tolerance, 3e-7), atol=tolerance
            )


@pytest.mark.parametrize(("name", "options"), CASES[1::3])
def test_a_state_of_the_original_is_continued(original, name, options):
    theirs, other = trained(original, name, options, np.float32, 3)
    mine, optimizer = trained(ft, name, options, np.float32, 0)
    given = other.state_dict()
    given["state"] = {n: {k: array(v) for k, v in entry.items()} for n, entry in given["state"].items()}
    optimizer.load_state_dict(given)
    for p, q in zip(mine, theirs, strict=True):
        p.data.copy_(ft.tensor(array(q)))
        p.grad, q.grad = ft.ones_like(p), original.ones_like(q)
    optimizer.step()
    other.step()
    for p, q in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(array(p), array(q), rtol=1e-6)


def test_reference_numbers():
    for name, options, expected in (
        ("SGD", {"momentum": 0.9}, [1.8645, -1.1355]),
        ("Adam", {}, [1.472185551209458, -1.527814448790542]),
        ("RAdam", {}, [1.6265765183, -1.3734234817]),
    ):
        w = ft.tensor([1.0, -2.0], dtype=ft.float64, requires_grad=True)
        optimizer = getattr(ft.optim, name)([w], lr=0.1, **options)
        for _ in range(5):
            optimizer.zero_grad()
            (w**2 + w[0] * w[1]).sum().backward()
            optimizer.step()
        np.testing.assert_allclose(array(w), expected, rtol=5e-11)


# ---- memory and graphs -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop"])
def test_a_step_allocates_nothing(name):
    model = ft.nn.Sequential(ft.nn.Linear(300, 200), ft.nn.ReLU(), ft.nn.Linear(200, 10))
    optimizer = getattr(ft.optim, name)(model.parameters())
    x = ft.ones(2, 300)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        tracemalloc.start()
        optimizer.step()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 60_000, "a quarter of the largest parameter"


def test_a_step_is_a_write():
    w = ft.ones(3, requires_grad=True)
    view = w.detach()
    optimizer = ft.optim.SGD([w], lr=1.0)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    optimizer.step()
    assert w._version == 1
    assert view.tolist() == w.tolist() == [-1.0] * 3
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize(
    "look", [lambda w: w.detach(), lambda w: w.detach().numpy(), lambda w: w.detach()[0]]
)
def test_memory_that_is_looked_at_is_written_to_and_not_copied(look):
    w = ft.ones(200, 200, requires_grad=True)
    other = look(w)
    w.grad = ft.ones(200, 200)
    optimizer = ft.optim.SGD([w], lr=0.5)
    optimizer.step()
    tracemalloc.start()
    optimizer.step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000, "a quarter of the parameter"
    assert other.min() == other.max() == 0.0


def test_what_a_graph_has_saved_stays():
    w = ft.ones(3, requires_grad=True)
    loss = (w * w).sum()
    w.grad = ft.ones(3)
    with ft.autograd.graph.allow_mutation_on_saved_tensors():
        kept = (w * w).sum()
        ft.optim.SGD([w], lr=1.0).step()
        assert ft.autograd.grad(kept, w)[0].tolist() == [2.0] * 3
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_step_is_seen_in_numpy():
    w = ft.ones(3, requires_grad=True)
    seen = w.detach().numpy()
    w.grad = ft.ones(3)
    ft.optim.SGD([w], lr=1.0).step()
    assert seen.tolist() == [0.0] * 3


def test_views_and_numbers_can_be_optimized():
    base = ft.zeros(2, 3)
    row, number = base[1].requires_grad_(), ft.tensor(2.0, requires_grad=True)
    optimizer = ft.optim.Adam([row, number], lr=0.5)
    (row.sum() + number).backward()
    optimizer.step()
    np.testing.assert_allclose(array(base), [[0, 0, 0], [-0.5] * 3], rtol=1e-6)
    np.testing.assert_allclose(number.item(), 1.5, rtol=1e-6)


def test_a_differentiable_step_has_derivatives():
    for name in NAMES:
        start = ft.tensor([0.7, -1.2], dtype=ft.float64, requires_grad=True)
        scale = ft.tensor(1.5, dtype=ft.float64, requires_grad=True)

        def after(start, scale, name=name):
            w = start.clone()
            optimizer = getattr(ft.optim, name)([w], differentiable=True)
            for _ in range(2):
                w.grad = scale * w**3
                optimizer.step()
            return w.sum()

        assert ft.autograd.gradcheck(after, (start, scale), atol=1e-4)


def test_a_learning_rate_can_be_learned():
    rate = ft.tensor(0.1, dtype=ft.float64, requires_grad=True)
    w = ft.tensor([2.0], dtype=ft.float64, requires_grad=True).clone()
    optimizer = ft.optim.SGD([w], lr=rate, differentiable=True)
    w.grad = ft.tensor([3.0], dtype=ft.float64)
    optimizer.step()
    w.sum().backward()
    assert rate.grad.item() == -3.0
    w.grad = ft.ones_like(w)
    averaging = ft.optim.ASGD([w], lr=rate, differentiable=True)
    averaging.step()  # by a copy of the rate in single precision, as in PyTorch
    assert w.item() == pytest.approx(1.7 * (1 - 1e-4 * 0.1) - 0.1, rel=1e-7)


# ---- groups, states, hooks -------------------------------------------------------------------------------------------
PROGRAMS = [
    "torch.optim.SGD(torch.ones(2), lr=0.1)",
    "torch.optim.SGD([], lr=0.1)",
    "torch.optim.SGD([1.0], lr=0.1)",
    "torch.optim.SGD([torch.ones(2, requires_grad=True) * 2], lr=0.1)",
    'torch.optim.SGD([{"params": {torch.ones(2)}}], lr=0.1)',
    "torch.optim.SGD([torch.ones(2)], lr=-1)",
    "torch.optim.SGD([torch.ones(2)], nesterov=True)",
    "torch.optim.SGD([torch.ones(2)], momentum=-1)",
    "torch.optim.Adam([torch.ones(2)], betas=(1.0, 0.9))",
    "torch.optim.Adam([torch.ones(2)], weight_decay=-1)",
    "torch.optim.RMSprop([torch.ones(2)], alpha=-1)",
    "torch.optim.Adagrad([torch.ones(2)], lr_decay=-1)",
    "torch.optim.Adadelta([torch.ones(2)], rho=2)",
    "torch.optim.NAdam([torch.ones(2)], momentum_decay=-1)",
    "torch.optim.Rprop([torch.ones(2)], etas=(1, 2))",
    "torch.optim.LBFGS([torch.ones(2)], lr=-1)",
    'torch.optim.LBFGS([{"params": torch.ones(2)}, {"params": torch.ones(1)}])',
    "p = torch.ones(2)\ntorch.optim.SGD([p, p], lr=0.1)",
    'p = torch.ones(2)\ntorch.optim.SGD([{"params": p}, {"params": p}], lr=0.1)',
    'print(torch.optim.Adam([{"params": torch.ones(2), "lr": 1.0}, {"params": [torch.ones(1)]}]))',
    'o = torch.optim.SGD([("w", torch.ones(2)), ("b", torch.ones(1))], lr=0.1)\nprint(o.state_dict()["param_groups"])',
    'o = torch.optim.SGD([torch.ones(2)], lr=0.1)\no.add_param_group({"params": torch.ones(3), "lr": 7})\nprint(o)',
    'o = torch.optim.SGD([torch.ones(2)], lr=0.1)\no.load_state_dict({"state": {}, "param_groups": []})',
    "w, O = torch.ones(2), torch.optim.SGD\nO([w]).load_state_dict(O([w, torch.ones(1)]).state_dict())",
    "w = torch.ones(2, requires_grad=True)\no = torch.optim.SGD([w], lr=0.5)\nprint(o.step(lambda: w.sum()), w.grad)",
    """
w = torch.tensor([1.0, 2.0], requires_grad=True)
o = torch.optim.SGD([w], lr=torch.tensor(0.5))
w.sum().backward()
o.step(); print(w)
o.zero_grad(set_to_none=False); print(w.grad)
o.zero_grad(); print(w.grad)
""",
    """
w = torch.ones(1, requires_grad=True)
o = torch.optim.Adam([w])
handles = [o.register_step_pre_hook(lambda o, a, k: print("before", a, k)), o.register_step_post_hook(lambda *x: print("after"))]
o.register_state_dict_pre_hook(lambda o: print("pack"))
o.register_state_dict_post_hook(lambda o, d: print("packed", list(d)))
o.register_load_state_dict_pre_hook(lambda o, d: print("load", list(d)))
o.register_load_state_dict_post_hook(lambda o: print("loaded"))
w.grad = torch.ones(1)
o.step()
handles[0].remove()
o.load_state_dict(o.state_dict())
o.step()
print(o.state[w]["step"], w)
""",
    """
class Own(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.5})
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"])
w = torch.ones(2, requires_grad=True)
o = Own([w])
o.register_step_post_hook(lambda *x: print("after"))
(w * 2).sum().backward()
o.step()
print(w, o)
""",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_original_prints_the_same(same, program):
    same(program)


def test_optimizers_are_copied_and_saved():
    w = ft.ones(2, requires_grad=True)
    optimizer = ft.optim.Adam([w], lr=0.1)
    w.grad = ft.ones(2)
    optimizer.step()
    for other in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        (p,) = other.param_groups[0]["params"]
        p.grad = ft.ones(2)
        other.step()
        assert other.state[p]["step"].item() == 2
        np.testing.assert_allclose(array(p), 0.8, rtol=1e-6)
    assert optimizer.state[w]["step"].item() == 1


def test_what_was_loaded_is_a_copy():
    w = ft.ones(2, requires_grad=True)
    optimizer = ft.optim.SGD([w], lr=0.1, momentum=0.9)
    w.grad = ft.ones(2)
    optimizer.step()
    saved = optimizer.state_dict()
    before = saved["state"][0]["momentum_buffer"].tolist()
    other = ft.optim.SGD([ft.ones(2)], lr=1.0)
    other.load_state_dict(saved)
    other.param_groups[0]["params"][0].grad = ft.ones(2)
    other.step()
    assert saved["state"][0]["momentum_buffer"].tolist() == before
    assert other.param_groups[0]["lr"] == 0.1


# ---- L-BFGS ----------------------------------------------------------------------------------------------------------
def lbfgs_trace(torch, options):
    x = torch.nn.Parameter(torch.tensor([-1.5, 2.0, 0.5, -1.0], dtype=torch.float64))
    optimizer, seen = torch.optim.LBFGS([x], **options), []

    def closure():
        optimizer.zero_grad()
        loss = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        loss.backward()
        seen.append(loss.item())
        return loss

    returned = [optimizer.step(closure).item() for _ in range(4)]
    return seen, returned, array(x), optimizer.state_dict()["state"][0]


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_lbfgs_goes_on_from_where_the_closure_puts_parameters(original, search):
    def losses(torch):
        x = torch.tensor([0.9, 0.2, 0.5], dtype=torch.float64, requires_grad=True)
        optimizer, seen = torch.optim.LBFGS([x], max_iter=12, line_search_fn=search), []

        def closure():
            with torch.no_grad():
                x.clamp_(0, 1)
            optimizer.zero_grad()
            loss = ((x - torch.tensor([2.0, -1.0, 0.3])) ** 4).sum() + x.prod()
            loss.backward()
            seen.append(loss.item())
            return loss

        optimizer.step(closure)
        return seen, x.tolist()

    (found, end), (expected, expected_end) = losses(ft), losses(original)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(end, expected_end, rtol=1e-5)


@pytest.mark.parametrize(
    "options",
    [{"lr": 0.001}, {"lr": 0.002, "max_eval": 5}, {"line_search_fn": "strong_wolfe"}]
    + [
        {"line_search_fn": "strong_wolfe", "lr": lr, "history_size": 3, "max_iter": n}
        for lr, n in ((0.1, 20), (30.0, 7))
    ],
)
def test_lbfgs_tries_the_same_points(original, options):
    seen, returned, x, state = lbfgs_trace(ft, options)
    expected_seen, expected_returned, expected_x, expected_state = lbfgs_trace(original, options)
    np.testing.assert_allclose(seen, expected_seen, rtol=1e-6)
    np.testing.assert_allclose(returned, expected_returned, rtol=1e-6)
    np.testing.assert_allclose(x, expected_x, rtol=1e-6)
    assert (state["n_iter"], state["func_evals"]) == (expected_state["n_iter"], expected_state["func_evals"])
    assert set(expected_state) - set(state) == {"al"}  # scratch


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"lr": 0.1, "weight_decay": 0.1, "d": 1.5, "maximize": True},
        {"eps": (1e-5, 1e-2), "beta2_decay": -0.5},
    ],
)
def test_adafactor_steps_as_the_original(original, options):
    def run(torch):
        shapes = ((3,), (3, 4), (2, 3, 4), ())
        params = [
            (torch.arange(max(1, int(np.prod(s))), dtype=torch.float64) / 7 - 0.5).reshape(s).requires_grad_()
            for s in shapes
        ]
        optimizer = torch.optim.Adafactor(params, **options)
        for k in range(4):
            optimizer.zero_grad()
            sum((p.sin() * (p + k)).sum() for p in params).backward()
            optimizer.step()
        state = optimizer.state_dict()
        fresh = torch.optim.Adafactor(params)
        fresh.load_state_dict(state)
        held = [x for i in range(4) for x in fresh.state_dict()["state"][i].values()]
        return [array(x) for x in (*params, *held)], str(optimizer)

    (found, text), (expected, expected_text) = run(ft), run(original)
    assert text == expected_text
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.parametrize("name", ["lr", "d", "weight_decay"])
def test_adafactor_refuses_what_the_original_refuses(original, name):
    texts = []
    for torch in (ft, original):
        with pytest.raises(ValueError, match="should be") as caught:
            torch.optim.Adafactor([torch.ones(1, requires_grad=True)], **{name: -1.0})
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
