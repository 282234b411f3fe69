"""What torch.autograd.functional refuses says what was found."""

import pytest

import funcgrad.torch as ft


def cut_off(x):
    return x.detach()


def beside(x):
    """A graph that does not lead to x."""
    return x.detach().requires_grad_().clone()


def point():
    return ft.tensor([0.5, 1.5], requires_grad=True)


F = ft.autograd.functional
STRICT = [
    (lambda: F.vjp(cut_off, point(), point(), strict=True), "Output 0 .* does not require gradients"),
    (lambda: F.jvp(beside, point(), point(), strict=True), "output .* is independent of input 0"),
    (
        lambda: F.vjp(ft.clone, point(), ft.ones(2), create_graph=True, strict=True),
        "jacobian .* independent of input 0",
    ),
    (
        lambda: F.jvp(ft.clone, point(), ft.ones(2), create_graph=True, strict=True),
        "jacobian .* independent of input 0",
    ),
    (lambda: F.jacobian(cut_off, point(), strict=True), "Output 0 .* does not require gradients"),
    (lambda: F.jacobian(beside, point(), strict=True), "Output 0 .* is independent of input 0"),
    (
        lambda: F.jacobian(ft.clone, point(), create_graph=True, strict=True),
        "jacobian .* independent of input 0",
    ),
    (
        lambda: F.hessian(lambda x: cut_off(x).sum(), point(), strict=True),
        "Output 0 .* does not require gradients",
    ),
    (
        lambda: F.hessian(lambda x: (3 * x).sum(), point(), strict=True),
        "jacobian .* with respect to input 0 is",
    ),
    (
        lambda: F.hvp(lambda x: (3 * x).sum(), point(), point(), strict=True),
        "jacobian .* with respect to input 0 is",
    ),
    (
        lambda: F.vhp(lambda x: beside(x).sum(), point(), point(), strict=True),
        "output .* is independent of input 0",
    ),
]


@pytest.mark.parametrize(("call", "message"), STRICT)
def test_strict_says_what_does_not_depend(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


@pytest.mark.parametrize("who", ["hvp", "vhp", "hessian"])
def test_functions_of_one_number(who):
    call = getattr(F, who)
    v = () if who == "hessian" else (point(),)
    with pytest.raises(TypeError, match=f"The inputs given to {who} must be either a Tensor"):
        call(ft.sum, (point(), 2), *v)
    with pytest.raises(TypeError, match=f"outputs of the user-provided function given to {who} must"):
        call(lambda x: (x, "text"), point(), *v)
    with pytest.raises(RuntimeError, match=f"function given to {who} should return a single Tensor"):
        call(lambda x: (x.sum(), x.sum()), point(), *v)
    with pytest.raises(RuntimeError, match="should contain a single element"):
        call(lambda x: x, point(), *v)


@pytest.mark.parametrize("call", [F.vjp, F.jvp])
def test_directions_that_do_not_fit(call):
    with pytest.raises(RuntimeError, match="The given v should contain a single Tensor"):
        call(ft.sin, point(), (point(), point()))
    with pytest.raises(RuntimeError, match="v has invalid size: should be"):
        call(ft.sin, point(), ft.ones(3))
