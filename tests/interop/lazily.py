"""Samples on Dask arrays: what becomes of each, and the record of it, `python -m tests.interop.lazily`.

docs/support_dask.txt has a line for each function that there is a sample of, with what becomes of its derivatives in both
modes, of its second ones and of vmap: `lazy` (right, nothing computed on the way), `asks` (it asks for values, and computes
them), `refused` (by name); `-` where there is nothing to compare. docs/support.py shows it in its table, and test_dask.py
compares the two.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from funcgrad import grad, jvp, vmap
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.errors import FuncgradError
from tests.optional import optional
from tests.rules.samples import Sample, collect
from tests.rules.test_strict import pulled, pushed
from tests.rules.test_sweep import directions, floating

dask = optional("dask")
da = optional("dask.array")

RECORD = Path(__file__).parents[2] / "docs" / "support_dask.txt"

# What asks for values that a lazy array does not have yet, as NumPy's own functions do: how many bins there are,
# whether a coefficient is zero, whether the imaginary parts are.
ASKS = {
    "geomspace",
    "histogram",
    "histogram_bin_edges",
    "histogram2d",
    "histogramdd",
    "poly",
    "polydiv",
    "real_if_close",
}
# What Dask has and we refuse by name: a derivative in q, or with weights; all that goes by distinct values.
REFUSED = {"quantile", "unique", "union1d", "tile"}


def chosen() -> dict[str, Sample]:
    """One sample of each function."""
    found: dict[Any, tuple[str, Sample]] = {}
    for text, sample in collect():
        if not text.startswith("nn-"):  # whose kernels are written for NumPy's own arrays
            found.setdefault(sample.subject, (text, sample))
    return dict(found.values())


def lazy(x: Any) -> Any:
    """A number or array as a Dask array, in two chunks along each axis."""
    x = np.asarray(x)
    if x.dtype.kind not in "fc":
        return x
    return da.from_array(x, chunks=tuple(max(1, (n + 1) // 2) if n else 0 for n in x.shape))


def like(values: list[Any]) -> list[Any]:
    """Plain arrays of the shapes and dtypes of `values`, which are not asked for more."""
    return [np.empty(v.shape, v.dtype)[()] for v in values]


class ComputedError(Exception):
    """Something was computed that was not asked for."""


def uncomputed(run: Callable[[], Any]) -> Any:
    """The result of `run`, during which no scheduler may be asked for anything."""

    def refuse(graph: Any, keys: Any, **options: Any) -> Any:
        raise ComputedError

    with dask.config.set(scheduler=refuse):
        return run()


def computed(x: Any) -> Any:
    return x.compute(scheduler="sync") if isinstance(x, da.Array) else x


def assert_lazily(came: list[Any], plain: list[Any]) -> None:
    for c, p in zip(came, plain, strict=True):
        if p is None or c is None:
            assert c is p
            continue
        assert isinstance(c, da.Array), f"a {type(c).__name__} came of Dask arrays"
        assert (c.shape, c.dtype) == (np.shape(p), p.dtype)
        np.testing.assert_allclose(computed(c), p, rtol=1e-7, atol=1e-9)


def is_known_to_dask(sample: Sample, leaves: list[Any], lazily: list[Any]) -> bool:
    """Does Dask itself compute this, lazily and as NumPy does?"""
    call = sample.leaves()[1]
    try:
        found = uncomputed(lambda: call(*lazily))
        assert_lazily(floating(found), floating(call(*leaves)))
    except Exception:  # noqa: BLE001 (Dask has many ways of not doing something)
        return False
    return True


def outcome(sample: Sample) -> str:
    """`lazy`, `asks` or `refused`; a wrong derivative is an error, and so is a refusal of what Dask itself can do."""
    leaves = [x if hasattr(x, "dtype") else np.float64(x) for x in sample.leaves()[0]]
    lazily = [lazy(x) for x in leaves]
    name = sample.subject.__name__
    ts = directions(leaves, 2)
    runs = {
        "rev": lambda xs: pulled(sample, xs, lambda vs: [_as(xs, d) for d in directions(like(vs), 3)]),
        "fwd": lambda xs: pushed(sample, xs, [_as(xs, t) for t in ts]),
    }
    found = "lazy"
    for mode in sample.modes:
        refusal = None
        try:
            came = uncomputed(lambda mode=mode: runs[mode](lazily))
        except (FuncgradError, ComputedError) as error:
            refusal = error
        if refusal is not None:
            found = "asks" if type(refusal) is ComputedError else "refused"
            assert name in ASKS if found == "asks" else "Write" in str(refusal)
            assert name in ASKS | REFUSED or not is_known_to_dask(sample, leaves, lazily), refusal
            continue
        plain = runs[mode](leaves)
        for c, p in [*zip(came, plain, strict=True)] if mode == "rev" else [(came, plain)]:
            assert_lazily(c, p)
    return found


def beyond(sample: Sample) -> tuple[str, str]:
    """The same of its second derivatives (forward over reverse), and of vmap."""
    leaves = [x if hasattr(x, "dtype") else np.float64(x) for x in sample.leaves()[0]]
    if not leaves or any(x.dtype.kind != "f" for x in leaves):
        return "-", "-"
    total, ts = _total(sample), directions(leaves, 2)
    slope = grad(total, tuple(range(len(leaves))))
    pairs = [np.stack([x, 1.01 * x]) for x in leaves]
    by_example = [da.from_array(x, chunks=(1, *lazy(x[0]).chunks)) for x in pairs]
    return (
        _compared(
            lambda xs, ts: jvp(slope, tuple(xs), tuple(ts))[1],
            (leaves, ts),
            (map(lazy, leaves), map(lazy, ts)),
        ),
        _compared(lambda xs: [vmap(total)(*xs)], (pairs,), (by_example,)),
    )


def _total(sample: Sample) -> Callable[..., Any]:
    """The sample as a function of arrays to one number."""
    call = sample.leaves()[1]
    return lambda *xs: sum(np.sum(np.real(out) * (0.7 + k)) for k, out in enumerate(floating(call(*xs))))


def _compared(run: Callable[..., Any], plain: Any, lazily: Any) -> str:
    """What becomes of `run` on Dask arrays, compared with plain ones; `-` if it refuses those, too."""
    try:
        expected = list(run(*plain))
    except FuncgradError:
        return "-"
    try:
        assert_lazily(list(uncomputed(lambda: run(*lazily))), expected)
    except ComputedError:
        return "asks"
    except FuncgradError:
        return "refused"
    return "lazy"


def _as(like: list[Any], x: Any) -> Any:
    return lazy(x) if any(isinstance(v, da.Array) for v in like) else x


def record() -> str:
    """The lines of the record."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {
            CATALOGUE[sample.subject].title: (outcome(sample), *beyond(sample))
            for sample in chosen().values()
        }
    return "".join(f"{title} {' '.join(statuses)}\n" for title, statuses in sorted(found.items()))


if __name__ == "__main__":
    RECORD.write_text(record(), encoding="utf-8")
