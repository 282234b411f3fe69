"""Solutions of wave equations, which SciPy returns with slopes (y, y'): the equation gives y''.

Only the coordinate has a known derivative; orders, parameters and characteristic values have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from funcgrad.core.engine.kinds import Unknown
from funcgrad.scipy.special.rules import unsupported, vector_valued

ORDER, PARAMETER, EIGENVALUE = (
    Unknown("the order"),
    Unknown("the parameter"),
    Unknown("the characteristic value"),
)
DEGREE = math.pi / 180

# ---- parabolic cylinder functions (DLMF 12.2) ------------------------------------------------------------------------
vector_valued("pbdv pbvv", ORDER, lambda x, y, out: (out[1], (0.25 * y * y - x - 0.5) * out[0]))
vector_valued("pbwa", PARAMETER, lambda x, y, out: (out[1], (x - 0.25 * y * y) * out[0]))


# ---- Mathieu functions (DLMF 28.2, 28.20): of an angle in degrees, and modified ones -----------------------------------
def _mathieu(eigenvalue: np.ufunc) -> Callable[..., Any]:
    def slopes(x: Any, y: Any, z: Any, out: Any) -> tuple[Any, ...]:
        bend = 2 * y * np.cos(2 * DEGREE * z) - eigenvalue(x, y)
        return DEGREE * out[1], DEGREE * bend * out[0]

    return slopes


def _modified_mathieu(eigenvalue: np.ufunc) -> Callable[..., Any]:
    return lambda x, y, z, out: (out[1], (eigenvalue(x, y) - 2 * y * np.cosh(2 * z)) * out[0])


vector_valued("mathieu_cem", ORDER, PARAMETER, _mathieu(special.mathieu_a))
vector_valued("mathieu_sem", ORDER, PARAMETER, _mathieu(special.mathieu_b))
vector_valued("mathieu_modcem1 mathieu_modcem2", ORDER, PARAMETER, _modified_mathieu(special.mathieu_a))
vector_valued("mathieu_modsem1 mathieu_modsem2", ORDER, PARAMETER, _modified_mathieu(special.mathieu_b))


# ---- spheroidal wave functions (DLMF 30.2): prolate, and oblate with c*c -> -c*c ---------------------------------------
def _prolate(m: Any, c: Any, eigenvalue: Any, x: Any, out: Any) -> tuple[Any, ...]:
    """(1 - x*x) y'' - 2 x y' + (eigenvalue - (c x)**2 - m*m / (1 - x*x)) y = 0, angular and radial."""
    room = (1 - x) * (1 + x)
    return out[1], (2 * x * out[1] - (eigenvalue - (c * x) ** 2 - m * m / room) * out[0]) / room


def _oblate_angle(m: Any, c: Any, eigenvalue: Any, x: Any, out: Any) -> tuple[Any, ...]:
    room = (1 - x) * (1 + x)
    return out[1], (2 * x * out[1] - (eigenvalue + (c * x) ** 2 - m * m / room) * out[0]) / room


def _oblate_radius(m: Any, c: Any, eigenvalue: Any, x: Any, out: Any) -> tuple[Any, ...]:
    """(1 + x*x) y'' + 2 x y' - (eigenvalue - (c x)**2 - m*m / (1 + x*x)) y = 0."""
    room = 1 + x * x
    return out[1], ((eigenvalue - (c * x) ** 2 - m * m / room) * out[0] - 2 * x * out[1]) / room


def _spheroidal(names: str, slopes: Callable[..., Any], eigenvalue: np.ufunc) -> None:
    """Declare functions of (m, n, c, x), and their like of (m, n, c, eigenvalue, x)."""
    vector_valued(
        names,
        ORDER,
        ORDER,
        PARAMETER,
        lambda x0, x1, x2, x3, out: slopes(x0, x2, eigenvalue(x0, x1, x2), x3, out),
    )
    vector_valued(
        " ".join(f"{name}_cv" for name in names.split()),
        ORDER,
        ORDER,
        PARAMETER,
        EIGENVALUE,
        lambda x0, x2, x3, x4, out: slopes(x0, x2, x3, x4, out),
    )


_spheroidal("pro_ang1 pro_rad1", _prolate, special.pro_cv)
_spheroidal("obl_ang1", _oblate_angle, special.obl_cv)
_spheroidal("obl_rad1", _oblate_radius, special.obl_cv)
unsupported(
    "mathieu_a mathieu_b pro_cv obl_cv",
    "the derivative of a characteristic value is not known in closed form",
)
# Wronskians show it: SciPy's pro_rad1, pro_rad2 miss theirs by percents, obl_rad1, obl_rad2 by more.
unsupported(
    "pro_rad2 pro_rad2_cv obl_rad2 obl_rad2_cv",
    "SciPy's value and slope of the radial functions of the second kind do not agree with each other",
)
