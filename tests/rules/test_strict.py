"""Rules stay on the kind of array they are given: they run on a strict duck array, with NumPy's values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from funcgrad.core.engine.cotangent import dense
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.sweep import sweep
from funcgrad.core.engine.trace import Tracer
from tests.grouping import in_groups
from tests.rules.samples import Sample, collect
from tests.rules.strict import Strict, bare
from tests.rules.test_sweep import directions, floating

DEVICE = "device 7"
# NumPy does not look for arrays of other libraries in initial=, and yet these stay.
ALSO = {"reductions-sum(2x3,1,initial=0d)", "reductions-sum(2x3,axis=0,initial=0.5)"}


def chosen() -> dict[str, Sample]:
    """Two samples of each function: the derivatives of all of them are in test_sweep.py."""
    found: dict[str, Sample] = {}
    seen: Counter[Any] = Counter()
    for text, sample in collect():
        if text.startswith("nn-"):
            continue  # its kernels are written for NumPy's own arrays: they write into buffers
        seen[sample.subject] += 1
        if seen[sample.subject] <= 2 or text in ALSO:
            found[text] = sample
    return found


SAMPLES = chosen()


def strict(xs: list[Any]) -> list[Any]:
    """Arrays as duck arrays on a device that no rule can know of."""
    return [Strict(x, DEVICE) if np.asarray(x).dtype.kind in "fc" else x for x in xs]


def pulled(sample: Sample, leaves: list[Any], seeds: Any) -> tuple[list[Any], list[Any]]:
    """The outputs, and the cotangents of the leaves (None is zero)."""
    with ReverseTrace() as trace:
        tracers = [trace.leaf(x) for x in leaves]
        nodes = [t._node for t in tracers]
        outs = floating(sample.leaves()[1](*tracers))
    values = [o._value if isinstance(o, Tracer) else o for o in outs]
    ends = [o._node if isinstance(o, Tracer) else None for o in outs]
    found = sweep([(end, ct) for end, ct in zip(ends, seeds(values), strict=True) if end is not None])
    # An output that does not depend on the leaves may be a plain array: a count, the edges of bins.
    values = [v for v, end in zip(values, ends, strict=True) if end is not None]
    return values, [dense(found.get(node)) for node in nodes]


def pushed(sample: Sample, leaves: list[Any], tangents: list[Any]) -> list[Any]:
    """The tangents of the outputs (None is zero)."""
    with ForwardTrace() as trace:
        outs = floating(
            sample.leaves()[1](*(trace.wrap(x, t) for x, t in zip(leaves, tangents, strict=True)))
        )
        return [dense(o._node) if isinstance(o, Tracer) else None for o in outs]


def assert_stayed(came: list[Any], plain: list[Any]) -> None:
    for c, p in zip(came, plain, strict=True):
        if p is None:
            assert c is None
            continue
        assert isinstance(c, Strict) or not np.ndim(p), f"a {type(c).__name__} came of duck arrays"
        assert not isinstance(c, Strict) or c.device == DEVICE
        np.testing.assert_allclose(c._data if isinstance(c, Strict) else c, p, rtol=1e-9, atol=1e-9)


@in_groups(SAMPLES)
def test_rules_stay_on_duck_arrays(sample: Sample) -> None:
    leaves = [x if hasattr(x, "dtype") else np.float64(x) for x in sample.leaves()[0]]
    ducks = strict(leaves)
    if "rev" in sample.modes:
        plain, cts = pulled(sample, leaves, lambda values: directions(values, 3))
        values, duck_cts = pulled(
            sample, ducks, lambda values: strict(directions([bare(v) for v in values], 3))
        )
        assert_stayed(values, plain)
        assert_stayed(duck_cts, cts)
    if "fwd" in sample.modes:
        ts = directions(leaves, 2)
        assert_stayed(pushed(sample, ducks, strict(ts)), pushed(sample, leaves, ts))
