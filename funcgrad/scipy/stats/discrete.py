"""Discrete distributions on tracers: in their shape parameters. A count has no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.scipy.rerun import values
from funcgrad.scipy.stats.continuous import Continuous, _double, _given, theirs_of
from funcgrad.scipy.stats.integrals import traced

Formula = Callable[..., Any]
COUNTS = 1 << 14  # so many terms of a sum at most


class Discrete(Continuous):
    """The methods of a discrete distribution; it stands before SciPy's class."""

    def _rule_pmf(self: Any, k: Any, *args: Any) -> Any:
        return self._first(
            "_pmf",
            lambda: self._formula("_pmf", k, *args),
            lambda: np.exp(self._formula("_logpmf", k, *args)),
        )

    def _rule_logpmf(self: Any, k: Any, *args: Any) -> Any:
        return self._first(
            "_logpmf", lambda: self._formula("_logpmf", k, *args), lambda: np.log(self._pmf(k, *args))
        )

    def _rule_cdf(self: Any, x: Any, *args: Any) -> Any:
        return self._first(
            "_cdf", lambda: self._formula("_cdf", x, *args), lambda: self._sum(x, args, above=False)
        )

    def _rule_sf(self: Any, x: Any, *args: Any) -> Any:
        return self._first(
            "_sf", lambda: self._formula("_sf", x, *args), lambda: self._sum(x, args, above=True)
        )

    def _rule_logcdf(self: Any, x: Any, *args: Any) -> Any:
        return self._first(
            "_logcdf", lambda: self._formula("_logcdf", x, *args), lambda: np.log(self._cdf(x, *args))
        )

    def _rule_logsf(self: Any, x: Any, *args: Any) -> Any:
        return self._first(
            "_logsf", lambda: self._formula("_logsf", x, *args), lambda: np.log(self._sf(x, *args))
        )

    # ---- sums over counts ------------------------------------------------------------------------------------------
    def _counts(self: Any, args: Any, until: Any = None) -> Any:
        """The counts that have a probability worth adding, for all shape parameters together."""
        plain = [values(v) for v in args]
        ours = theirs_of(self)
        first = np.nanmin(np.maximum(ours.support(*plain)[0], ours.ppf(1e-15, *plain) - 3))
        high = 1.5 * ours.isf(1e-15, *plain) + 20 if until is None else np.floor(until)
        last = np.nanmax(np.minimum(high, ours.support(*plain)[1]))
        if not np.isfinite(last - first) or last - first > COUNTS:
            raise UnsupportedFunctionError(
                f"scipy.stats.{self.name}: the sum over its counts has more than {COUNTS} terms, and no closed form. "
                "Call it on funcgrad.stop_gradient(x) if its derivative is not meant to count."
            )
        return np.arange(first, last + 1)

    def _sum(self: Any, x: Any, args: Any, above: bool) -> Any:
        """The sum of the probabilities up to x, or above it: of which that side of it that has fewer terms."""
        plain = values(x)
        try:
            counts = self._counts(args) if above else self._counts(args, plain)
        except UnsupportedFunctionError:
            if not above:
                raise
            return 1.0 - self._sum(x, args, above=False)
        x, *args = (np.expand_dims(v, -1) for v in np.broadcast_arrays(x, *args))
        wanted = counts > np.floor(x) if above else counts <= np.floor(x)
        return np.sum(np.where(wanted, self._inside_pmf(counts, args), 0.0), axis=-1)

    def _inside_pmf(self: Any, counts: Any, args: Any) -> Any:
        a, b = self._get_support(*args)
        inside = np.logical_and(counts >= a, counts <= b)
        with np.errstate(all="ignore"):
            return np.where(inside, self._pmf(np.where(inside, counts, a), *args), 0.0)

    def _mean_of_counts(self: Any, g: Formula, args: Any) -> Any:
        counts = self._counts(args)
        args = [np.expand_dims(v, -1) for v in np.broadcast_arrays(*args)]
        mass = self._inside_pmf(counts, args)
        return np.sum(g(counts, mass), axis=-1)

    def _rule_munp(self: Any, n: int, *args: Any) -> Any:
        return self._first(
            "_munp",
            lambda: self._formula_of_shapes("_munp", args, n),
            lambda: self._mean_of_counts(lambda k, mass: k**n * mass, args),
        )

    def _rule_entropy(self: Any, *args: Any) -> Any:

        def term(k: Any, mass: Any) -> Any:
            live = mass > 0
            return np.where(live, -mass * np.log(np.where(live, mass, 1.0)), 0.0)

        return self._first(
            "_entropy",
            lambda: self._formula_of_shapes("_entropy", args),
            lambda: self._mean_of_counts(term, args),
        )

    # ---- what users call -------------------------------------------------------------------------------------------
    def _of_count(
        self: Any, name: str, k: Any, args: Any, kwds: Any, below: float, above: float, mass: bool = False
    ) -> Any:
        args, loc, _ = self._parse_args(*args, **kwds)
        k, loc, *shapes = (_double(v) for v in (k, loc, *args))
        valid = self._argcheck(*shapes)
        k = values(k) - values(loc)
        a, b = self._get_support(*shapes)
        inside = np.logical_and(k >= a, k <= b) if mass else np.logical_and(k >= a, k < b)
        whole = np.floor(k) == k
        with np.errstate(all="ignore"):
            out = getattr(self, name)(np.where(inside, k if mass else np.floor(k), a), *shapes)
        out = np.where(np.logical_and(inside, whole) if mass else inside, out, np.where(k < a, below, above))
        return _given(np.where(valid, out, np.nan))

    def _traced_pmf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
        return self._of_count("_pmf", k, args, kwds, 0.0, 0.0, mass=True)

    def _traced_logpmf(self: Any, k: Any, *args: Any, **kwds: Any) -> Any:
        return self._of_count("_logpmf", k, args, kwds, -np.inf, -np.inf, mass=True)

    def _valued(
        self: Any, name: str, x: Any, args: Any, kwds: Any, below: float, above: float, density: int = 0
    ) -> Any:
        return self._of_count(name, x, args, kwds, below, above)

    def _quantile(self: Any, name: str, q: Any, args: Any, kwds: Any) -> Any:
        plain = [values(v) for v in args]
        return getattr(theirs_of(self), name.strip("_"))(
            values(q), *plain, **{k: values(v) for k, v in kwds.items()}
        )

    def _traced_entropy(self: Any, *args: Any, **kwds: Any) -> Any:
        parsed, _, _ = self._parse_args(*args, **kwds)
        shapes = [_double(v) for v in parsed]
        out = self._entropy(*shapes) if traced(*shapes) else theirs_of(self).entropy(*shapes)
        return _given(np.where(self._argcheck(*shapes), out, np.nan))

    def _traced_support(self: Any, *args: Any, **kwds: Any) -> Any:
        args, loc, _ = self._parse_args(*args, **kwds)
        a, b = self._get_support(*(_double(v) for v in args))
        return a + loc, b + loc

    def _traced_rvs(self: Any, *args: Any, **kwds: Any) -> Any:
        """Not differentiable: the numbers jump."""
        return theirs_of(self).rvs(*map(values, args), **{k: values(v) for k, v in kwds.items()})
