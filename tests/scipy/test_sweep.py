"""Every sample of every module, through what is checked of NumPy's functions (tests/rules/test_sweep.py)."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from funcgrad import jvp, vjp
from funcgrad.testing import check_grads, check_vmap
from tests.grouping import in_groups
from tests.rules.samples import Sample
from tests.rules.test_sweep import assert_same, assert_single, both_modes, directions, floating, pairing
from tests.scipy import samples


def collected() -> list[tuple[str, Sample]]:
    """All samples, each with its name."""
    found = []
    for module in pkgutil.iter_modules(samples.__path__):
        chapter = importlib.import_module(f"{samples.__name__}.{module.name}")
        found += [
            (f"{module.name} {k // 12 + 1}-{k}-{sample}", sample) for k, sample in enumerate(chapter.SAMPLES)
        ]
    return found


SAMPLES = collected()


def each(*conditions: Any) -> Any:
    return in_groups((text, s) for text, s in SAMPLES if all(condition(s) for condition in conditions))


@each()
def test_the_value_is_scipys(sample: Sample) -> None:
    leaves, call = sample.leaves()
    plain = floating(sample.function(*sample.args, **sample.kwargs))
    run = lambda *xs: floating(call(*xs))
    assert_same(vjp(run, *leaves)[0], plain, rtol=1e-9)
    assert_same(jvp(run, leaves, directions(leaves, 1))[0], plain, rtol=1e-9)


@each()
def test_derivatives_are_those_of_finite_differences(sample: Sample) -> None:
    leaves, call = sample.leaves()
    check_grads(
        lambda *xs: floating(call(*xs)), leaves, sample.order, sample.modes, atol=sample.tol, rtol=sample.tol
    )


@each(both_modes)
def test_pull_is_the_transpose_of_push(sample: Sample) -> None:
    leaves, call = sample.leaves()
    run = lambda *xs: floating(call(*xs))
    outs, pull = vjp(run, *leaves)
    ts, cts = directions(leaves, 2), directions(outs, 3)
    pushed, pulled = jvp(run, leaves, ts)[1], pull(cts)
    size = sum(float(abs(ct * t).sum()) for ct, t in zip(pulled, ts, strict=True))
    assert pairing(cts, pushed) == pytest.approx(pairing(pulled, ts), rel=1e-8, abs=1e-8 * max(1, size))


@each(lambda s: s.float32)
def test_single_precision_is_as_in_scipy(sample: Sample) -> None:
    leaves, call = sample.leaves()
    run = lambda *xs: floating(call(*xs))
    singles = [
        np.asarray(x).astype(np.complex64 if np.asarray(x).dtype.kind == "c" else np.float32) for x in leaves
    ]
    plain = run(*singles)
    outs, pull = vjp(run, *singles)
    for out, value in zip(outs, plain, strict=True):
        assert (np.shape(out), out.dtype) == (np.shape(value), np.asarray(value).dtype)
        np.testing.assert_allclose(out, value, rtol=1e-4, atol=1e-4 * np.max(abs(value), initial=1))
    cts = directions(outs, 6)
    exact_outs, exact_pull = vjp(run, *leaves)
    exact = exact_pull([c.astype(o.dtype) for c, o in zip(cts, exact_outs, strict=True)])
    assert_single(pull(cts), singles, exact)


@each(lambda s: s.vmap)
def test_vmap_is_a_loop(sample: Sample) -> None:
    leaves, call = sample.leaves()
    if leaves:
        moved = [np.stack([x, 1.01 * x]) for x in map(np.asarray, leaves)]
        check_vmap(lambda *xs: floating(call(*xs)), moved)
        check_vmap(lambda *xs: floating(call(*xs)), [moved[0], *leaves[1:]], (0, *[None] * (len(leaves) - 1)))


@pytest.mark.parametrize(
    "norm", [1e-3, 0.1, 0.5, 1.5, 4.0, 30.0]
)  # for each degree of the approximant, and scaled
def test_the_derivative_of_the_exponential_is_scipys(norm: float) -> None:
    from scipy.linalg import expm, expm_frechet

    from funcgrad.scipy.linalg.exponentials import frechet

    rng = np.random.default_rng(3)
    a, e = rng.normal(size=(2, 6, 6)) + 1j * rng.normal(size=(2, 6, 6))
    a *= norm / np.linalg.norm(a, 1)
    for x, y in ((a, e), (a.real, e.real)):
        expected = expm_frechet(x, y, compute_expm=False)
        np.testing.assert_allclose(
            frechet(x, y, expm(x)), expected, rtol=1e-11, atol=1e-12 * abs(expected).max()
        )
