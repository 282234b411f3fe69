"""A compiled function beneath other transforms: called with tracers, it is one step for the engine.

Each way in which a transform may ask for it (flat.py) is a function of its own, compiled when it is first
called. So every order and every nesting follow. Where a tape is kept, the derivative is recorded as a whole
and parted in two (halves.py).

Inside another `jit`, and where it closes over tracers, a compiled function is the function that it was made
from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compiler.compiling import Compiled, Jit
from funcgrad.compiler.engines import Engine
from funcgrad.compiler.flat import Batched, Flat, Layout, Pulled, Pushed, is_array
from funcgrad.compiler.halves import Forward
from funcgrad.compiler.recorder import ClosedOver
from funcgrad.compiler.signature import arguments, quick_test
from funcgrad.core.engine.batch import BatchTrace
from funcgrad.core.engine.cotangent import Masked, settled
from funcgrad.core.engine.kinds import Plan
from funcgrad.core.engine.primitive import Call
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.sweep import Node, make_node
from funcgrad.core.engine.trace import Trace, Tracer, bind, lower, snapshot
from funcgrad.core.memory.blank import BlankTracer
from funcgrad.errors import ImpureFunctionError
from funcgrad.transforms.opaque import Outputs, PullCall, flat_call
from funcgrad.transforms.transposition import LinearTrace

Values = Sequence[Any]


class Family:
    """The functions that are made of one flat function, each compiled when it is first called."""

    def __init__(self, fun: Callable[..., Any], engine: Engine) -> None:
        self.fun, self.engine = fun, engine
        self.made: dict[Any, Any] = {}
        self.value = Strict(fun, engine)

    def push(self, slots: tuple[int, ...]) -> Jit:
        """See `Pushed`."""
        return self._of(("push", slots), lambda: Strict(Pushed(self.fun, slots), self.engine))

    def pull(self, slots: tuple[int, ...], kinds: tuple[int, ...]) -> Jit:
        """See `Pulled`; it runs in a sweep, too late for another way."""
        return self._of(
            ("pull", slots, kinds), lambda: Jit(Pulled(self.fun, slots, kinds), frozenset(), self.engine)
        )

    def forward(self, slots: tuple[int, ...]) -> Strict:
        """See `Forward`."""
        return self._of(
            ("forward", slots), lambda: Strict(Forward(self.fun, slots, self.engine), self.engine)
        )

    def batched(self, flags: tuple[bool, ...]) -> Family:
        """The family for whole batches."""
        return self._of(("batched", flags), lambda: Family(Batched(self.fun, flags), self.engine))

    def _of(self, key: Any, make: Callable[[], Any]) -> Any:
        found = self.made.get(key)
        return self.made.setdefault(key, make()) if found is None else found


class Strict(Jit):
    """A compiled function that raises ClosedOver where it would have to run eagerly."""

    def __init__(self, fun: Callable[..., Any], engine: Engine) -> None:
        super().__init__(fun, frozenset(), engine)
        self.fitting: Any = (None, None)  # (a quick test of arguments, what is known for those)

    def new(self) -> Compiled:
        return Compiled(self.fun, self.engine, strict=True)

    def surroundings(self, args: Values) -> Any:
        """What it closes over, as it was when it was called with these arguments."""
        fits, compiled = self.fitting
        if fits is not None and fits(args):
            return compiled.environment
        given = arguments(tuple(args), {})
        assert given is not None
        compiled = self.compiled[given.key]
        self.fitting = quick_test(args), compiled
        return compiled.environment


class JitCall(PullCall):
    """One call of a compiled function.

    `told` gets how its leaves make up the result, and those that are no arrays.
    """

    def __init__(self, name: str, family: Family, told: list[Any]) -> None:
        super().__init__(name)
        self.family, self.told = family, told

    def arrays(self, outs: list[Any], layout: Layout) -> list[Any]:
        """The leaves that traces care for; how the others lie among them is noted."""
        mine = [is_array(o) for o in outs]
        self.told[:] = [layout.structure, [None if m else (o,) for o, m in zip(outs, mine)]]
        return outs if all(mine) else [o for o, m in zip(outs, mine) if m]

    def run(self, call: Call) -> list[Any]:
        return self.arrays(*self.family.value(*call.operands))

    def on_reverse(
        self, trace: ReverseTrace, call: Call, slots: tuple[int, ...], parents: tuple[Node, ...]
    ) -> list[Any]:
        if not slots:
            return [trace.constant(lower(trace, o)) for o in bind(self, call)]
        operands = [
            trace.guard.keep(x) if type(x) is np.ndarray and i not in slots else x
            for i, x in enumerate(call.operands)
        ]
        outs, residuals = self.fwd(operands, slots, trace)
        plan = JitPlan(self, slots, only=len(outs) == 1)
        if len(outs) != 1 or outs[0].dtype.kind not in "fc":
            return trace.record_outputs(plan, residuals, parents, [lower(trace, o) for o in outs])
        out = lower(trace, outs[0])
        return [
            trace.wrap(out, make_node(next(trace.numbers), plan, residuals, parents, out.shape, out.dtype))
        ]

    def fwd(self, operands: Values, slots: Sequence[int], trace: Trace) -> Outputs:
        if any(isinstance(x, Tracer) for x in operands):
            operands = [snapshot(x) if isinstance(x, Tracer) else x for x in operands]
            return bind(self, flat_call(operands)), (operands, None, (), None)
        forward = self.family.forward(tuple(slots))
        outs, kept, half, layout = forward(*operands)
        if half is not None and half.constants:
            kept = [*kept, *half.outside(trace)]
        return self.arrays(outs, layout), (operands, half, kept, forward.surroundings(operands))

    def bwd(self, residuals: Any, cts: Values, slots: Sequence[int]) -> Values:
        operands, half, kept, environment = residuals
        if half is not None and not any(isinstance(ct, Tracer) for ct in cts):
            dense, is_exact = half.dense(cts)
            if not any(isinstance(ct, Tracer) for ct in dense):
                with nullcontext() if is_exact else np.errstate(all="ignore"):
                    parts = half.run(operands, kept, dense)
                if is_exact or all(part is None or np.isfinite(part).all() for part in parts):
                    return parts
        changed = None if environment is None else environment.change()
        if changed is not None:
            raise ImpureFunctionError(
                f"{self.name} closes over {changed}, which has changed since it was called; its derivative needs the old "
                "value. Pass it as an argument."
            )
        kinds = tuple([0 if ct is None else 2 if type(ct) is Masked else 1 for ct in cts])
        values: list[Any] = []
        for ct in cts:
            values += [ct.value, ct.live] if type(ct) is Masked else [] if ct is None else [ct]
        return self.family.pull(tuple(slots), kinds)(*operands, *values)

    def jvp(self, operands: Values, tangents: dict[int, Any], trace: Trace) -> Outputs:
        outs, ts, layout = self.family.push(tuple(tangents))(*operands, *tangents.values())
        ts = [Masked(*t) if type(t) is list else t for t in ts]
        return self.arrays(outs, layout), [t for o, t in zip(outs, ts) if is_array(o)]

    def batched(self, trace: BatchTrace, flags: Sequence[bool]) -> JitCall:
        return JitCall(self.name, self.family.batched(tuple(flags)), self.told)


class JitPlan(Plan):
    """The plan of a call's node: zeros by structure are told apart also within. `only`: it has one result."""

    __slots__ = ("call",)

    def __init__(self, call: JitCall, slots: tuple[int, ...], *, only: bool) -> None:
        self.call, self.slots, self.keeps, self.masks = call, slots, ("residuals",), True
        self.pull = self._pull_one if only else self._pull
        self.pull_masked = self._pull_one

    def _pull_one(self, ct: Any, saved: Any) -> Any:
        return self.call.bwd(saved, (ct,), self.slots)

    def _pull(self, cts: list[Any], saved: Any) -> Any:
        return self.call.bwd(saved, [None if ct is None else settled(ct) for ct in cts], self.slots)

    def raised(self, node: Node, wrap: Callable[[Any, Node], Any]) -> Any:
        """What `node` saved, with tracers in the place of operands that depend on something."""
        operands, _, _, environment = node.saved
        operands = list(operands)
        for i, parent in zip(self.slots, node.parents, strict=True):
            operands[i] = wrap(operands[i], parent)
        return operands, None, (), environment

    @property
    def name(self) -> str:
        return self.call.name


def called(jitted: Jit, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a compiled function gives, some of whose arguments are tracers."""
    given = arguments(args, kwargs, jitted.static, traced=True)
    assert given is not None
    values = [x._value if isinstance(x, BlankTracer) else x for x in given.values]
    tracers = [x for x in values if isinstance(x, Tracer)]
    if not tracers:
        args, kwargs = given.rebuilt(values)
        return jitted(*args, **kwargs)
    if not any(map(_is_inlined, tracers)):
        family = jitted.families.get(given.key)
        if family is None:
            fun = Flat(jitted.fun, given.without_values())
            family = jitted.families.setdefault(given.key, Family(fun, jitted.engine))
        told: list[Any] = []
        try:
            outs = iter(bind(JitCall(repr(jitted), family, told), flat_call(values)))
        except ClosedOver:
            if isinstance(jitted, Strict):
                raise
        else:
            structure, others = told
            return tree.unflatten(structure, [next(outs) if o is None else o[0] for o in others])
    # in cells of its own: what the function writes into its arguments, the caller does not see
    args, kwargs = given.rebuilt([snapshot(x) if isinstance(x, Tracer) else _own(x) for x in values])
    return jitted.fun(*args, **kwargs)


def _own(x: Any) -> Any:
    return x.copy("K") if isinstance(x, np.ndarray) else x


def _is_inlined(x: Any) -> bool:
    """Is `x` a tracer of something that has to see every step?"""
    while isinstance(x, Tracer):
        if x._is_recorded or isinstance(x._trace, LinearTrace) or not x._trace.is_open:
            return True
        x = x._value
    return False


Jit.beneath = called
