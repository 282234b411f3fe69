"""Continuous distributions on tracers: SciPy's methods, in x, loc, scale and the shape parameters.

On plain arguments a method is SciPy's. Otherwise the formula is SciPy's own, rerun, where there is one in
Python. What it lacks follows from the density f: the slope of a distribution function F is f, that of its
inverse 1/f; the derivative of F in a shape parameter is the integral of that of f, and that of the inverse by
the implicit function theorem -F_theta / f.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from math import comb
from typing import Any

import numpy as np
from scipy import stats as theirs

from funcgrad.core.arrays.ufunc import as_array, as_result
from funcgrad.core.engine.batch import is_batched
from funcgrad.core.engine.trace import RUNNING, Tracer, concrete
from funcgrad.errors import BatchedControlFlowError, FuncgradError, UnsupportedFunctionError
from funcgrad.scipy.examples import by_examples
from funcgrad.scipy.rerun import rerun, values
from funcgrad.scipy.stats.formulas import AT_ONCE, OWN
from funcgrad.scipy.stats.integrals import Elementary, integral, slope, traced

Formula = Callable[..., Any]
# Of which distributions is which formula being replaced by others, since a part of it has no rule?
_TRIED: ContextVar[frozenset[tuple[str, str]]] = ContextVar("tried", default=frozenset())
GENERIC = (theirs.rv_continuous, theirs.rv_discrete, theirs.rv_continuous.__mro__[1])


def own(dist: Any, name: str) -> Formula | None:
    """The method of this name that SciPy has written for this distribution, if it has."""
    for c in type(dist).__mro__:
        if c in GENERIC:
            return None
        # not one of ours
        if c.__module__.startswith("scipy") and name in vars(c) and "__carries_tracer__" not in vars(c):
            return vars(c)[name]
    return None


def flattened(f: Formula, x: Any, *args: Any) -> Any:
    """An elementwise formula of SciPy's, which gets arrays with one axis, as SciPy gives them."""
    x, *rest = np.broadcast_arrays(x, *args)
    shape = x.shape
    with np.errstate(all="ignore"):
        out = f(*(v.reshape(-1) for v in (x, *rest)))
    return np.broadcast_to(as_array(out), (int(np.prod(shape)),)).reshape(shape)


def plainly(dist: Any, name: str) -> Formula:
    """SciPy's own method, of arrays of any shape."""
    return lambda *args: np.asarray(flattened(getattr(dist, name), *map(np.asarray, args)), float)


_DENSITIES = ("_pdf", "_logpdf", "_pmf", "_logpmf")  # of which one of ours replaces both of SciPy's


class NoFormulaError(UnsupportedFunctionError):
    """SciPy has no formula for this."""


class Continuous:
    """The methods of a continuous distribution; it stands before SciPy's class."""

    # ---- formulas, of the standardised variable and arrays that broadcast ----------------------------------------
    def _formula(self: Any, name: str, *args: Any) -> Any:
        """SciPy's own formula, rerun; FuncgradError, if there is none that can be."""
        ours = OWN.get(self.name)
        formula = None if ours is None else ours.get(name)
        if formula is not None:
            return flattened(formula, *args)
        found = own(self, name)
        replaced = ours is not None and (
            name in ours or name in _DENSITIES and any(map(ours.get, _DENSITIES))
        )
        if found is None or replaced:
            raise NoFormulaError(f"scipy.stats.{self.name}.{name} has no formula")
        return flattened(lambda *values: rerun(found)(self, *values), *args)

    def _rule_pdf(self: Any, x: Any, *args: Any) -> Any:
        return self._first(
            "_pdf",
            lambda: self._formula("_pdf", x, *args),
            lambda: np.exp(self._formula("_logpdf", x, *args)),
        )

    def _rule_logpdf(self: Any, x: Any, *args: Any) -> Any:
        return self._first(
            "_logpdf", lambda: self._formula("_logpdf", x, *args), lambda: np.log(self._pdf(x, *args))
        )

    def _first(self: Any, what: str, *attempts: Formula) -> Any:
        """The first of these with a rule all through: formulas made of each other must not go in circles."""
        key = (self.name, what)
        if key in _TRIED.get():
            raise NoFormulaError(
                f"scipy.stats.{self.name}: {what.strip('_')} has no formula through which tracers go"
            )
        first: Exception | None = None
        for attempt in attempts:
            token = _TRIED.set(_TRIED.get() if first is None else _TRIED.get() | {key})
            try:
                return attempt()
            except (FuncgradError, NotImplementedError, AttributeError, TypeError) as error:
                first = error if first is None or isinstance(first, NoFormulaError) else first
            finally:
                _TRIED.reset(token)
        assert first is not None
        raise first

    def _by_density(self: Any, name: str, sign: int) -> Elementary:
        """A distribution function, or its logarithm, by the density: F (sign 1) or 1 - F (sign -1)."""
        is_log = name.startswith("_log")

        def at(k: int) -> Formula:
            if k == 0:
                if is_log:
                    return lambda *values: sign * np.exp(self._logpdf(*values[:-1]) - values[-1])
                return lambda *values: sign * self._pdf(*values[:-1])

            def in_shape(*values: Any) -> Any:
                part = sign * self._in_shape(k, values[0], values[1:-1])
                return part / np.exp(values[-1]) if is_log else part

            return in_shape

        return Elementary(self.name, plainly(self, name), [at(k) for k in range(self.numargs + 1)])

    def _in_shape(self: Any, k: int, x: Any, args: Any) -> Any:
        """The derivative of F in a shape: the integral of that of f, plus what a moving support end adds."""
        a, b = self._ends(args)
        h = slope(self._pdf, k)
        if not traced(a, b) and not np.ndim(a) and not np.ndim(b):
            above = lambda x, *args: plainly(self, "_cdf")(x, *args) > 0.5
            return integral(self.name, h, above, float(b))(float(a), x, *args)
        if not np.all(np.isfinite(values(a))):
            return integral(self.name, h)(a, x, *args)
        start = lambda *args: self._ends(args)[0] + np.zeros_like(args[0])
        return integral(self.name, h)(a, x, *args) - slope(start, k - 1)(*args) * self._pdf(
            start(*args), *args
        )

    def _ends(self: Any, args: Any) -> tuple[Any, Any]:
        """Where the density begins and ends, as far as SciPy does not tell."""
        found = SUPPORTS.get(self.name)
        return self._get_support(*args) if found is None else found(*args)

    def _rule_cdf(self: Any, x: Any, *args: Any) -> Any:
        return self._first(
            "_cdf", lambda: self._formula("_cdf", x, *args), lambda: self._by_density("_cdf", 1)(x, *args)
        )

    def _rule_sf(self: Any, x: Any, *args: Any) -> Any:
        return self._first(
            "_sf",
            lambda: self._formula("_sf", x, *args),
            lambda: 1.0 - self._formula("_cdf", x, *args),
            lambda: self._by_density("_sf", -1)(x, *args),
        )

    def _rule_logcdf(self: Any, x: Any, *args: Any) -> Any:
        return self._first(
            "_logcdf",
            lambda: self._formula("_logcdf", x, *args),
            lambda: np.log(self._formula("_cdf", x, *args)),
            lambda: self._by_density("_logcdf", 1)(x, *args),
        )

    def _rule_logsf(self: Any, x: Any, *args: Any) -> Any:
        return self._first(
            "_logsf",
            lambda: self._formula("_logsf", x, *args),
            lambda: np.log(self._formula("_sf", x, *args)),
            lambda: np.log(1.0 - self._formula("_cdf", x, *args)),
            lambda: self._by_density("_logsf", -1)(x, *args),
        )

    def _inverse(self: Any, name: str, of: Formula, sign: int) -> Elementary:
        written = (OWN.get(self.name) or {}).get(name)

        def at(k: int) -> Formula:
            if k == 0:
                return lambda *values: sign / self._pdf(values[-1], *values[1:-1])
            if written is not None:  # as where the density is 0 within the support
                return lambda *values: slope(written, k)(*values[:-1])
            return lambda *values: _ratio(
                -sign * slope(of, k)(values[-1], *values[1:-1]), self._pdf(values[-1], *values[1:-1])
            )

        return Elementary(self.name, plainly(self, name), [at(k) for k in range(self.numargs + 1)])

    def _rule_ppf(self: Any, q: Any, *args: Any) -> Any:
        return self._inverse("_ppf", self._cdf, 1)(q, *args)

    def _rule_isf(self: Any, q: Any, *args: Any) -> Any:
        return self._inverse("_isf", self._sf, -1)(q, *args)

    def _mean_of(self: Any, g: Formula, args: Any) -> Any:
        """The mean of g(t, log f(t)), by an integral over the whole support."""
        a, b = self._ends(args)

        def h(t: Any, *theta: Any) -> Any:
            log_density = self._logpdf(t, *theta)
            return np.exp(log_density) * g(t, log_density)

        return integral(self.name, h)(a, b, *args)

    def _rule_munp(self: Any, n: int, *args: Any) -> Any:
        return self._first(
            "_munp",
            lambda: self._formula_of_shapes("_munp", args, n),
            lambda: self._mean_of(lambda t, _: t**n, args),
        )

    def _formula_of_shapes(self: Any, name: str, args: Any, *first: Any, **named: Any) -> Any:
        found = own(self, name)
        if found is None:
            raise NoFormulaError(f"scipy.stats.{self.name}.{name} has no formula")
        args = np.broadcast_arrays(*args) if args else args
        shape = args[0].shape if args else ()
        with np.errstate(all="ignore"):
            out = rerun(found)(self, *first, *(v.reshape(-1) for v in args), **named)
        if isinstance(out, (tuple, list)):
            return tuple(None if o is None else _shaped(o, shape) for o in out)
        return _shaped(out, shape)

    def _written_entropy(self: Any, args: Any) -> Any:
        formula = (OWN.get(self.name) or {}).get("_entropy")
        if formula is None:
            raise NoFormulaError(f"scipy.stats.{self.name}._entropy has no formula of ours")
        return formula(*args)

    def _rule_entropy(self: Any, *args: Any) -> Any:
        return self._first(
            "_entropy",
            lambda: self._written_entropy(args),
            lambda: self._formula_of_shapes("_entropy", args),
            lambda: self._mean_of(lambda _, log_density: -log_density, args),
        )

    def _stats_of(self: Any, args: Any, moments: str) -> tuple[Any, ...]:
        """What SciPy's formula says of mean, variance, skewness and excess; None, where it has none."""
        if not traced(*args):
            if args:
                flat = [np.reshape(v, -1) for v in np.broadcast_arrays(*args)]
                found = self._stats(*flat, moments=moments) if self._stats_has_moments else self._stats(*flat)
                shape = np.broadcast_shapes(*(np.shape(v) for v in args))
                return tuple(None if v is None else _shaped(np.asarray(v, float), shape) for v in found)
            return tuple(self._stats(moments=moments) if self._stats_has_moments else self._stats())
        if own(self, "_stats") is None:
            return (None,) * 4
        named = {"moments": moments} if self._stats_has_moments else {}
        try:
            return self._formula_of_shapes("_stats", args, **named)
        except BatchedControlFlowError:
            raise
        except FuncgradError:
            return (None,) * 4

    # ---- what users call -------------------------------------------------------------------------------------------
    def _arguments(self: Any, x: Any, args: Any, kwds: Any) -> tuple[Any, ...]:
        """The standardised variable, shapes, scale, and where these are valid, in double precision."""
        args, loc, scale = self._parse_args(*args, **kwds)
        x, loc, scale, *shapes = (_double(v) for v in (x, loc, scale, *args))
        valid = np.logical_and(self._argcheck(*shapes), scale > 0)
        return (x - loc) / scale, shapes, loc, scale, valid

    def _valued(
        self: Any, name: str, x: Any, args: Any, kwds: Any, below: float, above: float, density: int = 0
    ) -> Any:
        """A method in x: `below` and `above` are its values outside of the support."""
        z, args, _, scale, valid = self._arguments(x, args, kwds)
        a, b = self._get_support(*args)
        inside = np.logical_and(z > a, z < b) if not density else np.logical_and(z >= a, z <= b)
        with np.errstate(all="ignore"):
            out = getattr(self, name)(z, *args)
        out = out / scale if density == 1 else out - np.log(scale) if density == 2 else out
        if _all(inside) and _all(valid):
            return _given(out)
        out = np.where(inside, out, np.where(z >= b, above, np.where(z <= a, below, np.nan)))
        return _given(np.where(valid, out, np.nan))

    def _at_once(self: Any, what: str, x: Any, args: Any, kwds: Any) -> Any:
        """A density that is written out, where all parameters are known to be valid; else None."""
        formula = AT_ONCE.get((self.name, what))
        if formula is None:
            return None
        shapes, loc, scale = self._parse_args(*args, **kwds)
        if any(map(is_batched, (x, loc, scale, *shapes))) or not all(map(_is_positive, (scale, *shapes))):
            return None
        with np.errstate(all="ignore"):
            found = formula(*map(_double, (x, loc, scale, *shapes)))
        return None if found is None else _given(found)

    def _traced_pdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        found = self._at_once("pdf", x, args, kwds)
        if found is not None:
            return found
        return self._valued("_pdf", x, args, kwds, 0.0, 0.0, 1)

    def _traced_logpdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        found = self._at_once("logpdf", x, args, kwds)
        if found is not None:
            return found
        return self._valued("_logpdf", x, args, kwds, -np.inf, -np.inf, 2)

    def _traced_cdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._valued("_cdf", x, args, kwds, 0.0, 1.0)

    def _traced_logcdf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._valued("_logcdf", x, args, kwds, -np.inf, 0.0)

    def _traced_sf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._valued("_sf", x, args, kwds, 1.0, 0.0)

    def _traced_logsf(self: Any, x: Any, *args: Any, **kwds: Any) -> Any:
        return self._valued("_logsf", x, args, kwds, 0.0, -np.inf)

    def _quantile(self: Any, name: str, q: Any, args: Any, kwds: Any) -> Any:
        args, loc, scale = self._parse_args(*args, **kwds)
        q, loc, scale, *shapes = (_double(v) for v in (q, loc, scale, *args))
        valid = np.logical_and(
            np.logical_and(self._argcheck(*shapes), scale > 0), np.logical_and(q >= 0, q <= 1)
        )
        a, b = self._get_support(*shapes)
        first, last = (a, b) if name == "_ppf" else (b, a)
        out = np.where(q == 0, first, np.where(q == 1, last, getattr(self, name)(q, *shapes)))
        return _given(np.where(valid, out * scale + loc, np.nan))

    def _traced_ppf(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
        return self._quantile("_ppf", q, args, kwds)

    def _traced_isf(self: Any, q: Any, *args: Any, **kwds: Any) -> Any:
        return self._quantile("_isf", q, args, kwds)

    def _traced_entropy(self: Any, *args: Any, **kwds: Any) -> Any:
        args, loc, scale = self._parse_args(*args, **kwds)
        scale, *shapes = (_double(v) for v in (scale, *args))
        valid = np.logical_and(self._argcheck(*shapes), scale > 0)
        out = (self._entropy(*shapes) if traced(*shapes) else theirs_of(self).entropy(*shapes)) + np.log(
            scale
        )
        return _given(np.where(valid, out, np.nan) + 0.0 * _double(loc))

    def _noncentral(self: Any, n: int, args: Any) -> Any:
        """The n-th moment about zero of the standardised variable."""
        if n == 0:
            return 1.0
        if n <= 4:
            found = self._central(args, "mvsk"[:n])
            mean, variance, skew, excess = (*found, *(0.0,) * (4 - len(found)))
            if n == 1:
                return mean
            if n == 2:
                return variance + mean**2
            third = skew * variance**1.5
            if n == 3:
                return third + 3 * mean * variance + mean**3
            return (excess + 3) * variance**2 + 4 * mean * third + 6 * mean**2 * variance + mean**4
        return self._munp(n, *args) if traced(*args) else theirs_of(self).moment(n, *args)

    def _central(self: Any, args: Any, moments: str) -> list[Any]:
        """Mean, variance, skewness and excess of the standardised variable, as far as they are asked for."""
        if not traced(*args):
            flat = theirs_of(self).stats(*args, moments=moments)
            return list(flat) if isinstance(flat, tuple) else [flat]
        mean, variance, skew, excess = self._stats_of(args, moments)
        mean = self._munp(1, *args) if mean is None else mean
        if "v" in moments or "s" in moments or "k" in moments:
            variance = self._munp(2, *args) - mean**2 if variance is None else variance
        third: Any = None
        if "s" in moments or "k" in moments:
            if skew is None:
                third = self._munp(3, *args) - mean * (mean**2 + 3 * variance)
                skew = third / variance**1.5
            third = skew * variance**1.5
        if "k" in moments and excess is None:
            fourth = self._munp(4, *args) - mean * (mean * (mean**2 + 6 * variance) + 4 * third)
            excess = fourth / variance**2 - 3
        found = {"m": mean, "v": variance, "s": skew, "k": excess}
        return [found[letter] for letter in "mvsk" if letter in moments]

    def _traced_stats(self: Any, *args: Any, **kwds: Any) -> Any:
        args, loc, scale, moments = self._parse_args_stats(*args, **kwds)
        loc, scale, *shapes = (_double(v) for v in (loc, scale, *args))
        valid = np.logical_and(self._argcheck(*shapes), scale > 0)
        outs = []
        letters = [letter for letter in "mvsk" if letter in moments]
        for letter, value in zip(letters, self._central(shapes, "".join(letters)), strict=True):
            value = (
                value * scale + loc
                if letter == "m"
                else value * scale**2
                if letter == "v"
                else value + 0 * scale
            )
            outs.append(_given(np.where(valid, value, np.nan)))
        return outs[0] if len(outs) == 1 else tuple(outs)

    def _traced_mean(self: Any, *args: Any, **kwds: Any) -> Any:
        return self.stats(*args, moments="m", **kwds)

    def _traced_var(self: Any, *args: Any, **kwds: Any) -> Any:
        return self.stats(*args, moments="v", **kwds)

    def _traced_std(self: Any, *args: Any, **kwds: Any) -> Any:
        return np.sqrt(self.var(*args, **kwds))

    def _traced_median(self: Any, *args: Any, **kwds: Any) -> Any:
        return self.ppf(0.5, *args, **kwds)

    def _traced_interval(self: Any, confidence: Any, *args: Any, **kwds: Any) -> Any:
        half = (1 - _double(confidence)) / 2
        return self.ppf(half, *args, **kwds), self.ppf(1 - half, *args, **kwds)

    def _traced_support(self: Any, *args: Any, **kwds: Any) -> Any:
        args, loc, scale = self._parse_args(*args, **kwds)
        a, b = self._get_support(*(_double(v) for v in args))
        return a * scale + loc, b * scale + loc

    def _traced_moment(self: Any, order: Any, *args: Any, **kwds: Any) -> Any:
        if int(order) != order or order < 0:
            raise ValueError(f"{self.name}.moment: the order must be a non-negative integer, not {order}")
        args, loc, scale = self._parse_args(*args, **kwds)
        loc, scale, *shapes = (_double(v) for v in (loc, scale, *args))
        valid = np.logical_and(self._argcheck(*shapes), scale > 0)
        n = int(order)
        out = sum(comb(n, k) * loc ** (n - k) * scale**k * self._noncentral(k, shapes) for k in range(n + 1))
        return _given(np.where(valid, out, np.nan))

    def _traced_nnlf(self: Any, theta: Any, x: Any) -> Any:
        *args, loc, scale = theta
        return -np.sum(self.logpdf(x, *args, loc=loc, scale=scale))

    def _traced_rvs(self: Any, *args: Any, **kwds: Any) -> Any:
        """SciPy's random numbers; they move with the parameters so that F(x; theta) stays (implicitly)."""
        size, state = kwds.pop("size", None), kwds.pop("random_state", None)
        args, loc, scale, size = self._parse_args_rvs(*args, **kwds, size=size)
        loc, scale, *shapes = (_double(v) for v in (loc, scale, *args))
        plain = [values(v) for v in shapes]
        shape = size if size is not None else np.shape(values(loc + scale)) or None
        z = theirs_of(self).rvs(*plain, size=shape, random_state=state)
        return _given(self._drawn(np.asarray(z, float), shapes) * scale + loc)

    def _drawn(self: Any, z: Any, args: Any) -> Any:
        """Numbers that were drawn, which move so that F stays."""
        if not traced(*args):
            return z

        def at(k: int) -> Formula:
            return lambda z, *values: (
                -slope(self._cdf, k)(values[-1], *values[:-1]) / self._pdf(values[-1], *values[:-1])
            )

        partials = [lambda *values: np.ones_like(values[0])] + [at(k) for k in range(1, len(args) + 1)]
        return Elementary(self.name, lambda z, *args: np.array(z), partials)(z, *args)


def _ratio(x: Any, y: Any) -> Any:
    """x / y, and zero where x is zero."""
    nothing = x == 0
    return np.where(nothing, 0.0, x / np.where(nothing, 1.0, y))


def _shaped(x: Any, shape: Any) -> Any:
    """`x` in the shape of the shape parameters, which SciPy's formula was given flat."""
    return np.broadcast_to(as_array(x), (int(np.prod(shape)),)).reshape(shape)


def _double(x: Any) -> Any:
    x = as_array(x)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def _given(out: Any) -> Any:
    return as_result(out)


def runs_with(*values: Any) -> bool:
    """Is there a tracer among these arguments, while a transform runs?"""
    from funcgrad.scipy.mirror import carries_tracer

    return RUNNING.get() is not None and carries_tracer(values)


def theirs_of(dist: Any) -> Any:
    """SciPy's own object."""
    return getattr(theirs, dist.name, None) or dist


def _is_positive(x: Any) -> bool:
    """Is a parameter known to be positive and finite, in all its elements?"""
    x = np.asarray(concrete(x))
    return bool(np.all(x > 0) and np.all(x < np.inf))


def _all(mask: Any) -> bool:
    """Is a mask true everywhere, as far as that is known?"""
    return not isinstance(mask, Tracer) and bool(np.all(mask))


def _public(name: str) -> Formula:
    """A method as users call it: SciPy's on plain arguments."""

    def method(self: Any, *args: Any, **kwds: Any) -> Any:
        if not runs_with(args, kwds):
            return getattr(super(Continuous, self), name)(*args, **kwds)
        return by_examples(getattr(self, f"_traced_{name}"), args, kwds, f"scipy.stats.{self.name}.{name}")

    method.__name__ = name
    method.__doc__ = f"As SciPy's `{name}`; on tracers with its derivatives."
    return method


def _private(name: str) -> Formula:
    """A formula of SciPy's class: SciPy's own on plain arguments, else our rule."""

    def method(self: Any, *args: Any) -> Any:
        return getattr(self, f"_rule{name}" if traced(*args) else f"_plain{name}")(*args)

    def plain(self: Any, *args: Any) -> Any:
        return getattr(super(Continuous, self), name)(*args)

    method.__name__ = name
    setattr(Continuous, f"_plain{name}", plain)
    return method


for _name in (
    "_pdf",
    "_logpdf",
    "_cdf",
    "_sf",
    "_logcdf",
    "_logsf",
    "_ppf",
    "_isf",
    "_munp",
    "_entropy",
    "_pmf",
    "_logpmf",
):
    setattr(Continuous, _name, _private(_name))
for _name in [name.removeprefix("_traced_") for name in vars(Continuous) if name.startswith("_traced_")]:
    setattr(Continuous, _name, _public(_name))
for _name in ("pmf", "logpmf"):
    setattr(Continuous, _name, _public(_name))

# Where a density is integrated, if not over the support that SciPy tells.
SUPPORTS: dict[str, Formula] = {
    "vonmises": lambda kappa: (-np.pi, np.pi),
    "pearson3": lambda skew: (np.where(skew > 0, -2 / skew, -np.inf), np.where(skew < 0, -2 / skew, np.inf)),
}
