"""How a tracer is printed and formatted: as the array or number that it stands for. Nothing is lost by that."""

from __future__ import annotations

from typing import Any

import numpy as np


class ArrayText:
    """The text of a tracer."""

    __slots__ = ()
    _value: Any
    shape: Any

    def __repr__(self) -> str:
        return f"{type(self).__name__}({np.array2string(self._text(), separator=', ', prefix=type(self).__name__ + '(')})"

    def __str__(self) -> str:
        return str(self._text())

    def __format__(self, form: str) -> str:
        value = self._text()[()]  # of shape (), a number, or under vmap one for each example
        if form and not self.shape and isinstance(value, np.ndarray):
            return f"[{', '.join(format(v, form) for v in value.flat)}]"
        return format(value, form)

    def _text(self) -> Any:
        value = self._value
        return value._text() if isinstance(value, ArrayText) else np.asarray(value)
