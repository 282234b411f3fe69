"""engine="xla": samples, programs with branches and writes, refusals. One compilation per chapter."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import jit
from funcgrad.errors import UnsupportedFunctionError
from tests.compiler.agreement import assert_same, copied, only
from tests.compiler.test_jit import PROGRAMS, A
from tests.compiler.test_samples import CHAPTERS
from tests.optional import optional
from tests.rules.samples import Sample

jax = optional("jax", reason="JAX is not installed")
xla = optional("funcgrad.compiler.xla")
QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
# Of each chapter every third sample, from another one on; together they are all chapters' functions.
SOME = [
    (chapter, samples[k % 3 :: 3])
    for k, (chapter, samples) in enumerate(CHAPTERS.items())
    if chapter != "sets"
]


def way_of(sample: Sample) -> Any:
    """(the way that XLA would run, its arguments, what NumPy gives); None where XLA lacks a step."""
    leaves, call = sample.leaves()
    compiled = jit(call, engine="xla")
    expected = compiled(*leaves)
    compiled(*leaves)
    way = only(compiled).program._way(())
    outside = [x.value for x in way.outside]
    try:
        with xla.in_double_precision(jax):
            jax.eval_shape(way.trace, leaves, outside)
    except UnsupportedFunctionError:
        return None
    return way, leaves, outside, expected


@pytest.mark.parametrize(("chapter", "samples"), SOME, ids=[chapter for chapter, _ in SOME])
def test_samples(chapter: str, samples: list[tuple[str, Sample]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [way_of(sample) for _, sample in samples]
    ready = [entry for entry in found if entry is not None]
    assert len(ready) > 0.4 * len(samples)

    def together(leaves: Any, outside: Any) -> Any:
        return [way.trace(mine, held) for (way, *_), mine, held in zip(ready, leaves, outside)]

    with xla.in_double_precision(jax):
        run = jax.jit(together, compiler_options=QUICK)
        outs = run([leaves for _, leaves, _, _ in ready], [outside for _, _, outside, _ in ready])
    for (way, _, _, expected), (_, results) in zip(ready, outs, strict=True):
        assert_same(way.filled(results), expected, 1e-7)


CHOSEN = ("if", "a filled array, blank", "its gradient", "writes", "numbers beside single precision", "trees")


@pytest.mark.parametrize("name", CHOSEN)
def test_programs(name: str) -> None:
    fun, calls = PROGRAMS[name]
    compiled = jit(fun, engine="xla")
    for _ in range(3):
        for args in calls:
            assert_same(compiled(*args), fun(*copied(args)), 1e-9)
    assert only(compiled).program is not None


def test_the_settings_of_jax_stay() -> None:
    compiled = jit(fg.value_and_grad(lambda x: np.sum(np.tanh(x) ** 2)), engine="xla")
    for _ in range(3):
        value, gradient = compiled(A(3))
    assert value.dtype == gradient.dtype == np.float64
    assert jax.numpy.ones(2).dtype == np.float32
    gradient[0] = 1  # the caller's own


def test_a_step_that_xla_lacks_is_named() -> None:
    compiled = jit(lambda x: x[x > 0].sum(), engine="xla")
    compiled(A(5))
    compiled(A(5))
    with pytest.raises(
        UnsupportedFunctionError,
        match=r"XLA can't run getitem at test_xla.py, line \d+.*Use engine=\"numpy\"",
    ):
        compiled(A(5))
