"""Run a function on a tape that outlives the call, and pull back through it: the base of vjp, jacrev, ..."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.arrays.spec import Spec
from funcgrad.core.arrays.zeros import lasting_spec
from funcgrad.core.engine.reverse import OpenReverseTrace, ReverseTrace
from funcgrad.core.engine.sweep import Node, sweep
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.guard import SavedCopies
from funcgrad.core.memory.layout import copied
from funcgrad.errors import CotangentError, OutputError
from funcgrad.transforms.directions import direction_leaves
from funcgrad.transforms.hidden import revealed
from funcgrad.transforms.leaves import (
    argument_leaves,
    aux_split,
    fitted_direction,
    gradient,
    handed_out,
    returned,
    traced,
)
from funcgrad.transforms.wrapping import check_function, name_of


class Pullback:
    """What `vjp` returns: call it with a cotangent of the output, as often as you like.

    Of arguments and outputs it holds the nodes and the shapes: what values are kept is for the nodes to say.
    """

    def __init__(
        self,
        arguments: list[Any],
        ends: list[tuple[Node | None, Spec]],
        structure: tree.Structure,
        transform: str,
    ) -> None:
        self.arguments, self.ends, self.structure, self.transform = arguments, ends, structure, transform

    def __call__(self, *ct: Any) -> tuple[Any, ...]:
        """The cotangent of each argument, as a tuple; `ct` has the structure, shapes and dtype of the output."""
        if len(ct) != 1:
            raise CotangentError(
                f"{self.transform}: its pullback takes one cotangent (a tuple, for an output that is one), not {len(ct)}"
            )
        try:
            cts = direction_leaves(self.structure, ct[0], "the cotangent")
        except ValueError as error:
            raise CotangentError(
                f"{self.transform}: {error}. It must have the structure of the function's output (None for zeros)."
            ) from None
        seeds = []
        for (node, output), c in zip(self.ends, cts, strict=True):
            fitted = fitted_direction(c, output, f"{self.transform}: a cotangent")
            if node is not None and fitted is not None:
                seeds.append((node, fitted))
        return self.pull(seeds)

    def pull(self, seeds: list[tuple[Node, Any]]) -> tuple[Any, ...]:
        """Pull seeds back to the arguments; nothing is checked, and the tape is kept."""
        try:
            cts = sweep(seeds)
        except Exception as error:  # noqa: BLE001 (what it says depends on what it is)
            import_module("funcgrad.core.messages.failures").raise_explained(error)
        return tuple(
            tree.unflatten(structure, [gradient(cts, n, s) for s, n in zip(specs, nodes, strict=True)])
            for specs, nodes, structure in self.arguments
        )


def record(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    has_aux: bool = False,
    transform: str = "vjp",
    keep_tracers: bool = False,
    lasting: bool = True,
) -> tuple[Any, Pullback, Any]:
    """Run `fun` on a tape: (output, its pullback, aux).

    The tape outlives the call, so the user may change whatever it has saved: the arguments too. So they are
    copied, unless the caller is to pull back at once, and but once (then it is not `lasting`).
    """
    check_function(fun, transform)
    with (OpenReverseTrace if keep_tracers else ReverseTrace)(SavedCopies() if lasting else None) as trace:
        arguments, traced_args = [], []
        for i, primal in enumerate(primals):
            values, structure = argument_leaves(primal, transform, i, allow_int=True)
            if lasting:
                values = [copied(v) if type(v) is np.ndarray else v for v in values]
            leaves, nodes = traced(trace, values)
            arguments.append(([lasting_spec(v) for v in values], nodes, structure))
            traced_args.append(tree.unflatten(structure, leaves))
            del leaves
        out, aux = fun(*traced_args, **kwargs), None
        if has_aux:
            out, aux = aux_split(out, transform, name_of(fun))
            aux = tree.map(lambda x: handed_out(trace, revealed(trace, x, transform)), aux)
        outs, structure = tree.flatten(out)
        outs = [revealed(trace, o, transform) for o in outs]
        nodes = [o._node if isinstance(o, Tracer) and o._trace is trace else None for o in outs]
        outs = [output_value(handed_out(trace, o), fun, transform) for o in outs]
    ends = [(node, lasting_spec(o)) for node, o in zip(nodes, outs, strict=True)]
    pullback = Pullback(arguments, ends, structure, transform)
    return tree.unflatten(structure, [returned(o) for o in outs]), pullback, aux


def output_value(x: Any, fun: Callable[..., Any], transform: str) -> Any:
    """An output leaf as an array; what is no number is refused."""
    if hasattr(x, "dtype") and hasattr(x, "shape"):
        return x
    if isinstance(x, (bool, int, float, complex)):
        return np.asarray(x)[()]
    raise OutputError(
        f"{transform}: {name_of(fun)} returned a {type(x).__name__} among its outputs. Return numbers, arrays or pytrees "
        "of them; everything else belongs in aux (has_aux=True)."
    )
