"""Parameter and Buffer: tensors that a module knows as soon as they are assigned to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.torch.tensors import dtypes, storage
from funcgrad.torch.tensors.tensor import Tensor, from_operand, make_tensor


def _around(cls: type, data: Any) -> Any:
    """A leaf of this class that shares the memory of `data`."""
    source = make_tensor(np.zeros(0, np.float32)) if data is None else data
    made = object.__new__(cls)
    made.value, made.node = source.value, None
    if source.link is not None:
        storage.share(source, made, own_version=True)
    return made


class Parameter(Tensor):
    """A tensor that belongs to a module as soon as it is assigned to one; it requires grad.

    >>> import funcgrad.torch as torch
    >>> torch.nn.Parameter(torch.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        return _around(cls, data).requires_grad_(requires_grad)

    def __repr__(self) -> str:
        return f"Parameter containing:\n{Tensor.__repr__(self)}"


tree.register_node(Parameter, lambda p: ((p.__operand__(),), None), lambda _, parts: from_operand(parts[0]))


class _BufferType(type(Tensor)):
    """Buffers are plain tensors with a mark."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, Tensor) and x.__dict__.get("_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferType):
    """A tensor that a module keeps as state, but does not train; `persistent`: is it part of the state_dict?

    >>> import funcgrad.torch as torch
    >>> module = torch.nn.Module()
    >>> module.mean = torch.nn.Buffer(torch.zeros(2))
    >>> list(module.state_dict())
    ['mean']
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        made = _around(Tensor, data)
        made.persistent, made._is_buffer = persistent, True
        return made


class UninitializedParameter(Parameter):
    """A parameter whose shape is found at the first call of its (lazy) module.

    Any use before raises RuntimeError. `materialize(shape)` makes it an ordinary parameter.
    """

    __slots__ = ()
    wants_grad: bool

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        made = object.__new__(cls)
        made.value, made.node = _Unknown(dtypes.default() if dtype is None else dtypes.to_numpy(dtype)), None
        made.__dict__["wants_grad"] = requires_grad
        return made

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Make it an ordinary parameter of this shape, whose content does not matter."""
        wanted = self.value.dtype if dtype is None else dtypes.to_numpy(dtype)
        self.value = np.zeros(tuple(shape), wanted)
        self.__class__ = Parameter  # type: ignore[assignment]
        self.requires_grad_(self.__dict__.pop("wants_grad"))

    def detach(self) -> Tensor:
        """Itself: there is nothing yet to look into."""
        return self

    def __repr__(self) -> str:
        return "<UninitializedParameter>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = memo[id(self)] = UninitializedParameter(self.wants_grad, dtype=self.dtype)
        return made


class _Unknown:
    """What an uninitialized parameter holds: a dtype alone."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    def __getattr__(self, name: str) -> Any:
        return self._refuse()

    def _refuse(self, *_: Any) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
            "when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the "
            "parameters before accessing their attributes."
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __matmul__ = __rmatmul__ = __pow__ = __neg__ = __getitem__ = _refuse
