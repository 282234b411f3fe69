"""Samples: calls of NumPy functions that test_sweep.py checks in every way. One file per chapter.

A chapter's file ends in `SAMPLES = [...]`, and most entries are one line, written as the call itself:

    SAMPLES = [
        S(np.sum, A(3, 4), axis=-1, keepdims=True),
        S(np.power, A(3, low=0.5, high=2), A(2, 3)),
        S(np.concatenate, [A(2, 3), A(1, 3)]),                            # leaves of lists count one by one
        S(np.sum, A(3), initial=0.5).but(wrt=(0, "initial")),             # differentiate in a keyword argument too
        S(np.quantile, A(5), 0.3).but(wrt=(0,), order=1),                 # ... or not in every number that is given
        S(np.take_along_axis, A(3), np.array([2, 0]), 0).but(vmap_also=(1,)),   # vmap batches the integers as well
        S(lambda a: np.linalg.eigh(a).eigenvalues, spd(3)).but(covers=np.linalg.eigh, label="values"),
        S(np.sum, A(0, 3), axis=0), S(np.sin, A()),                       # empty, 0-d
    ]

Each is run with and without tracing, in both modes, to second order, in single precision, in both lanes and
under vmap; so choose operands inside the domain, away from kinks. Ties and other special values belong into
test_<chapter>.py.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.catalogue import CATALOGUE, Function, name_of


@dataclass(frozen=True)
class Sample:
    """One call, and what is to be checked of it."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    # Positions and keyword names to differentiate in; None: every floating number and array among `args`.
    wrt: tuple[int | str, ...] | None = None
    modes: tuple[str, ...] = ("fwd", "rev")
    order: int = 2
    tol: float = 1e-6  # relative, of derivatives in double precision against finite differences
    float32: bool = True  # also in single precision?
    vmap: bool = True  # also under vmap? (False where the output's shape depends on values)
    vmap_also: tuple[int | str, ...] = ()  # arguments that vmap batches although they have no derivative
    rolls: bool = True  # may the elements of an operand be rolled, to make another example of it?
    covers: Callable[..., Any] | None = None  # the catalogue's function, where `function` only wraps it
    label: str = ""
    since: str = "2.0"  # the NumPy that first takes these arguments, or gives what later ones give

    def but(self, **options: Any) -> Sample:
        """The same call with other options."""
        return replace(self, **options)

    @property
    def subject(self) -> Callable[..., Any]:
        """The function in the catalogue that this is a sample of."""
        return self.covers or self.function

    @property
    def entry(self) -> Function | None:
        """The catalogue's entry."""
        return CATALOGUE.get(self.subject)

    def is_wrt(self, place: int | str, leaf: Any) -> bool:
        """Is this leaf of the argument at `place` differentiated?"""
        wanted = isinstance(place, int) if self.wrt is None else place in self.wrt
        return wanted and np.asarray(leaf).dtype.kind in "fc"

    def leaves(self, also: tuple[int | str, ...] = ()) -> tuple[list[Any], Callable[..., Any]]:
        """The differentiated leaves (those of `also` too), and the call as their function."""
        found, structure = tree.flatten((self.args, self.kwargs))
        chosen = list(self.places(also))

        def call(*values: Any) -> Any:
            full = list(found)
            for i, value in zip(chosen, values, strict=True):
                full[i] = value
            args, kwargs = tree.unflatten(structure, full)
            return self.function(*args, **kwargs)

        return [found[i] for i in chosen], call

    def places(self, also: tuple[int | str, ...] = ()) -> dict[int, int | str]:
        """Which leaves of the call `leaves` chooses, and the position or keyword of each one's argument."""
        pairs, _ = tree.flatten_with_path((self.args, self.kwargs))
        chosen = {}
        for i, (path, leaf) in enumerate(pairs):
            place = getattr(path[1], "index", getattr(path[1], "key", None))
            if self.is_wrt(place, leaf) or (place in also and isinstance(leaf, np.ndarray)):
                chosen[i] = place
        return chosen

    def __str__(self) -> str:
        name = name_of(self.subject)
        if self.label:
            return f"{name}-{self.label}"
        parts = [_brief(a) for a in self.args] + [f"{k}={_brief(v)}" for k, v in self.kwargs.items()]
        return f"{name}({','.join(parts)})"


def S(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Sample:
    """The sample function(*args, **kwargs)."""
    return Sample(function, args, kwargs)


def _brief(x: Any) -> str:
    """A short text for an argument, without blanks."""
    if isinstance(x, np.ndarray):
        kind = "" if x.dtype == np.float64 else x.dtype.name
        return kind + ("x".join(map(str, x.shape)) or "0d")
    if isinstance(x, (list, tuple)):
        left, right = "[]" if isinstance(x, list) else "()"
        return left + ",".join(map(_brief, x)) + right
    return (getattr(x, "__name__", None) or str(x)).replace(" ", "")


# ---- operands --------------------------------------------------------------------------------------------------------

_used: Counter[str] = Counter()


def _random() -> np.random.Generator:
    """Numbers that depend on the chapter and on how many arrays it has made, not on other chapters."""
    chapter = next(n for n in _frames() if n != __name__)
    _used[chapter] += 1
    return np.random.default_rng([_used[chapter], *chapter.encode()])


def _frames() -> Iterator[str]:
    frame = sys._getframe(1)
    while frame is not None:
        yield frame.f_globals.get("__name__", "")
        frame = frame.f_back


def A(*shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    """Distinct numbers between `low` and `high`, none close to another or to the bounds, in random order."""
    rng = _random()
    size = int(np.prod(shape, dtype=int))
    cells = np.arange(size) + rng.uniform(0.3, 0.7, size)
    return rng.permutation(low + (high - low) * cells / max(size, 1)).reshape(shape)


def C(*shape: int, low: float = -1.0, high: float = 1.0) -> Any:
    """A complex array, whose real and imaginary parts are as those of A."""
    return A(*shape, low=low, high=high) + 1j * A(*shape, low=low, high=high)


def spd(n: int, *batch: int) -> Any:
    """A symmetric matrix (or a stack of them) with eigenvalues well apart, between 1 and n."""
    rng = _random()
    q = np.linalg.qr(rng.normal(size=(*batch, n, n)))[0]
    return (q * (1 + np.arange(n))) @ np.swapaxes(q, -1, -2)


def hpd(n: int, *batch: int) -> Any:
    """As `spd`, Hermitian."""
    rng = _random()
    q = np.linalg.qr(rng.normal(size=(*batch, n, n)) + 1j * rng.normal(size=(*batch, n, n)))[0]
    return (q * (1 + np.arange(n))) @ np.swapaxes(q, -1, -2).conj()


# ---- collecting ------------------------------------------------------------------------------------------------------


def collect() -> list[tuple[str, Sample]]:
    """All samples of all chapters, each with an id of its own."""
    found: list[tuple[str, Sample]] = []
    seen: Counter[str] = Counter()
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        for sample in importlib.import_module(f"{__name__}.{module.name}").SAMPLES:
            if np.lib.NumpyVersion(np.__version__) < f"{sample.since}.0":
                continue
            text = f"{module.name}-{sample}"
            seen[text] += 1
            found.append((text if seen[text] == 1 else f"{text}-{seen[text]}", sample))
    return found
