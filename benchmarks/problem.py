"""A line of the table: a race between runs that compute the same, or a figure; with its target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measure import ratio, seconds_per_call
from benchmarks.peers import Funcgrad, Peer, Run

HAND = "hand-written"


@dataclass
class Result:
    """A line of the table: everything is a ratio to the reference, which took `seconds` when it was fastest."""

    name: str
    reference: str
    target: float
    ratios: dict[str, float]
    seconds: float | None = None

    @property
    def passed(self) -> bool | None:
        """Is funcgrad within the target? None: the reference is not installed."""
        ours = self.ratios.get("funcgrad")
        return None if ours is None else ours <= self.target


@dataclass
class Race:
    """Runs that compute the same; `target` is the largest ratio of funcgrad's time to the reference's."""

    name: str
    target: float
    runs: Callable[[Sequence[Peer]], dict[str, Run]]
    reference: str = HAND

    def result(self, peers: Sequence[Peer]) -> Result:
        """Check that all runs agree, then time them."""
        runs = self.runs(peers)
        check_agreement(self.name, runs)
        seconds = seconds_per_call(runs)
        if self.reference not in seconds:
            return Result(self.name, self.reference, self.target, {})
        base = seconds[self.reference]
        ratios = {name: ratio(taken, base) for name, taken in seconds.items()}
        return Result(self.name, self.reference, self.target, ratios, min(base))


@dataclass
class Figure:
    """One number of funcgrad's alone, measured by `measure`, in units of `reference`."""

    name: str
    target: float
    measure: Callable[[], float]
    reference: str

    def result(self, peers: Sequence[Peer]) -> Result:
        """Measure it (the peers take no part)."""
        return Result(self.name, self.reference, self.target, {"funcgrad": self.measure()})


@dataclass
class Gradients:
    """The runs of a race in `value_and_grad`: function, gradient by hand, parameters, constant data.

    `function(xp, *params, *data)` is the plain code; `by_hand(*params, *data)` returns the value and a tuple
    of gradients. `for_torch` replaces `function` for PyTorch, where its users would call another function;
    peers named in `without` sit out.
    """

    function: Callable[..., Any]
    by_hand: Callable[..., Any]
    params: tuple[Any, ...]
    data: tuple[Any, ...] = ()
    for_torch: Callable[..., Any] | None = None
    without: tuple[str, ...] = ()

    def __call__(self, peers: Sequence[Peer]) -> dict[str, Run]:
        """The runs of hand-written code, of funcgrad and of the peers that can do it."""
        runs: dict[str, Run] = {HAND: lambda: self.by_hand(*self.params, *self.data)}
        for peer in (Funcgrad(), *peers):
            if peer.name in self.without:
                continue
            function = self.for_torch if peer.name == "torch" and self.for_torch else self.function
            run = peer.value_and_grad(function, self.params, self.data)
            if run is not None:
                runs[peer.name] = run
        return runs


def check_agreement(name: str, runs: dict[str, Run]) -> None:
    """Every run gives what the first one gives, up to rounding."""
    (first, run), *others = runs.items()
    expected = leaves(run())
    for other, run in others:
        found = leaves(run())
        for e, f in zip(expected, found, strict=True):
            tolerance = 1e-3 if np.float32 in (e.dtype, f.dtype) else 1e-9
            scale = np.max(np.abs(e), initial=0)
            if e.shape != f.shape or not np.allclose(f, e, rtol=0, atol=tolerance * scale):
                raise AssertionError(f"{name}: {other} and {first} disagree (shapes {f.shape} and {e.shape})")


def leaves(result: Any) -> list[np.ndarray]:
    """The arrays in a result, in order."""
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves(part)]
    return [np.asarray(result)]
