"""Samples on sparse arrays (of the library sparse): what becomes of each, and the record of it,
`python -m tests.interop.sparsely`.

docs/support_sparse.txt has a line for each function that there is a sample of: `right` (in both modes, sparse where
sparse itself gives sparse arrays), `dense` (right, and dense there), or `refused` (by name, with the repair).
docs/support.py shows it in its table, and test_sparse.py compares the two. Nothing becomes dense in silence: sparse
does not allow it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from funcgrad import jvp, vjp
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.errors import FuncgradError
from tests.interop.lazily import chosen, like
from tests.optional import optional
from tests.rules.samples import Sample
from tests.rules.test_sweep import directions, floating

sparse = optional("sparse")

RECORD = Path(__file__).parents[2] / "docs" / "support_sparse.txt"


def as_sparse(x: Any) -> Any:
    """An array of floats as a sparse one; numbers and integers as they are."""
    x = np.asarray(x)
    return sparse.COO(x) if x.dtype.kind in "fc" and x.ndim else x[()]


def is_sparse(x: Any) -> bool:
    return isinstance(x, sparse.SparseArray)


def dense(x: Any) -> Any:
    return x.todense() if is_sparse(x) else x


def pulled(call: Callable[..., Any], xs: list[Any], convert: Callable[[Any], Any]) -> list[Any]:
    """The outputs and the cotangents."""
    outs, pull = vjp(lambda *a: floating(call(*a)), *xs)
    cts = directions(like(outs), 3)
    return [*outs, *pull([convert(ct) if is_sparse(o) else ct for o, ct in zip(outs, cts, strict=True)])]


def pushed(call: Callable[..., Any], xs: list[Any], convert: Callable[[Any], Any]) -> list[Any]:
    """The outputs and the tangents."""
    ts = directions(like(xs), 2)
    ts = [convert(t) if is_sparse(x) else t for x, t in zip(xs, ts, strict=True)]
    outs, out_ts = jvp(lambda *a: floating(call(*a)), xs, ts)
    return [*outs, *out_ts]


MODES = {"rev": pulled, "fwd": pushed}


def mixtures(leaves: list[Any]) -> list[list[Any]]:
    """All of the leaves sparse; and the first one dense, beside sparse constants."""
    xs = [as_sparse(x) for x in leaves]
    return [xs, [leaves[0], *xs[1:]]] if any(map(is_sparse, xs[1:])) else [xs]


def outcome(sample: Sample) -> str:
    """`right`, `dense` or `refused`, for all operands sparse; a wrong derivative is an error, and one that is not ours."""
    leaves, call = sample.leaves()
    leaves = [np.asarray(x)[()] for x in leaves]
    statuses = set()
    for k, xs in enumerate(mixtures(leaves)):
        for mode in sample.modes:
            plain = MODES[mode](call, leaves, lambda x: x)
            came = refusal = None
            try:
                came = MODES[mode](call, xs, as_sparse)
            except FuncgradError as error:
                refusal = error
            if came is None:
                assert "Write" in str(refusal)
                statuses.add((k, "refused"))
                continue
            for c, p in zip(came, plain, strict=True):
                assert np.shape(c) == np.shape(p)
                np.testing.assert_allclose(dense(c), p, rtol=1e-7, atol=1e-9)
            if not stays_sparse(call, xs, came):
                statuses.add((k, "dense"))
    return next((status for status in ("refused", "dense") if (0, status) in statuses), "right")


def stays_sparse(call: Callable[..., Any], xs: list[Any], came: list[Any]) -> bool:
    """Are the outputs sparse where sparse itself gives sparse arrays?"""
    try:
        own = floating(call(*xs))
    except Exception:  # noqa: BLE001 (what sparse lacks, and we make of what it has)
        return True
    return all(is_sparse(c) or not is_sparse(o) or not o.ndim for c, o in zip(came, own, strict=False))


def record() -> str:
    """The lines of the record."""
    lines, errors = [], []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for sample in chosen().values():
            if not sample.leaves()[0]:
                continue
            title = CATALOGUE[sample.subject].title
            try:
                lines.append(f"{title} {outcome(sample)}\n")
            except Exception as error:  # noqa: BLE001 (all of them are shown)
                error.add_note(title)
                errors.append(error)
    if errors:
        raise ExceptionGroup("what is neither right nor refused", errors)
    return "".join(sorted(lines))


if __name__ == "__main__":
    RECORD.write_text(record(), encoding="utf-8")
