"""gradcheck finds what is wrong: slopes, sweeps that differ, gradients that forget their cotangent, batches."""

import pytest

import funcgrad.torch as torch
from funcgrad.torch.autograd import gradcheck, gradgradcheck

double = torch.float64


def of(value, rule, forward=None):
    """A Function from its value and the rule of its sweep."""

    class Made(torch.autograd.Function):
        generate_vmap_rule = False

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return value(x)

        @staticmethod
        def backward(ctx, ct):
            return rule(ctx.saved_tensors[0], ct)

    if forward is not None:
        Made.jvp = staticmethod(lambda ctx, t: forward(ctx.saved_tensors[0], t))
    return Made.apply


def point():
    return torch.tensor([0.5, -1.5], dtype=double, requires_grad=True)


WRONG = {
    "slope": (
        of(lambda x: x**2, lambda x, ct: 3 * x * ct),
        "Jacobian mismatch for output 0 with respect to input 0",
    ),
    "a cotangent that is not used": (
        of(lambda x: x.clone(), lambda x, ct: ct + 1e-7),
        "backward not multiplied by grad_output",
    ),
    "another sweep, another number": (
        of(lambda x: x.clone(), lambda x, ct: ct * (1 + 1e-6 * torch.rand_like(x))),
        "Backward is not reentrant",
    ),
    "no graph": (lambda x: x.detach() ** 2, "Numerical gradient for function expected to be zero"),
}


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize(("function", "message"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_found(function, message, fast_mode):
    with pytest.raises(RuntimeError, match=message):
        gradcheck(function, point(), fast_mode=fast_mode)
    assert not gradcheck(function, point(), fast_mode=fast_mode, raise_exception=False)


def test_noise_within_the_tolerance():
    function, _ = WRONG["another sweep, another number"]
    assert gradcheck(function, point(), nondet_tol=1e-5)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_what_is_right_passes(fast_mode):
    def function(x, y):
        return (x * y).sin(), x.exp()

    options = {"check_batched_grad": True, "check_forward_ad": True, "check_batched_forward_grad": True}
    assert gradcheck(function, (point(), point()), fast_mode=fast_mode, **options)
    assert gradgradcheck(function, (point(), point()), check_fwd_over_rev=True, fast_mode=fast_mode)


def test_complex_parts_are_compared_apart():
    z = torch.tensor([1 + 2j], dtype=torch.complex128, requires_grad=True)
    assert gradcheck(lambda z: z**2, z)
    wrong = of(lambda z: z**2, lambda z, ct: 2 * z * ct)  # without the conjugate
    with pytest.raises(RuntimeError, match="imaginary part of complex outputs only"):
        gradcheck(wrong, z)


def test_forward_mode_is_named():
    wrong = of(lambda x: x**2, lambda x, ct: 2 * x * ct, lambda x, t: 3 * x * t)
    with pytest.raises(RuntimeError, match="Jacobian computed with forward mode mismatch"):
        gradcheck(wrong, point(), check_forward_ad=True)


@pytest.mark.parametrize(
    ("function", "what"),
    [(lambda x: x if x[0] >= 0.5 else x[:1], "shape"), (lambda x: x if x[0] >= 0.5 else x.float(), "dtype")],
)
def test_outputs_keep_their_form(function, what):
    with pytest.raises(AssertionError, match=f"outputs with the same {what} when inputs are perturbed"):
        gradcheck(function, point())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"check_backward_ad": False}, "at least one of check_forward_ad or check_backward_ad"),
        (
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
            "requires check_backward_ad",
        ),
        ({"check_batched_forward_grad": True}, "requires check_forward_ad"),
    ],
)
def test_options_that_exclude_each_other(options, message):
    with pytest.raises(AssertionError, match=message):
        gradcheck(torch.sin, point(), **options)


def test_elements_that_share_memory():
    with pytest.raises(RuntimeError, match="dimension with stride 0"):
        gradcheck(torch.sin, torch.ones(1, dtype=double, requires_grad=True).expand(2, 2))


def test_a_batched_sweep_that_is_not_possible():
    branching = of(lambda x: x.clone(), lambda x, ct: ct.clone() if ct.sum() > -1e9 else ct)
    assert gradcheck(branching, point())
    with pytest.raises(RuntimeError, match="testing batched gradient"):
        gradcheck(branching, point(), check_batched_grad=True)
