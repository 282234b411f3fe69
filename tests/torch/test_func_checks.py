"""What torch.func refuses says so: arguments, outputs and aux that its transforms cannot take."""

import warnings

import numpy as np
import pytest

import funcgrad.torch as torch
from funcgrad.torch import functorch

F = torch.func
X = torch.tensor([1.0, 2.0])
JACOBIANS = [F.jacrev, F.jacfwd]


@pytest.mark.parametrize("transform", [F.grad, F.grad_and_value, *JACOBIANS])
@pytest.mark.parametrize(
    ("argnums", "message"),
    [
        (-3, "but only 2 positional inputs"),
        (2, "but only 2 positional inputs"),
        ((0, -3), "but only 2 positional inputs"),
        ([0], "must be int or Tuple"),
        (0.0, "must be int or Tuple"),
        ((1, 0.0), "must be int, got 0.0"),
        ((0, 0), "must be unique"),
        ((0, -2), "must be unique"),
        ((), "must be non-empty"),
    ],
)
def test_argnums_that_are_not_there(transform, argnums, message):
    with pytest.raises(RuntimeError, match=message):
        transform(lambda x, y: (x * y).sum(), argnums=argnums)(X, X)


def test_argnums_from_the_end():
    gradient = F.grad(lambda x, y: (x**2 * y).sum(), argnums=(-1, 0))(X, 3 * X)
    np.testing.assert_array_equal(gradient[0].numpy(), [1, 4])
    np.testing.assert_array_equal(gradient[1].numpy(), [6, 24])


CALLS = {
    "grad": lambda f, has_aux: F.grad(f, has_aux=has_aux)(X),
    "vjp": lambda f, has_aux: F.vjp(f, X, has_aux=has_aux),
    "jvp": lambda f, has_aux: F.jvp(f, (X,), (X,), has_aux=has_aux),
    "jacrev": lambda f, has_aux: F.jacrev(f, has_aux=has_aux)(X),
    "jacfwd": lambda f, has_aux: F.jacfwd(f, has_aux=has_aux)(X),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("aux", [1, 1.5, "text", [X, 2]], ids=str)
def test_aux_has_tensors_for_leaves(call, aux):
    with pytest.raises(RuntimeError, match="Expected tensors, got unsupported type"):
        call(lambda x: (x.sum(), aux), True)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("out", [lambda x: [x.sum(), x], lambda x: (x.sum(), x, x)], ids=["list", "three"])
def test_an_output_with_aux_is_a_pair(call, out):
    with pytest.raises(RuntimeError, match="output of function f should be a tuple"):
        call(out, True)


@pytest.mark.parametrize("call", list(CALLS.values())[1:], ids=list(CALLS)[1:])
@pytest.mark.parametrize(
    ("out", "message"),
    [
        (None, "non-empty output"),
        ((), "non-empty output"),
        (3, "return only tensors"),
        ("text", "return only tensors"),
    ],
)
def test_outputs_are_tensors(call, out, message):
    with pytest.raises(RuntimeError, match=message):
        call(lambda _: out, False)


@pytest.mark.parametrize(
    ("primals", "tangents", "message"),
    [
        (X, (X,), "primals to be a tuple"),
        ((X,), X, "same python structure"),
        ((X,), [X], "same python structure"),
        ((X,), (X, X), "same python structure"),
        ((), (), "at least one Tensor"),
        ((1.0,), (X,), "only contain Tensors"),
        ((X,), (1.0,), "only contain Tensors"),
    ],
)
def test_tangents_go_with_primals(primals, tangents, message):
    with pytest.raises(RuntimeError, match=message):
        F.jvp(torch.sin, primals, tangents)


def test_strict_jvp_wants_outputs_that_depend():
    with pytest.raises(RuntimeError, match="strict"):
        F.jvp(lambda x: (x, torch.ones(2)), (X,), (X,), strict=True)
    _, pushed = F.jvp(lambda x: (x, 2 * x), (X,), (X,), strict=True)
    np.testing.assert_array_equal(pushed[1].numpy(), [2, 4])


@pytest.mark.parametrize("transform", JACOBIANS)
def test_jacobians_are_real(transform):
    with pytest.raises(RuntimeError, match="Expected all inputs to be real"):
        transform(torch.conj)(X * 1j)
    with pytest.raises(RuntimeError, match="Expected all outputs to be real"):
        transform(lambda x: x * 1j)(X)


def test_rows_in_chunks():
    for chunk_size in (0, -2):
        with pytest.raises(ValueError, match="greater than 0"):
            F.jacrev(torch.sin, chunk_size=chunk_size)
    whole, parts = (F.jacrev(lambda x: x**3, chunk_size=size)(X) for size in (None, 1))
    np.testing.assert_array_equal(whole.numpy(), parts.numpy())


def test_cotangents_have_the_structure_of_the_output():
    _, pull = F.vjp(lambda x: (x, [x, x]), X)
    with pytest.raises(RuntimeError, match="Expected pytree structure"):
        pull(((X, (X, X)),))


@pytest.mark.parametrize(
    "body",
    [
        lambda x: x.requires_grad_(),
        lambda x: torch.autograd.functional.jacobian(torch.sin, x),
        lambda x: torch.autograd.functional.vjp(torch.sin, x, x),
    ],
)
@pytest.mark.parametrize("transform", [F.grad, F.vmap])
def test_no_leaves_inside_a_transform(transform, body):
    with pytest.raises(RuntimeError, match=r"Tensor.requires_grad_\(\) .*inside of a function"):
        transform(lambda x: (body(x), x.sum())[1])(X)
    assert torch.ones(2).requires_grad_().requires_grad


def test_no_saved_tensor_hooks_inside_a_transform():
    with torch.autograd.graph.save_on_cpu(), pytest.raises(RuntimeError, match="saved tensor hooks"):
        F.grad(lambda x: x.sin().sum())(X)
    with torch.autograd.graph.save_on_cpu():
        np.testing.assert_array_equal(F.jvp(torch.square, (X,), (X,))[1].numpy(), [2, 8])


def test_transforms_keep_the_name_of_the_function():
    def loss(x):
        return x.sum()

    assert [t(loss).__name__ for t in (F.grad, F.jacrev, F.jacfwd)] == ["loss"] * 3


def test_models_that_can_be_stacked():
    models = [torch.nn.Linear(2, 1) for _ in range(2)]
    with pytest.raises(RuntimeError, match="at least one model"):
        F.stack_module_state([])
    with pytest.raises(RuntimeError, match="of the same class"):
        F.stack_module_state([models[0], torch.nn.Conv2d(1, 1, 1)])
    models[1].eval()
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        F.stack_module_state(models)
    models[1].train()
    models[1].bias.requires_grad_(False)
    with pytest.raises(RuntimeError, match=r"bias from each model .* same .requires_grad"):
        F.stack_module_state(models)


def test_functorch_splits_modules():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    x = torch.randn(4, 2)
    function, params, buffers = functorch.make_functional_with_buffers(net)
    np.testing.assert_array_equal(function(params, buffers, x).detach().numpy(), net(x).detach().numpy())
    with pytest.raises(RuntimeError, match="has buffers"):
        functorch.make_functional(net)
    function, params = functorch.make_functional(net[0], disable_autograd_tracking=True)
    assert not any(p.requires_grad for p in params)
    gradient = F.grad(lambda p: function(p, x).sum())(params)
    np.testing.assert_allclose(gradient[1].numpy(), np.full(3, 4.0))
    both, params, buffers = functorch.combine_state_for_ensemble([net[0], torch.nn.Linear(2, 3)])
    outs = F.vmap(both, in_dims=(0, 0, None))(params, buffers, x)
    np.testing.assert_allclose(outs[0].detach().numpy(), net[0](x).detach().numpy(), rtol=1e-6)


def test_functorch_names_what_to_write():
    with pytest.warns(FutureWarning, match=r"Please use `torch.func.grad`"):
        functorch.grad(torch.sin)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F.grad(torch.sin)
