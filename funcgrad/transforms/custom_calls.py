"""The calls behind custom_vjp, custom_jvp, custom_gradient: rules on pytrees run on flat lists, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.arrays.spec import Spec
from funcgrad.core.arrays.zeros import float0, lasting_spec, ones, zeros
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.trace import Trace, Tracer
from funcgrad.errors import OutputError, RuleError
from funcgrad.transforms.directions import direction_leaves
from funcgrad.transforms.opaque import OpaqueCall, Outputs, PullCall, PushCall, stripped
from funcgrad.transforms.programs import Program, write_down
from funcgrad.typed import override


class Fixed:
    """A leaf that holds an argument as it is: one that is not differentiated, whatever it may be."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


NO_TREES = frozenset([np.ndarray, float, int, bool, complex, str, type(None), np.float64])  # nor tracers


class ArgumentLayout:
    """How a call's arguments lie in its flat operands. Holds no values, for it lives as long as the tape."""

    def __init__(
        self, structures: Sequence[tree.Structure], specs: Sequence[Spec | None], nondiff: tuple[int, ...]
    ) -> None:
        self.structures, self.specs, self.nondiff = structures, specs, nondiff
        self.is_flat = all(structure is tree.LEAF for structure in structures)  # is each its own leaf?
        self.diff = [i for i in range(len(structures)) if i not in nondiff]

    @classmethod
    def of(cls, args: Sequence[Any], nondiff: tuple[int, ...]) -> tuple[ArgumentLayout, list[Any]]:
        """The arguments and their leaves. Without a tracer in it, an undifferentiated one stays whole."""
        structures, leaves = [], []
        for i, arg in enumerate(args):
            if isinstance(arg, Tracer):
                structures.append(tree.LEAF)
                leaves.append(arg)
                continue
            if i in nondiff and type(arg) in NO_TREES:
                structures.append(tree.LEAF)
                leaves.append(Fixed(arg))
                continue
            arg_leaves, structure = tree.flatten(arg)
            if i in nondiff and not any(isinstance(x, Tracer) for x in arg_leaves):
                arg_leaves, structure = [Fixed(arg)], tree.LEAF
            structures.append(structure)
            leaves += arg_leaves
        specs = [lasting_spec(x) if is_number(x) else None for x in leaves]
        return cls(structures, specs, nondiff), leaves

    def split(self, leaves: Sequence[Any]) -> list[list[Any]]:
        """The leaves of each argument."""
        parts, at = [], 0
        for structure in self.structures:
            parts.append(list(leaves[at : at + structure.num_leaves]))
            at += structure.num_leaves
        return parts

    def rebuilt(self, leaves: Sequence[Any]) -> list[Any]:
        """The arguments, from their leaves."""
        if self.is_flat:
            return [x.value if type(x) is Fixed else x for x in leaves]
        parts = self.split([x.value if type(x) is Fixed else x for x in leaves])
        return [
            tree.unflatten(structure, part) for structure, part in zip(self.structures, parts, strict=True)
        ]

    def sorted_out(self, leaves: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The arguments that are not differentiated, and those that are."""
        args = self.rebuilt(leaves)
        return [args[i] for i in self.nondiff], [args[i] for i in self.diff]


def is_number(x: Any) -> bool:
    """Is `x` a number or an array of numbers?"""
    return isinstance(x, (bool, int, float, complex)) or getattr(
        getattr(x, "dtype", None), "kind", ""
    ) in tuple("fciub")


class CustomCall(OpaqueCall):
    """What the calls below share: the function, its arguments, its output (a pytree, known after a run)."""

    structure: tree.Structure
    outs: list[Spec]

    def __init__(self, function: Any, arguments: ArgumentLayout) -> None:
        super().__init__(function.title)
        self.function, self.arguments = function, arguments

    def flat(self, out: Any) -> list[Any]:
        """The leaves of an output; its structure is remembered."""
        leaves, self.structure = tree.flatten(out)
        for x in leaves:
            if not is_number(x):
                raise OutputError(
                    f"{self.function.title} returned a {type(x).__name__} among its outputs; "
                    "return numbers, arrays or pytrees of them"
                )
        outs = [x if hasattr(x, "dtype") else np.asarray(x)[()] for x in leaves]
        self.outs = [lasting_spec(o) for o in outs]
        return outs

    @override
    def run(self, call: Call) -> list[Any]:
        """The function itself."""
        return self.flat(self.function.run(*self.arguments.rebuilt(call.operands)))

    def filled(self, cts: Sequence[Any]) -> Any:
        """The cotangent of the output as users get it: zeros where nothing came."""
        return tree.unflatten(
            self.structure, [zeros(to) if ct is None else ct for ct, to in zip(cts, self.outs, strict=True)]
        )

    def parts(self, result: Any, slots: Sequence[int], rule: str) -> list[Any]:
        """The cotangents that a rule returned, checked: one for each operand in `slots`."""
        title, arguments = self.function.title, self.arguments
        if not isinstance(result, (tuple, list)) or len(result) != len(arguments.diff):
            raise RuleError(
                f"{title}: {rule} must return a tuple with one cotangent for each differentiated argument "
                f"({len(arguments.diff)}), but it returned {described(result)}. Write (ct,) for one argument, None for "
                "a zero."
            )
        cts: list[Any] = []
        at = dict(zip(arguments.diff, result, strict=True))
        for i, structure in enumerate(arguments.structures):
            cts += leaves_like(
                structure, at.get(i), f"{title}: the cotangent that {rule} returned for argument {i}"
            )
        return [self._part(cts[i], i, rule) for i in slots]

    def _part(self, part: Any, slot: int, rule: str) -> Any:
        to = self.arguments.specs[slot]
        if to is None or part is None:
            return None
        return checked(part, to, f"{self.function.title}: a cotangent that {rule} returned", "its argument")


class VjpCall(CustomCall, PullCall):
    """One call of a custom_vjp function."""

    is_linear = False

    @override
    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        result = self.function.fwd(*self.arguments.rebuilt(operands))
        out, residuals = pair(result, f"{self.function.title}: fwd", "(output, residuals)")
        return self.flat(out), stripped(trace, (self.arguments.sorted_out(operands)[0], residuals))

    @override
    def bwd(self, residuals: Any, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        nondiff, residuals = residuals
        return self.parts(self.function.bwd(*nondiff, residuals, self.filled(cts)), slots, "bwd")


class GradientCall(CustomCall, PullCall):
    """One call of a custom_gradient function; its residuals: the function that pulls back, and its extras."""

    is_linear = False

    @override
    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        result = self.function.fun(*self.arguments.rebuilt(operands))
        out, vjp_fn = pair(result, self.function.title, "(output, vjp_fn)")
        if not callable(vjp_fn):
            raise RuleError(
                f"{self.function.title} must return a pair (output, vjp_fn), but its vjp_fn is {described(vjp_fn)}"
            )
        return self.flat(out), [vjp_fn]

    @override
    def bwd(self, residuals: Any, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        vjp_fn, *more = residuals
        result = vjp_fn(self.filled(cts), *more)
        structures = self.arguments.structures
        if len(structures) == 1:  # the cotangent of a single argument may come bare
            is_wrapped = (
                isinstance(result, (tuple, list))
                and len(result) == 1
                and tree.structure(result) != structures[0]
            )
            result = result if is_wrapped else (result,)
        return self.parts(result, slots, "vjp_fn")

    @override
    def portable(self, residuals: Any) -> Any:
        """What vjp_fn closes over, out in the open: it is run once, and written down."""
        (vjp_fn,) = residuals
        returned: list[tree.Structure] = []

        def flat(cts: list[Any]) -> list[Any]:
            leaves, structure = tree.flatten(vjp_fn(tree.unflatten(self.structure, cts)))
            returned.append(structure)
            return leaves

        cotangents = [ones(to) if is_inexact(to) else zeros(to) for to in self.outs]
        recording = write_down(flat, cotangents)
        hoisted = [x for x in recording.operands if not any(x is ct for ct in cotangents)]
        return [_Replay(recording, cotangents, returned[0]), *hoisted]


class _Replay:
    """A function of a cotangent and of hoisted values, from its recording."""

    def __init__(self, recording: Any, cotangents: Sequence[Any], structure: tree.Structure) -> None:
        # For each operand of the program: which cotangent it is, or None for a hoisted value.
        self.cts = [next((k for k, ct in enumerate(cotangents) if x is ct), None) for x in recording.operands]
        self.program: Program = recording.program
        self.structure = structure

    def __call__(self, ct: Any, *hoisted: Any) -> Any:
        cts, more = tree.leaves(ct), iter(hoisted)
        outs = self.program([next(more) if k is None else cts[k] for k in self.cts])
        return tree.unflatten(self.structure, self.program.filled(outs))


class JvpCall(CustomCall, PushCall):
    """One call of a custom_jvp function."""

    @override
    def jvp(self, operands: Sequence[Any], tangents: dict[int, Any], trace: Trace) -> Outputs:
        title, arguments = self.function.title, self.arguments
        nondiff, primals = arguments.sorted_out(operands)
        directions = [
            tangents[i] if i in tangents else to and zeros(to) for i, to in enumerate(arguments.specs)
        ]
        by_argument = [
            tree.unflatten(s, part)
            for s, part in zip(arguments.structures, arguments.split(directions), strict=True)
        ]
        result = self.function.rule(*nondiff, tuple(primals), tuple(by_argument[i] for i in arguments.diff))
        out, t = pair(result, f"{title}: the rule", "(output, tangent of the output)")
        outs = self.flat(out)
        ts = leaves_like(self.structure, t, f"{title}: the tangent that the rule returned")
        what = f"{title}: a tangent that the rule returned"
        return outs, [
            None if t is None or not is_inexact(to) else checked(t, to, what, "its output")
            for t, to in zip(ts, self.outs, strict=True)
        ]


def is_inexact(to: Spec) -> bool:
    """Has a value like this a derivative?"""
    return to.dtype.kind in "fc"


def pair(result: Any, who: str, what: str) -> tuple[Any, Any]:
    """Refuse what is not a pair."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise RuleError(f"{who} must return a pair {what}, but it returned {described(result)}")
    return result[0], result[1]


def described(x: Any) -> str:
    """What was returned, for messages."""
    if x is None:
        return "None (is a `return` missing?)"
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of length {len(x)}"
    return f"an array of shape {x.shape}" if hasattr(x, "shape") else f"a {type(x).__name__}"


def leaves_like(structure: tree.Structure, direction: Any, what: str) -> list[Any]:
    """The leaves of `given`, which has this structure, but may hold None (a zero) in the place of any part.

    Where a list or tuple belongs, an array with as many rows (or the other of the two) is as good: it is
    indexed like that.
    """
    if structure is tree.LEAF and (direction is None or hasattr(direction, "dtype")):
        return [direction]
    try:
        return direction_leaves(structure, _by_index(structure, direction), what)
    except ValueError as error:
        raise RuleError(
            f"{error}. It needs the structure of what it belongs to, with None for zeros."
        ) from None


def _by_index(structure: tree.Structure, direction: Any) -> Any:
    """`given`, with lists and tuples where `structure` has them."""
    kind, children = structure.node_type, structure.children
    is_array = getattr(direction, "ndim", 0) > 0
    if kind not in (list, tuple) or not is_array and type(direction) not in (list, tuple):
        return direction
    if len(direction) != len(children):
        return direction
    return kind([_by_index(child, direction[i]) for i, child in enumerate(children)])


def checked(part: Any, to: Spec, what: str, whose: str) -> Any:
    """A cotangent or tangent that a rule returned, fit for the value it belongs to."""
    if isinstance(part, (bool, int, float, complex)):
        part = np.asarray(part)
    dtype = getattr(part, "dtype", None)
    if dtype == float0 or not is_inexact(to):
        return None
    if dtype is None or dtype.kind not in "fciub":
        raise RuleError(
            f"{what} is {described(part) if dtype is None else f'an array of {dtype}'}, not an array of numbers"
        )
    if part.shape != to.shape:
        raise RuleError(
            f"{what} has shape {part.shape}, but {whose} has shape {to.shape}. Give exactly that shape: where the "
            "function broadcasts, sum the cotangent over the axes that were repeated (np.broadcast_to a tangent)."
        )
    if dtype.kind == "c" and to.dtype.kind != "c":
        raise RuleError(f"{what} has dtype {dtype}, but {whose} is real ({to.dtype}); return its real part")
    return part if dtype == to.dtype else part.astype(to.dtype)
