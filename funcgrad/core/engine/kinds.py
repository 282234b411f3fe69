"""The rule kinds: the mathematics of a function picks its kind, the kind does the work.

A rule is a linear map in two directions, `push` (tangents forward) and `pull` (cotangents back). The formulas
that declare it are plain NumPy, and the *names of their parameters* say what they need: operands, `out`, or a
parameter of the call. Only that is kept on the tape. So a formula that runs on tracers is itself recorded
(higher order is no special case).

    Elementwise         one partial derivative for each operand (x, y, z): push and pull multiply by it
    Selection           an elementwise choice: weights in [0, 1]; a weight of 0 is a zero by structure
    Linear              push is the function itself; the transpose sees shapes, never values
    Multilinear         linear in each operand: one transpose for each
    Custom              pull is given; push too, or it is pull transposed
    PiecewiseConstant   no derivative: the result is constant where it is smooth
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.core.arrays.spec import Spec
from funcgrad.core.engine.cotangent import Masked, added, fit, select
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.trace import is_foreign
from funcgrad.core.lanes.pulls import elementwise_pull, general_pull, masked_pull
from funcgrad.core.lanes.recordings import RECORDINGS
from funcgrad.core.memory.chunks import pulled_in_chunks, pushed_in_chunks
from funcgrad.core.memory.plain import LARGE, PLAIN_PARTS, broadcast, loud, ndarray, quiet
from funcgrad.errors import NonDifferentiableError, user_line
from funcgrad.typed import override

if TYPE_CHECKING:
    from funcgrad.core.engine.primitive import Primitive

Formula = Callable[..., Any]


def names_in(formula: Formula) -> tuple[str, ...]:
    """The parameters of a formula, without the leading `ct` (or `t`)."""
    formula = inspect.unwrap(formula)
    code = getattr(formula, "__code__", None)  # 50x faster than inspect.signature
    if code is None or hasattr(formula, "__signature__"):
        names = tuple(inspect.signature(formula).parameters)
    else:
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return names[1:] if names[:1] in (("ct",), ("t",)) else names


def _takes_cotangent(formula: Formula) -> bool:
    code = getattr(inspect.unwrap(formula), "__code__", None)
    return code is not None and code.co_varnames[: code.co_argcount][:1] == ("ct",)


class Plan:
    """What a primitive does on a reverse trace for one set of traced positions: what to save, how to pull."""

    __slots__ = (
        "constants",
        "keeps",
        "lane_save",
        "layout",
        "masks",
        "primitive",
        "pull",
        "pull_foreign",
        "pull_masked",
        "save",
        "slots",
    )

    def __init__(self, primitive: Primitive, slots: tuple[int, ...]) -> None:
        self.primitive, self.slots = primitive, slots
        self.keeps: tuple[str, ...] = ()  # the names whose values are saved
        self.constants: tuple[int, ...] = ()  # the untraced operands among them
        self.masks = True  # does its pull ask which zeros of a cotangent are zero by structure?
        self.lane_save = ""
        self.layout: Any = ()  # the names of the operands, as in a Call
        self.save: Callable[[Call, Any], Any]
        self.pull: Callable[[Any, Any], Sequence[Any]]
        self.pull_masked: Callable[[Masked, Any], Sequence[Any]]
        # of a cotangent of another library, or of the small value that it repeats (None: as any other)
        self.pull_foreign: Callable[[Any, Any], Sequence[Any]] | None = None

    @property
    def name(self) -> str:
        """What was called, for messages."""
        return self.primitive.title


def at_first_pull(plan: Plan, name: str, make: Callable[[], Any], meanwhile: Any = None) -> None:
    """Give a plan a pull that is made when it is first called.

    With `meanwhile`, when it was called often, or is given a large array (whose buffer it may use again). Copies
    of the plan join its `holders`, which all get what was made.
    """
    calls, holders = OFTEN if meanwhile else 0, [plan]

    def first(ct: Any, saved: Any) -> Any:
        nonlocal calls
        calls -= 1
        if calls > 0 and not RECORDINGS.running and (type(ct) is not ndarray or ct.size < LARGE):
            return meanwhile(ct, saved)
        pull = make()
        for holder in holders:
            setattr(holder, name, pull)
        return pull(ct, saved)

    vars(first)["holders"] = holders
    setattr(plan, name, first)


OFTEN = 100  # pulls, which take as long as to make one


class Rule:
    """The derivative of a primitive."""

    kind = ""
    is_constant = False
    pushes = True  # False where forward mode has to transpose `pull`
    # positions of operands on which the result depends only piecewise constantly
    ignores: frozenset[int] = frozenset()
    # positions of operands in which nobody knows the derivative, and what these are
    unknown: Mapping[int, str] = {}
    squared: Primitive | None = None  # of a root: its square, as a function of the same operands (roots.py)
    # of a product or contraction: what it is, given the elementwise product of its operands (roots.py)
    of_square: Callable[..., Any] | None = None

    def check(self, primitive: Primitive) -> None:
        """Refuse, when it is declared, a rule whose names don't fit its primitive."""

    def plan(self, primitive: Primitive, slots: tuple[int, ...], call: Call) -> Plan:
        """The plan for these traced positions."""
        raise NotImplementedError

    def push(self, primitive: Primitive, call: Call, out: Any, tangents: dict[int, Any]) -> Any:
        """The tangent of `out`, given the tangents of some operands (None if it is zero)."""
        raise NotImplementedError


class Unknown:
    """A partial derivative that has no known closed form: needing it is an error, which names the operand."""

    __slots__ = ("operand",)

    def __init__(self, operand: str) -> None:
        self.operand = operand


Partial = Formula | float | Unknown | None


class Elementwise(Rule):
    """d out = sum of partial_i * d operand_i.

    A partial is a formula of x, y, z, out; a number if it is constant; None if it is 0; Unknown if it is
    refused. A formula that begins with `ct` gives the product with it: where the partial alone could
    overflow, as in 1 / y**2.
    """

    kind = "elementwise"
    in_chunks = True  # may its formulas be run on the chunks of lazy arrays?

    def __init__(self, partials: Sequence[Partial]) -> None:
        self.partials = tuple(partials)
        self.names = tuple(names_in(p) if callable(p) else () for p in self.partials)
        self.applied = frozenset(
            i for i, p in enumerate(self.partials) if callable(p) and _takes_cotangent(p)
        )
        self.ignores = frozenset(i for i, p in enumerate(self.partials) if p is None)
        self.unknown = {i: p.operand for i, p in enumerate(self.partials) if isinstance(p, Unknown)}

    @override
    def check(self, primitive: Primitive) -> None:
        allowed = (*primitive.operand_names, "out")
        for names in self.names:
            if not set(names) <= set(allowed):
                raise ValueError(f"{primitive.name}: an elementwise partial may name {allowed}, not {names}")

    @override
    def plan(self, primitive: Primitive, slots: tuple[int, ...], call: Call) -> Plan:
        self._check_known(primitive, slots)
        plan = Plan(primitive, slots)
        operands = primitive.operand_names
        plan.keeps = tuple(n for n in (*operands, "out") if any(n in self.names[i] for i in slots))
        plan.lane_save = f"({''.join(n + ', ' for n in plan.keeps)})"
        where = {n: i for i, n in enumerate(operands)}
        plan.constants = tuple(where[n] for n in plan.keeps if n in where and where[n] not in slots)
        keeps = plan.keeps
        plan.save = lambda call, out: tuple(out if n == "out" else call.operands[where[n]] for n in keeps)
        general = general_pull(self, slots, keeps)
        at_first_pull(plan, "pull", lambda: self.pull_of(primitive, slots, keeps), general)
        at_first_pull(plan, "pull_masked", lambda: self.masked_pull_of(primitive, slots, keeps))
        plan.pull_foreign = lambda ct, saved: pulled_in_chunks(self, plan, ct, saved)
        return plan

    def _check_known(self, primitive: Primitive, slots: Iterable[int]) -> None:
        for i in self.unknown.keys() & set(slots):
            raise NonDifferentiableError(
                f"{primitive.title} has no known derivative in {self.unknown[i]}, which depends on a tracer at "
                f"{user_line()}. Use funcgrad.stop_gradient on it if its derivative is not meant to count."
            )

    def partial(self, slot: int, values: dict[str, Any]) -> Any:
        """The partial derivative in operand `slot`: a value, or a function that multiplies by it."""
        p = self.partials[slot]
        if not callable(p):
            return p
        needed = [values[n] for n in self.names[slot]]
        return (lambda ct: p(ct, *needed)) if slot in self.applied else p(*needed)

    def times(self, ct: Any, partial: Any) -> Any:
        """A cotangent or tangent times a partial."""
        if partial is None:
            return None
        if type(ct) is not Masked:
            return partial(ct) if callable(partial) else ct * partial
        if type(partial) in (int, float) and math.isfinite(partial):  # keeps zeros zero
            return Masked(ct.value if partial == 1 else ct.value * partial, ct.live)
        return ct.times(partial)

    def pull_of(self, primitive: Primitive, slots: tuple[int, ...], keeps: tuple[str, ...]) -> Any:
        """The pull of a cotangent."""
        return elementwise_pull(self, primitive.name, slots, keeps)

    def masked_pull_of(self, primitive: Primitive, slots: tuple[int, ...], keeps: tuple[str, ...]) -> Any:
        """The pull of a cotangent with zeros by structure."""
        return masked_pull(self, primitive.name, slots, keeps)

    @override
    def push(self, primitive: Primitive, call: Call, out: Any, tangents: dict[int, Any]) -> Any:
        self._check_known(primitive, tangents)
        values = {**dict(zip(primitive.operand_names, call.operands, strict=True)), "out": out}
        if type(out) not in PLAIN_PARTS and is_foreign(out):
            terms = pushed_in_chunks(self, primitive.function, values, tangents, out)
            return total([term for term in terms if term is not None], out)
        token = quiet() if Masked in map(type, tangents.values()) else None
        try:
            terms = [self.times(t, self.partial(i, values)) for i, t in tangents.items()]
        finally:
            if token is not None:
                loud(token)
        return total([term for term in terms if term is not None], out)


OPERANDS = ("x", "y", "z")


class Selection(Elementwise):
    """A choice among the operands: a weight of 0 means "not taken", and contributes a zero by structure."""

    kind = "selection"
    in_chunks = False

    @override
    def times(self, ct: Any, partial: Any) -> Any:
        if partial is None:
            return None
        live, value = partial, ct
        if type(ct) is Masked:
            live, value = np.logical_and(partial, ct.live), ct.value
        if partial.dtype != bool:
            token = quiet()  # inf * 0, where nothing is taken
            live, value = live != 0, value * partial
            loud(token)
        return select(live, value)

    @override
    def pull_of(self, primitive: Primitive, slots: tuple[int, ...], keeps: tuple[str, ...]) -> Any:
        def pull(ct: Any, saved: Any) -> list[Any]:
            values = dict(zip(keeps, saved, strict=True))
            return [self.times(ct, self.partial(i, values)) for i in slots]

        return pull

    masked_pull_of = pull_of


class PiecewiseConstant(Rule):
    """No derivative: comparisons, rounding, argmax. Its result is constant wherever it is smooth."""

    kind = "piecewise constant"
    is_constant = True


def total(terms: Sequence[Any], out: Any) -> Any:
    """The sum of tangent terms, with the shape and dtype of `out`; what all of them mask stays masked."""
    if not terms:
        return None
    if any(type(t) is Masked for t in terms):
        return reduce(added, [fit_tangent(t, out) for t in terms])
    result = reduce(lambda s, t: s + t, terms)
    return fit_tangent(result, out)


def fit_tangent(t: Any, out: Any) -> Any:
    """A tangent with the shape and dtype of its value: broadcast, never summed."""
    if type(t) is Masked:
        return Masked(
            fit_tangent(t.value, out), broadcast(t.live, out.shape) if t.live.shape != out.shape else t.live
        )
    if not hasattr(t, "shape"):
        t = np.asarray(t)
    if t.shape != out.shape:
        t = broadcast(t, out.shape)
    return t if t.dtype == out.dtype else fit(t, Spec(t.shape, out.dtype))
