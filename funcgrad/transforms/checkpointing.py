"""checkpoint: forget what a function computed, and compute it again in the backward sweep.

The function runs once on values without derivatives, and what it calls is written down (programs.py). The
tape gets one node for it, which keeps the inputs, and what the function closes over. The sweep runs the
program again, on a tape that lives only until it is swept. So a chain of n layers, in segments of sqrt(n),
needs memory for about 2 sqrt(n) layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from funcgrad import tree
from funcgrad.core.engine.batch import BatchTrace
from funcgrad.core.engine.forward import ForwardTrace
from funcgrad.core.engine.named import Linear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.reverse import ReverseTrace
from funcgrad.core.engine.sweep import Node, sweep
from funcgrad.core.engine.trace import Trace, Tracer, bind, innermost
from funcgrad.errors import ArgumentError
from funcgrad.transforms.opaque import OpaqueCall, Outputs, PullCall, StandIn, flat_call
from funcgrad.transforms.programs import Keep, Transcript, write_down
from funcgrad.transforms.transposition import LinearTrace, node_of
from funcgrad.transforms.wrapping import Transformed, name_of
from funcgrad.typed import override

P = ParamSpec("P")
R = TypeVar("R")
Policy = Callable[[str], bool] | Iterable[str] | None


class CheckpointCall(PullCall):
    """One call of a checkpointed function. Its outputs are `count` results, and then what the policy keeps."""

    def __init__(
        self, name: str, program: Callable[..., list[Any]], count: int, values: Sequence[Any] | None
    ) -> None:
        super().__init__(name)
        self.program, self.count, self.values = program, count, values

    @override
    def run(self, call: Call) -> list[Any]:
        """The outputs: those that the function has just given, if this is the first run."""
        values, self.values = self.values, None
        return self.program(call.operands) if values is None else list(values)

    @override
    def fwd(self, operands: Sequence[Any], slots: Sequence[int], trace: Trace) -> Outputs:
        outs = bind(self, flat_call(operands))
        self.values = None  # forward mode has no use for them
        return outs, (operands, outs[self.count :])

    @override
    def bwd(self, residuals: Any, cts: Sequence[Any], slots: Sequence[int]) -> Sequence[Any]:
        operands, kept = residuals
        with ReverseTrace() as trace:
            inputs = list(operands)
            for i in slots:
                inputs[i] = trace.leaf(inputs[i])
            nodes = [inputs[i]._node for i in slots]
            ends = [node_of(trace, o) for o in self.program(inputs, kept)]
        leaves = sweep(
            [(n, ct) for n, ct in zip(ends, cts, strict=True) if n and ct is not None], release=True
        )
        return [leaves.get(n) for n in nodes]

    @override
    def on_reverse(
        self, trace: ReverseTrace, call: Call, slots: tuple[int, ...], parents: tuple[Node, ...]
    ) -> list[Any]:
        if isinstance(trace, LinearTrace):  # which has to see every step
            return self._inlined(trace, call, dict(zip(slots, parents, strict=True)))
        return super().on_reverse(trace, call, slots, parents)

    @override
    def on_forward(self, trace: ForwardTrace, call: Call, tangents: dict[int, Any]) -> list[Any]:
        # which keeps nothing: there is nothing to save by a second run
        return self._inlined(trace, call, tangents)

    def _inlined(self, trace: Trace, call: Call, nodes: dict[int, Any]) -> list[Any]:
        outs = self.program(
            [trace.wrap(x, nodes[i]) if i in nodes else x for i, x in enumerate(call.operands)]
        )
        return [o if isinstance(o, Tracer) and o._trace is trace else trace.constant(o) for o in outs]

    @override
    def batched(self, trace: BatchTrace, flags: Sequence[bool]) -> OpaqueCall:
        def program(operands: Sequence[Any], kept: Sequence[Any] = ()) -> list[Any]:
            with StandIn(trace) as batch:
                return batch.taken(self.program(batch.given(operands, flags)))

        values, self.values = self.values, None
        return CheckpointCall(self.name, program, self.count, values and StandIn(trace).taken(values))


class Checkpoint(Transformed):
    """See `checkpoint`."""

    transform = "checkpoint"

    def __init__(self, fun: Callable[..., Any], policy: Policy = None) -> None:
        super().__init__(fun)
        self.policy = policy if policy is None or callable(policy) else _names(policy)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten((args, kwargs))
        if any(map(runs_forward, leaves)):
            return self.fun(*args, **kwargs)
        del args, kwargs
        returned: list[tree.Structure] = []

        def flat(values: list[Any]) -> list[Any]:
            args, kwargs = tree.unflatten(structure, values)
            outs, out_structure = tree.flatten(self.fun(*args, **kwargs))
            returned.append(out_structure)
            return outs

        recording = write_down(flat, leaves, self._keep())
        return tree.unflatten(returned[0], recording.program.filled(self._bound(recording)))

    def _bound(self, recording: Transcript) -> list[Any]:
        if innermost(recording.operands) is None:
            return recording.values
        title = f"checkpoint of {name_of(self.fun)}"
        call = CheckpointCall(title, recording.program, len(recording.program.results), recording.values)
        return bind(call, flat_call(recording.operands))

    def _keep(self) -> Keep | None:
        return self.policy.__contains__ if isinstance(self.policy, frozenset) else self.policy


def _names(policy: Any) -> frozenset[str]:
    names = (
        (policy,) if isinstance(policy, str) else tuple(policy) if isinstance(policy, Iterable) else (policy,)
    )
    if not all(isinstance(name, str) for name in names):
        raise ArgumentError(
            f"checkpoint: policy must be a function of a name, or names such as 'matmul', not {policy!r}"
        )
    return frozenset(names)


def runs_forward(x: Any) -> bool:
    """Is the innermost derivative of `x` one that does not keep what was computed?"""
    while isinstance(x, Tracer) and isinstance(x._trace, BatchTrace):
        x = x._value
    return isinstance(x, Tracer) and isinstance(x._trace, (ForwardTrace, LinearTrace))


@overload
def checkpoint(fun: Callable[P, R], *, policy: Policy = None) -> Callable[P, R]: ...
@overload
def checkpoint(fun: None = None, *, policy: Policy = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def checkpoint(fun: Any = None, *, policy: Policy = None) -> Any:
    """`fun`, computed again in the backward sweep instead of being kept on the tape.

    Args:
        fun: the function; arguments and output are pytrees. It must not assign into its arguments.
        policy: what is kept all the same: names of NumPy functions with one output ("matmul",
            "linalg.solve"), names given with `checkpoint_name`, or a function that says of a name whether it
            is kept. Nothing by default.

    Returns:
        The function. It may close over tracers, be nested, and be used under every transform, to any order;
        forward mode, which keeps nothing, runs `fun` as it is. Branches and random numbers are those of the
        first run.

    Raises:
        RuleError: `fun` assigned into one of its arguments.
        ArgumentError: a policy that is neither names nor a function.

    Also a decorator: `@checkpoint`, `@checkpoint(policy=["matmul"])`.

    >>> import numpy as np, funcgrad as fg
    >>> layer = fg.checkpoint(lambda w, x: np.tanh(w @ x))
    >>> fg.grad(lambda w: np.sum(layer(w, layer(w, np.zeros(2)))))(np.eye(2))
    array([[0., 0.],
           [0., 0.]])
    """
    return (lambda f: Checkpoint(f, policy)) if fun is None else Checkpoint(fun, policy)


def _tagged(x: Any, name: str) -> Any:
    return x


TAGGED = Primitive(
    _tagged, Linear({"x": lambda ct, x: ct}, moves=True), batch="aligned", name="checkpoint_name"
)


def checkpoint_name(x: Any, name: str) -> Any:
    """`x` (a pytree), tagged for the policy of `checkpoint`: where that names it, it is kept.

    >>> import numpy as np, funcgrad as fg
    >>> f = fg.checkpoint(lambda x: np.sin(fg.checkpoint_name(np.exp(x), "exponential")), policy=["exponential"])
    >>> float(fg.grad(f)(0.0)) == float(np.cos(1.0))
    True
    """
    if not isinstance(name, str):
        raise ArgumentError(f"checkpoint_name: the name must be a str, for a policy to find it, not {name!r}")
    return tree.map(lambda leaf: TAGGED(leaf, name), x)
