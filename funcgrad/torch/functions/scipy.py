"""Special functions with SciPy's values and funcgrad.scipy's derivatives, loaded at first call."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.nn.kernels.special import ERFC, LGAMMA
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.functions.registry import enter
from funcgrad.torch.functions.special import SPECIAL
from funcgrad.torch.tensors import dtypes


def _scipy(name: str, who: str) -> Any:
    try:
        from scipy import special
    except ImportError:
        raise ImportError(f"torch.special.{who} needs SciPy, which is optional: pip install scipy") from None
    return getattr(special, name)


def _body(name: str, scipy_name: str) -> Callable[..., Any]:
    def body(*inputs: Any) -> Any:
        return _scipy(scipy_name, name)(*dtypes.aligned(inputs, floating=True))

    body.__doc__ = f"scipy.special.{scipy_name}, elementwise; integers become floats."
    return body


def entered(
    name: str, body: Callable[..., Any], node: str | None = None, also: str = "", where: str = "fm"
) -> None:
    """Enter a function of torch.special, and under other names as a function of torch."""
    made = SPECIAL[name] = Op(
        f"special_{name}", body, node or f"Special{name.title().replace('_', '')}Backward0"
    )
    for each in also.split():
        enter(each, made, where)


for _name in ("i0e", "i1", "i1e", "erfcx", "log_ndtr", "ndtri", "zeta"):
    entered(_name, _body(_name, _name))
for _name in ("j0", "j1", "y0", "y1"):
    entered(f"bessel_{_name}", _body(f"bessel_{_name}", _name))
for _name in ("i0", "i1", "k0", "k1"):
    entered(f"modified_bessel_{_name}", _body(f"modified_bessel_{_name}", _name))
for _name in ("k0", "k1"):
    entered(f"scaled_modified_bessel_{_name}", _body(f"scaled_modified_bessel_{_name}", f"{_name}e"))
entered("airy_ai", lambda x: _scipy("airy", "airy_ai")(*dtypes.aligned((x,), floating=True))[0])
entered("gammainc", _body("gammainc", "gammainc"), "IgammaBackward0", "igamma", "fmi")
entered("gammaincc", _body("gammaincc", "gammaincc"), "IgammacBackward0", "igammac", "fmi")


# ---- without SciPy -----------------------------------------------------------------------------------------------------
def _ndtr(input: Any) -> Any:
    """The normal distribution function: erfc(-x / sqrt(2)) / 2."""
    (x,) = dtypes.aligned((input,), floating=True)
    return ERFC(x * x.dtype.type(-math.sqrt(0.5))) * x.dtype.type(0.5)


def _xlog1py(input: Any, other: Any) -> Any:
    """input * log1p(other), and 0 where input is 0."""
    x, y = dtypes.aligned((input, other), floating=True)
    zero = np.logical_and(x == 0, np.logical_not(np.isnan(y)))
    return np.where(zero, 0, x * np.log1p(np.where(zero, 0, y)))


def _multigammaln(input: Any, p: int) -> Any:
    """The log of the multivariate gamma function of dimension p (DLMF 35.3.4)."""
    (x,) = dtypes.aligned((input,), floating=True)
    shifts = [LGAMMA(x - x.dtype.type(j / 2)) for j in range(p)]
    return sum(shifts[1:], shifts[0]) + x.dtype.type(p * (p - 1) / 4 * math.log(math.pi))


entered("ndtr", _ndtr, "MulBackward1")
entered("xlog1py", _xlog1py)
entered("multigammaln", _multigammaln, "MvlgammaBackward0", "mvlgamma", "fmi")
entered("spherical_bessel_j0", lambda x: np.sinc(dtypes.aligned((x,), floating=True)[0] / math.pi))
entered("erfc", ERFC.__call__, "ErfcBackward0")


# ---- orthogonal polynomials: p(0) = 1, p(1) = first(x), p(k + 1) = rise(k, x) p(k) - fall(k) p(k - 1) (DLMF 18.9) --------
Rule = Callable[[int, Any], Any]


def _polynomial(
    first: Callable[[Any], Any], rise: Rule, fall: Callable[[int], float], shift: bool = False
) -> Callable[..., Any]:
    def body(input: Any, n: Any) -> Any:
        (x,) = dtypes.aligned((input,), floating=True)
        x = 2 * x - 1 if shift else x
        degree = np.asarray(n).astype(np.int64)  # a part of a degree is left out
        before, now = np.ones_like(x), first(x)
        out = np.where(degree <= 0, np.where(degree < 0, np.zeros_like(x), before), now)
        for k in range(1, int(degree.max(initial=0))):
            before, now = now, rise(k, x) * now - x.dtype.type(fall(k)) * before
            out = np.where(degree > k, now, out)
        return out

    body.__doc__ = "The polynomial of degree n, elementwise, by its recurrence."
    return body


def _twice(_: int, x: Any) -> Any:
    return 2 * x


for _kind, _first in (
    ("t", lambda x: x),
    ("u", lambda x: 2 * x),
    ("v", lambda x: 2 * x - 1),
    ("w", lambda x: 2 * x + 1),
):
    for _shifted in (False, True):
        _name = f"{'shifted_' if _shifted else ''}chebyshev_polynomial_{_kind}"
        entered(_name, _polynomial(_first, _twice, lambda k: 1, _shifted))
entered("hermite_polynomial_h", _polynomial(lambda x: 2 * x, _twice, lambda k: 2 * k))
entered("hermite_polynomial_he", _polynomial(lambda x: x, lambda k, x: x, lambda k: k))
entered(
    "laguerre_polynomial_l",
    _polynomial(lambda x: 1 - x, lambda k, x: (2 * k + 1 - x) / (k + 1), lambda k: k / (k + 1)),
)
entered(
    "legendre_polynomial_p",
    _polynomial(lambda x: x, lambda k, x: (2 * k + 1) / (k + 1) * x, lambda k: k / (k + 1)),
)
