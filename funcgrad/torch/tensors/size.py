"""Size and device: what `x.shape` and `x.device` are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Size(tuple[int, ...]):
    """A shape.

    >>> import funcgrad.torch as torch
    >>> torch.ones(2, 3).shape
    torch.Size([2, 3])
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        made = super().__new__(cls, sizes)
        for k, n in enumerate(made):
            if type(n) is not int and not hasattr(n, "__index__"):
                raise TypeError(f"torch.Size() takes an iterable of 'int' (item {k} is '{type(n).__name__}')")
        return made

    def numel(self) -> int:
        """The number of elements."""
        count = 1
        for n in self:
            count *= n
        return count

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple(self) + tuple(other))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple(self) * times)

    __rmul__ = __mul__


class device:
    """Where a tensor lives: the CPU."""

    __slots__ = ("index", "type")

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        name, _, number = str(type).partition(":")
        if name != "cpu":
            raise RuntimeError(
                f"funcgrad.torch computes on the CPU with NumPy: there is no device {type!r}. Use device='cpu'."
            )
        self.type, self.index = name, int(number) if number else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'" + ("" if self.index is None else f", index={self.index}") + ")"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, device) and (other.type, other.index) == (self.type, self.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


class _Named:
    """A constant with PyTorch's name: layouts and memory formats."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided = _Named("strided")
contiguous_format, preserve_format = _Named("contiguous_format"), _Named("preserve_format")
channels_last = _Named("channels_last")
