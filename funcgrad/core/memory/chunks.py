"""Elementwise rules on lazy arrays, chunk by chunk: a formula of several steps is one task, run by NumPy.

Written out on a lazy array, each step of a formula would be a layer of its graph, and what formulas ask of
values (`is anything too large here?`) would start a computation. In a chunk it is what it is on a plain array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.arrays.arguments import holds_tracer
from funcgrad.core.arrays.foreign import library_of
from funcgrad.core.arrays.repeated import repeated
from funcgrad.core.engine.catalogue import known
from funcgrad.core.engine.cotangent import Masked, dense, small
from funcgrad.errors import user_line

# A library of lazy arrays -> where its function is that runs another on all chunks: run(function, *arrays).
_RUNNERS = {"dask": ("dask.array.core", "elemwise")}
# And one of the last axes: run(function, signature, *arrays), as a generalised ufunc.
_BY_ROWS = {"dask": ("dask.array", "apply_gufunc")}
# And one that says itself how blocks go together: run(function, outer, x, inner, ...), with letters for axes.
_BLOCKWISE = {"dask": ("dask.array", "blockwise")}
# And one that computes several arrays in one pass: run(*arrays).
_COMPUTING = {"dask": ("dask.base", "compute")}


def runner(x: Any) -> Callable[..., Any] | None:
    """What runs a function on the chunks of arrays like `x`; None, if these hold their elements."""
    return _function(library_of(x), _RUNNERS)


def by_rows(x: Any) -> Callable[..., Any] | None:
    """What runs a function of whole rows on the chunks of arrays like `x`; None, if these hold their elements."""
    return _function(library_of(x), _BY_ROWS)


def with_axis(x: Any, axis: int, size: int, at: int) -> Any:
    """A lazy `x` with one more axis, of this size: zeros but at `at`. None, if `x` holds its elements.

    One function of each block, which is no layer that keeps others from being fused. (With size 1, which others
    broadcast against, Dask's own fusing fails.)
    """
    run = _function(library_of(x), _BLOCKWISE)
    if run is None or size < 2:
        return None
    inner = tuple(range(x.ndim))
    put = partial(_put, axis=axis, size=size, at=at)
    outer = (*inner[:axis], x.ndim, *inner[axis:])
    return run(put, outer, x, inner, new_axes={x.ndim: size}, dtype=x.dtype)


def _put(x: Any, axis: int, size: int, at: int) -> Any:
    out = np.zeros((*x.shape[:axis], size, *x.shape[axis:]), x.dtype)
    out[(*(slice(None),) * axis, at)] = x
    return out


def is_lazy(x: Any) -> bool:
    """Does `x` hold a graph and no elements?"""
    return library_of(x) in _RUNNERS and hasattr(x, "__dask_graph__")


def holds_lazy(result: Any) -> bool:
    """Is there a lazy array in this pytree?"""
    return any(map(is_lazy, tree.leaves(result)))


def computed(result: Any, **options: Any) -> Any:
    """A pytree with its lazy arrays computed, in one pass; one number comes as Python's own, which all solvers take."""
    leaves, structure = tree.flatten(result)
    lazy = next(filter(is_lazy, leaves), None)
    run = None if lazy is None else _function(library_of(lazy), _COMPUTING)
    try:
        results = leaves if run is None else run(*leaves, **options)
    except Exception as error:
        error.add_note(
            f"A chunk raised this, when a result was computed that was asked for at {user_line()}."
        )
        raise
    return tree.unflatten(structure, [_number(x) for x in results])


def _number(x: Any) -> Any:
    return x.item() if isinstance(x, (np.ndarray, np.generic)) and not x.ndim else x


def _function(library: str, known_in: dict[str, tuple[str, str]]) -> Callable[..., Any] | None:
    return _imported(*known_in[library]) if library in known_in else None


@cache
def _imported(module: str, name: str) -> Callable[..., Any]:
    return getattr(import_module(module), name)


class Product:
    """A cotangent (or tangent) times the partial derivative of an elementwise rule in one operand.

    It travels to the processes that compute: as the name of NumPy's function, whose rule they look up.
    """

    def __init__(self, function: Callable[..., Any], slot: int, rule: Any = None) -> None:
        self.function, self.slot = function, slot
        self.rule: Any = getattr(known(function), "rule", None) if rule is None else rule
        self.__name__ = f"{getattr(function, '__name__', 'function')}_slope"

    def __call__(self, ct: Any, *values: Any) -> Any:
        rule, slot = self.rule, self.slot
        formula = rule.partials[slot]
        return formula(ct, *values) if slot in rule.applied else ct * formula(*values)

    def __dask_tokenize__(self) -> Any:
        return (type(self).__name__, self.function, self.slot)

    def __reduce__(self) -> Any:
        return type(self), (self.function, self.slot, None if _is_known(self.function) else self.rule)


class LiveProduct(Product):
    """The same where a cotangent has zeros by structure, which stay: `live` tells the other places."""

    def __call__(self, ct: Any, live: Any, *values: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.where(live, super().__call__(ct, *values), 0)


def pulled_in_chunks(rule: Any, plan: Any, ct: Any, saved: Any) -> list[Any]:
    """The pull of an elementwise rule for a cotangent of another library: of the value that it repeats, which
    broadcasts against the partials, and chunk by chunk, if it is lazy.
    """
    values = dict(zip(plan.keeps, saved, strict=True))
    run = _runner_for(rule, saved, small(ct))
    parts = [_times(rule, plan.primitive.function, i, ct, values, run) for i in plan.slots]
    if any(type(part) is Masked and part.shape != ct.shape for part in parts):
        return pulled_in_chunks(rule, plan, dense(ct), saved)
    return [part if part is None or type(part) is Masked else repeated(part, ct.shape) for part in parts]


def pushed_in_chunks(
    rule: Any, function: Any, values: dict[str, Any], tangents: dict[int, Any], out: Any
) -> list[Any]:
    """What each tangent contributes to that of `out`, an array of another library."""
    run = _runner_for(rule, [*values.values(), *map(dense, tangents.values())], out)
    return [_times(rule, function, i, t, values, run) for i, t in tangents.items()]


def _runner_for(rule: Any, values: Iterable[Any], like: Any) -> Any:
    """What runs formulas on chunks: on those of plain arrays alone, and not of what is traced further out."""
    if not rule.in_chunks or any(map(holds_tracer, values)):
        return None
    return runner(like)


def _times(rule: Any, function: Any, slot: int, ct: Any, values: dict[str, Any], run: Any) -> Any:
    """A cotangent or tangent, or what it repeats, times the partial in operand `slot`."""
    if run is None or not callable(rule.partials[slot]):
        with np.errstate(all="ignore") if type(ct) is Masked else nullcontext():
            return rule.times(ct if type(ct) is Masked else small(ct), rule.partial(slot, values))
    needed = [values[name] for name in rule.names[slot]]
    if type(ct) is Masked:
        return Masked(run(LiveProduct(function, slot, rule), ct.value, ct.live, *needed), ct.live)
    return run(Product(function, slot, rule), small(ct), *needed)


def _is_known(function: Any) -> bool:
    """Does every process find the same rule for `function`?"""
    module = getattr(function, "__module__", None) or "numpy"  # older ufuncs do not know theirs
    return module.partition(".")[0] in ("numpy", "scipy")
