"""vmap's trace: every call runs once for the whole batch, by one of a few strategies.

Axis 0 of a batch tracer's value is the batch (it is moved there once, at the door). `shape` is the shape of
*one example*, so that user code and rules can't tell. A primitive names its strategy; without one it is run
example by example, which is always right and slow.

    "aligned"     elementwise: pad the ranks so that the batch axes meet
    "axis"        a function along an axis (or axes): the axis moves by one
    "leading"     a function of the last axes (linalg): the batch is one more leading axis
    a function    (primitive, call, batched, size) -> output with the batch at axis 0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad.core.arrays.spec import spec
from funcgrad.core.engine.named import Linear
from funcgrad.core.engine.primitive import Call, Opaque, Primitive
from funcgrad.core.engine.trace import Trace, Tracer, bind, lower, rebuilt
from funcgrad.core.memory.layout import repeated
from funcgrad.core.memory.looks import Look
from funcgrad.core.memory.views import FILLED, is_scalar
from funcgrad.errors import BEGIN, BatchedControlFlowError, user_line
from funcgrad.typed import override

Strategy = Callable[[Primitive, Call, Sequence[bool], int], Any]


class BatchTracer(Tracer):
    """A tracer of a batch trace: `_value` holds all examples, along axis 0."""

    __slots__ = ()
    _is_batch = True
    _trace: BatchTrace

    @Tracer.shape.getter
    def shape(self) -> tuple[int, ...]:
        return self._value.shape[1:]

    @property
    @override
    def ndim(self) -> int:
        return self._value.ndim - 1

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {self._trace.size} examples)"

    def __float__(self) -> float:
        return self._question(
            "float(x)", f"Use NumPy's functions (np.where for `if`); to write x into an array, {BEGIN}"
        )

    @override
    def _question(
        self,
        what: str,
        instead: str = "Write np.where(condition, a, b) instead of `if`, index with np.take_along_axis or x[i] instead of int(i)",
    ) -> Any:
        raise BatchedControlFlowError(
            f"{what} at {user_line()} needs one value, but under vmap x stands for {self._trace.size} examples at once. "
            f"{instead}, or loop over the examples instead of using vmap."
        )


def is_batched(x: Any) -> bool:
    """Is a vmap among the traces of `x`? Then its values can't be asked for: they differ between examples."""
    while isinstance(x, Tracer):
        if isinstance(x, BatchTracer):
            return True
        x = x._value
    return False


class BatchTrace(Trace):
    """Runs each call on all `size` examples."""

    __slots__ = ("size",)
    transform = "vmap"
    tracer_type = BatchTracer

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    @override
    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        batched, operands = [], []
        for x in call.operands:
            batched.append(isinstance(x, Tracer) and x._trace is self)
            operands.append(lower(self, x))
        lowered = call.with_operands(operands)
        if isinstance(primitive, Opaque):
            return primitive.on_batch(self, lowered, batched)
        out = self.by_strategy(primitive, lowered, batched)
        gives_array = primitive.gives_array and (
            primitive.gives_array is True or not is_scalar(call.operands[0])
        )
        if gives_array and isinstance(out, Tracer) and not out.shape:
            out._alias = FILLED  # an array without axes, not a scalar
        return out

    def by_strategy(self, primitive: Primitive, call: Call, batched: Sequence[bool]) -> Any:
        """The tracers of what the strategy of `primitive` makes of these values."""
        strategy = STRATEGIES.get(primitive.batch, primitive.batch) or one_by_one
        return self._wrapped(strategy(primitive, call, batched, self.size))

    def _wrapped(self, out: Any) -> Any:
        if type(out) is np.ndarray:
            return self.wrap(out, None)
        if isinstance(out, (tuple, list)):
            return rebuilt(out, [self._wrapped(o) for o in out])
        return self.wrap(out, None)

    @override
    def wrap(self, value: Any, node: Any) -> Any:
        # What an outer trace hands out may be a look: beneath a tracer it is the plain array.
        return super().wrap(value.view(np.ndarray) if type(value) is Look else value, node)

    @override
    def constant(self, value: Any) -> Any:
        return value


def one_by_one(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """Run the examples one after the other and stack the results: always right."""
    if size == 0:
        return _none_at_all(primitive, call, batched)
    outs = []
    for k in range(size):
        operands = [x[k] if is_batched else x for x, is_batched in zip(call.operands, batched, strict=True)]
        outs.append(bind(primitive, call.with_operands(operands)))
    return stacked(outs)


def stacked(outs: Sequence[Any]) -> Any:
    """The results of all examples as one array (or one container of arrays)."""
    if isinstance(outs[0], (tuple, list)):
        return rebuilt(outs[0], [stacked(list(parts)) for parts in zip(*outs, strict=True)])
    shapes = sorted({spec(o).shape for o in outs})
    if len(shapes) > 1:
        raise BatchedControlFlowError(
            f"the examples of a vmap gave results of different shapes ({', '.join(map(str, shapes))}) at "
            f"{user_line()}, as x[mask] does. Write np.where(mask, x, 0) instead, or loop over the examples."
        )
    return np.stack(outs)


def _none_at_all(primitive: Primitive, call: Call, batched: Sequence[bool]) -> Any:
    operands = [
        np.ones(x.shape[1:], x.dtype) if b else x for x, b in zip(call.operands, batched, strict=True)
    ]
    out = bind(primitive, call.with_operands(operands))
    if isinstance(out, (tuple, list)):
        return rebuilt(out, [np.zeros((0, *np.shape(o)), o.dtype) for o in out])
    return np.zeros((0, *np.shape(out)), out.dtype)


def aligned(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """Elementwise: examples of lower rank get axes of length 1 behind the batch axis."""
    operands = align(call.operands, batched)
    return bind(primitive, call.with_operands(operands))


def align(operands: Sequence[Any], batched: Sequence[bool]) -> list[Any]:
    """Operands whose batch axes meet under NumPy's broadcasting."""
    rank = max((ndim_of(x) - b for x, b in zip(operands, batched, strict=True)), default=0)
    return [padded(x, rank) if b else x for x, b in zip(operands, batched, strict=True)]


def ndim_of(x: Any) -> int:
    """How many axes `x` has, a Python number included."""
    return x.ndim if hasattr(x, "ndim") else np.ndim(x)


def padded(x: Any, rank: int) -> Any:
    """`x` with axes of length 1 behind the batch axis, so that one example has `rank` axes."""
    missing = rank + 1 - x.ndim
    return x.reshape(x.shape[:1] + (1,) * missing + x.shape[1:]) if missing else x


def along_axis(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """A function along `axis` of its first operand: the axis moves by one, and masks with it."""
    x, *rest = call.operands
    if not batched[0]:
        x = np.broadcast_to(x, (size, *spec(x).shape))
    rank = x.ndim - 1
    if any(b and o.ndim - 1 > rank for o, b in zip(rest, batched[1:], strict=True)):
        return one_by_one(primitive, call, batched, size)
    rest = [padded(o, rank) if b and o.ndim > 1 else o for o, b in zip(rest, batched[1:], strict=True)]
    if any(b and o.ndim == 1 for o, b in zip(rest, batched[1:], strict=True)):
        return one_by_one(primitive, call, batched, size)
    axis = call.params.get("axis", primitive.defaults.get("axis"))
    if axis is None:
        if primitive.flattens:
            x, axis = x.reshape(x.shape[0], math.prod(x.shape[1:])), 1
        else:
            axis = tuple(range(1, x.ndim))
    elif isinstance(axis, tuple):
        axis = tuple(a + 1 if a >= 0 else a for a in axis)
    else:
        axis = axis + 1 if axis >= 0 else axis
    return bind(primitive, Call([x, *rest], call.layout, {**call.params, "axis": axis}))


def leading(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """A function of the last axes, that broadcasts over the leading ones: the batch is one more of them.

    An example without axes to spare may be too small for the function, and must not be taken for a row of a
    matrix.
    """
    if batched[0] and ndim_of(call.operands[0]) < 3:
        return one_by_one(primitive, call, batched, size)
    return bind(primitive, call.with_operands(align(call.operands, batched)))


def _batched_repetition(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """The examples of one batch, repeated for another."""
    return np.swapaxes(bind(primitive, call), 0, 1)


# A value as each example of a batch. The examples lie in memory as it does.
REPEATED = Primitive(
    repeated,
    Linear({"x": lambda ct, x, size: ct.sum(axis=0)}, moves=True),
    operands="x",
    batch=_batched_repetition,
)

STRATEGIES: dict[Any, Strategy] = {
    "aligned": aligned,
    "axis": along_axis,
    "leading": leading,
    "one by one": one_by_one,
}
