"""A Function has one rule for its sweep."""

import pytest

import funcgrad.torch as torch


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, ct):
        return ct

    @staticmethod
    def vjp(ctx, ct):
        return 2 * ct


class Vjp(torch.autograd.Function):
    forward = Both.forward
    vjp = Both.vjp


def test_two_rules_are_refused():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"both 'backward' and 'vjp'.*Both has both"):
        Both.apply(x).sum().backward()


def test_vjp_is_a_rule():
    x = torch.ones(2, requires_grad=True)
    Vjp.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
