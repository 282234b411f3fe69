"""Numerical derivatives of user functions: SciPy's value; what is differentiated is the exact one."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.core.engine.primitive import as_operand
from funcgrad.scipy.declare import Chapter
from funcgrad.scipy.integrate.quadrature import with_value
from funcgrad.scipy.mirror import scipy_module
from funcgrad.scipy.optimize.calls import as_args, plainly, values, with_fields
from funcgrad.transforms.derivatives import jvp
from funcgrad.transforms.matrices import hessian as exact_hessian
from funcgrad.transforms.matrices import jacobian as exact_jacobian

differentiate = Chapter("differentiate")
theirs: Any = scipy_module("scipy.differentiate")


@differentiate.functional("derivative")
def derivative(f, x, args=(), **options):
    args, x = as_args(args), as_operand(x) + 0.0
    found = theirs.derivative(plainly(f), values(x), args=values(args), **values(options))
    at = x + sum(0.0 * as_operand(a) for a in args)  # as SciPy broadcasts them
    slope = jvp(lambda x: as_operand(f(x, *args)), (at,), (np.ones_like(at),))[1]
    return with_fields(found, df=with_value(found.df, slope), x=at)


def _single(x: Any, name: str) -> Any:
    x = as_operand(x) + 0.0
    if x.ndim != 1:
        raise NotImplementedError(
            f"scipy.differentiate.{name} at several points has no derivative rule: use funcgrad.vmap"
        )
    return x


@differentiate.functional("jacobian")
def jacobian(f, x, **options):
    x = _single(x, "jacobian")
    found = theirs.jacobian(plainly(f), values(x), **values(options))
    return with_fields(found, df=with_value(found.df, exact_jacobian(lambda x: as_operand(f(x)))(x)))


@differentiate.functional("hessian")
def hessian(f, x, **options):
    x = _single(x, "hessian")
    found = theirs.hessian(plainly(f), values(x), **values(options))
    return with_fields(found, ddf=with_value(found.ddf, exact_hessian(lambda x: as_operand(f(x)))(x)))
