"""Python's cmath, with derivatives: `import funcgrad.cmath as cmath`.

On plain numbers every function is Python's own. On tracers, real or complex, it has the same value and the
derivative of NumPy's function of the same meaning (docs/conventions.md says what a complex gradient is).

>>> import funcgrad.cmath as cmath
>>> from funcgrad import grad
>>> grad(lambda phi: cmath.exp(1j * phi).real)(0.5)  # of cos(phi)
np.float64(-0.479425538604203)
"""

from __future__ import annotations

import cmath as _cmath
from typing import Any

from funcgrad import math as _math
from funcgrad.rules.numbers import COMPLEX as _COMPLEX
from funcgrad.rules.numbers import is_traced as _is_traced
from funcgrad.rules.numbers import knowing as _knowing
from funcgrad.rules.numbers import number as _number
from funcgrad.rules.numbers import of_numbers as _of_numbers

_SAME = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log10", "sqrt")
_RULES = {
    **{name: name for name in _SAME},
    "acos": "arccos", "asin": "arcsin", "atan": "arctan", "acosh": "arccosh", "asinh": "arcsinh", "atanh": "arctanh",
}  # fmt: skip
_TRACED: dict[str, Any] = {
    name: _of_numbers(getattr(_cmath, name), rule, f"cmath.{name}", _COMPLEX) for name, rule in _RULES.items()
}
_log_of = _of_numbers(_cmath.log, "log", "cmath.log", _COMPLEX)


def _log(x: Any, base: Any = None, /) -> Any:
    return _log_of(x) if base is None else _log_of(x) / _log_of(base)


def _phase(z: Any, /) -> Any:
    z = _number(z, _COMPLEX)
    return _math.atan2(z.imag, z.real)


def _polar(z: Any, /) -> Any:
    return abs(_number(z, _COMPLEX)), _phase(z)


def _rect(r: Any, phi: Any, /) -> Any:
    return r * _math.cos(phi) + 1j * (r * _math.sin(phi))


def _value(x: Any) -> Any:
    return complex(x._question("a function of the cmath module")) if _is_traced(x) else x


def _of_values(function: Any) -> Any:
    return lambda *args, **kwargs: function(*map(_value, args), **kwargs)


_TRACED |= {
    "log": _log, "phase": _phase, "polar": _polar, "rect": _rect,
    **{name: _of_values(getattr(_cmath, name)) for name in ("isclose", "isfinite", "isinf", "isnan")},
}  # fmt: skip

for _name in dir(_cmath):
    if not _name.startswith("__"):
        _value_of = getattr(_cmath, _name)
        globals()[_name] = _knowing(__name__, _value_of, _TRACED[_name]) if _name in _TRACED else _value_of
del _name, _value_of

__all__ = [name for name in dir(_cmath) if not name.startswith("__")]
