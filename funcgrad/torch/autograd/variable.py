"""torch.autograd.Variable: what tensors that can require grad were called before they were tensors."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.tensors.tensor import Tensor


class _VariableType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)

    def __call__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Tensor:
        made = Tensor() if data is None else data.detach()
        return made.requires_grad_(requires_grad)


class Variable(metaclass=_VariableType):
    """Variable(tensor, requires_grad=True) is a tensor with the same memory; every tensor is a Variable.

    >>> import funcgrad.torch as torch
    >>> torch.autograd.Variable(torch.ones(2), requires_grad=True)
    tensor([1., 1.], requires_grad=True)
    """
