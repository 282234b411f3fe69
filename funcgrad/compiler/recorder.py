"""The trace of jit: it writes down every call on its tracers, and every question that Python asks them.

It is the outermost trace: what the transforms inside compute with (values, tangents, cotangents, masks,
indices) are its tracers. Unlike theirs, its booleans and integers are tracers, too. So nothing that depends
on the arguments is decided unseen: `if`, `int(x)`, `float(x)` and the shape of `x[mask]` become guards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Self

import numpy as np

from funcgrad.compiler.calls import COMPARISONS, OPERATORS, as_function
from funcgrad.compiler.constants import Constant, same_numbers
from funcgrad.compiler.guards import ANSWERS
from funcgrad.compiler.steps import HERE, Guard, Hole, Spec, Step, filled
from funcgrad.compiler.vocabulary import written, written_flat
from funcgrad.core.arrays.ufunc import Ufunc
from funcgrad.core.engine.catalogue import Composite, Unsupported, known
from funcgrad.core.engine.declare import Query
from funcgrad.core.engine.primitive import Call, Opaque, Primitive
from funcgrad.core.engine.trace import Trace, Tracer, rebuilt
from funcgrad.core.lanes.recordings import RECORDINGS
from funcgrad.core.memory.blank import BlankTracer
from funcgrad.core.memory.indexing import AddAt, GetItem
from funcgrad.core.memory.mutation import overwrite
from funcgrad.core.memory.places import Place
from funcgrad.core.memory.views import IndexStep, ViewStep
from funcgrad.core.messages.conversions import escaped
from funcgrad.errors import UnsupportedFunctionError, user_frame, user_line
from funcgrad.transforms.programs import Ref

PYTHON_NUMBERS = frozenset([bool, int, float, complex])
NUMBERS = (np.ndarray, np.generic, bool, int, float, complex)


class ClosedOver(Exception):
    """The function closes over a tracer of a transform around it: there is nothing to be compiled."""


class JitTracer(Tracer):
    """Stands for an array or number of a program being recorded. `_node` is its Ref; None: a constant."""

    __slots__ = ()
    _is_recorded = True
    _trace: JitTrace

    @property
    def shape(self) -> tuple[int, ...]:
        return getattr(self._value, "shape", ())

    @property
    def dtype(self) -> np.dtype[Any]:
        value = self._value
        return value.dtype if hasattr(value, "dtype") else np.dtype(type(value))

    def __bool__(self) -> bool:
        return self._trace.ask(self, "bool")

    def __int__(self) -> int:
        return self._trace.ask(self, "int")

    def __index__(self) -> int:
        return self._trace.ask(self, "index")

    def __float__(self) -> float:
        return self._trace.ask(self, "float")

    def __complex__(self) -> complex:
        return self._trace.ask(self, "complex")

    def __hash__(self) -> int:
        return hash(self._trace.ask(self, "number"))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._trace.ask(self, "content"), dtype)

    def _question(self, what: str) -> Any:
        return self

    def _text(self) -> Any:
        return np.asarray(self._value)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        made = known(function)
        trace = self._trace
        is_composite = type(made) is Composite and not (
            trace.expands and trace.expanding.isdisjoint([function])
        )
        if made is None or is_composite or isinstance(made, Unsupported):
            out = trace.call(function, args, kwargs)
            if out is not NotImplemented:
                return out
        elif type(made) is Composite:
            trace.expanding.add(function)
            try:
                return super().__array_function__(function, types, args, kwargs)
            finally:
                trace.expanding.discard(function)
        elif isinstance(made, Query):
            args, kwargs = shown(args), shown(kwargs)
            return function(*args, **kwargs)
        return super().__array_function__(function, types, args, kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        made = known(ufunc)
        if made is None or isinstance(made, Unsupported):
            out = self._trace.call(ufunc if method == "__call__" else getattr(ufunc, method), args, kwargs)
            if out is not NotImplemented:
                return out
        return super().__array_ufunc__(ufunc, method, *args, **kwargs)


def shown(x: Any) -> Any:
    """`x` with the plain values of recorded tracers: for questions about shapes, dtypes and memory."""
    if isinstance(x, (tuple, list)):
        return rebuilt(x, [shown(item) for item in x])
    if isinstance(x, dict):
        return {k: shown(v) for k, v in x.items()}
    return x._value if isinstance(x, JitTracer) else x


# The functions that write into their first argument: of these the engine makes item assignments.
WRITERS = frozenset([np.copyto, np.putmask, np.place, np.put, np.put_along_axis, np.fill_diagonal])


class JitTrace(Trace):
    """Writes a program down while it runs: `tape` has steps and guards, `outcomes` the guards' answers."""

    __slots__ = (
        "constants",
        "counter",
        "expanding",
        "expands",
        "given",
        "has_raised",
        "inputs",
        "outcomes",
        "tape",
        "usual",
        "values",
    )
    transform = "jit"
    tracer_type = JitTracer

    def __init__(self, *, expands: bool = False) -> None:
        super().__init__()
        self.expanding: set[Any] = set()
        self.expands = expands  # are functions that are written in terms of others recorded as those?
        self.counter = 0
        self.tape: list[Step | Guard] = []
        self.outcomes: list[Any] = []
        self.inputs: list[tuple[Ref, Spec]] = []
        self.given: list[JitTracer] = []
        self.constants: dict[int, Constant] = {}
        self.usual: Any = np.geterr()
        self.values: dict[Ref, Any] | None = None  # of all that is computed, for who wants to know
        # did something raise an error? If the function caught it, that has decided its way
        self.has_raised = False

    def __enter__(self) -> Self:
        RECORDINGS.begin()
        return super().__enter__()

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        RECORDINGS.end()
        super().__exit__(kind, error, where)

    def ref(self) -> Ref:
        """A name that was not used before."""
        self.counter += 1
        return Ref(self.counter)

    def input(self, value: Any) -> JitTracer:
        """A tracer for an argument."""
        ref = self.ref()
        self.inputs.append((ref, Spec(value)))
        self.given.append(self.wrap(value, ref))
        return self.given[-1]

    def overwritten_inputs(self) -> set[int]:
        """The arguments that were written into, by position."""
        pairs = zip(self.given, self.inputs, strict=True)
        return {i for i, (x, (ref, _)) in enumerate(pairs) if x._trace is not self or x._node is not ref}

    # ---- operands ----------------------------------------------------------------------------------------------------
    def operand(self, x: Any) -> tuple[Any, Any]:
        """What stands for `x` in a step, and its value."""
        if not isinstance(x, Tracer):
            return (self.constant_of(x) if isinstance(x, np.ndarray) else x), x
        value = x._value
        if isinstance(x, BlankTracer):
            return self.constant_of(value), value
        if x._trace is not self:
            raise ClosedOver
        if x._node is None:
            return (self.constant_of(value) if isinstance(value, np.ndarray) else value), value
        return x._node, value

    def constant_of(self, array: np.ndarray) -> Constant:
        """`array` as it is now: the copy that was made of it before, if nothing has changed since."""
        if type(array) is not np.ndarray:
            array = np.asarray(array)
        found = self.constants.get(id(array))
        if found is not None and isinstance(found.content, np.ndarray) and same_numbers(found.content, array):
            return Constant(array, found.content)
        made = self.constants[id(array)] = Constant(array)
        return made

    # ---- calls -------------------------------------------------------------------------------------------------------
    def write(self, x: Any, place: Place, v: Any) -> None:
        _write(self, x, place, v)

    def apply(self, primitive: Primitive | Opaque, call: Call) -> Any:
        if isinstance(primitive, Opaque):
            return primitive.run(call)  # what it calls is recorded
        if not isinstance(primitive, (Ufunc, GetItem, AddAt)):
            call = call.with_operands([self.as_array(x) for x in call.operands])
        refs, values = zip(*map(self.operand, call.operands))
        if Ref not in map(type, refs) or primitive.name == "_built":
            return self.constant(primitive.run(call.with_operands(values)))
        operate = self._of_python(primitive, refs, values)
        if operate is not None:
            step = Step(operate, refs, tuple(map(Hole, range(len(refs)))))
            return self.record(step, self.run(operate, values), values)
        lowered = call.with_operands(list(values))
        out = self.run(primitive.run, (lowered,))
        step = Step(None, refs, ())  # pyright: ignore[reportArgumentType]
        step.function, step.args, step.kwargs = as_function(primitive, call)
        step.primitive, step.call = primitive, call.with_operands(refs)
        return self.record(step, out, values)

    def run(self, function: Any, args: Sequence[Any]) -> Any:
        """function(*args), with a note if it raises an error."""
        try:
            return function(*args)
        except Exception:
            self.has_raised = True
            raise

    def _of_python(self, primitive: Primitive, refs: Sequence[Any], values: Sequence[Any]) -> Any:
        """The operator, where all operands are Python's numbers: so is the result."""
        if not PYTHON_NUMBERS.issuperset(map(type, values)):
            return None
        return OPERATORS.get(primitive.function) or COMPARISONS.get(primitive.function)

    def call(self, function: Any, args: Any, kwargs: Any) -> Any:
        """A function of NumPy that is no primitive, as one step; NotImplemented, if it takes more than that."""
        if function in WRITERS or kwargs.get("out") is not None:
            return NotImplemented
        operands: list[Any] = []
        given: list[Any] = []
        try:
            template = self.template((args, kwargs), operands, given)
        except _NoStep:
            return NotImplemented
        step = Step(function, operands, template[0], template[1])
        out = self.run(step.run, (given,))
        looked_into = (x for x, ref in zip(given, operands) if type(ref) is Ref)
        if not _holds_numbers(out) or any(_may_share(out, x) for x in looked_into):
            return NotImplemented
        return self.record(step, out, given)

    def template(self, x: Any, operands: list[Any], given: list[Any]) -> Any:
        """`x` with holes for the arrays and tracers in it, which join the operands."""
        if isinstance(x, Tracer) and not isinstance(x, (JitTracer, BlankTracer)):
            raise _NoStep
        if isinstance(x, (Tracer, np.ndarray)):
            ref, value = self.operand(x)
            operands.append(ref)
            given.append(value)
            return Hole(len(operands) - 1)
        if type(x) in (tuple, list):
            return type(x)(self.template(item, operands, given) for item in x)
        if type(x) is slice:
            return slice(*(self.template(i, operands, given) for i in (x.start, x.stop, x.step)))
        if type(x) is dict:
            return {k: self.template(v, operands, given) for k, v in x.items()}
        if (
            x is None
            or x is Ellipsis
            or isinstance(x, (str, int, float, complex, np.generic, np.dtype, type))
        ):
            return x
        raise _NoStep

    def record(self, step: Step, out: Any, given: Sequence[Any] = ()) -> Any:
        """The tracer (or tracers) of `out`, what `step` has given."""
        many = isinstance(out, (tuple, list))
        step.many = type(out) if many else None
        frame = user_frame()
        if frame is not None:
            step.line = frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
        state: Any = np.geterr()
        if state != self.usual:
            step.errstate = state
        self.tape.append(step)
        tracers = []
        for value in out if many else (out,):
            if not isinstance(value, NUMBERS) or getattr(value, "dtype", FLOAT).hasobject:
                self._refuse(step, value)
            ref, spec = self.ref(), Spec(value)
            is_own = (
                not spec.is_array
                or getattr(value, "base", None) is None
                and not any(value is x for x in given)
            )
            spec.is_view = not is_own and any(_may_share(value, x) for x in given)
            step.outs.append(ref)
            step.specs.append(spec)
            tracers.append(self.wrap(value, ref))
            if self.values is not None:
                self.values[ref] = value
        if not is_static(step):
            step.varies = True
            for tracer in tracers:
                self.ask(tracer, "spec")
        return rebuilt(out, tracers) if many else tracers[0]

    def _refuse(self, step: Step, value: Any) -> NoReturn:
        raise UnsupportedFunctionError(
            f"jit: {step.name} at {user_line()} gave a {type(value).__name__}, which no compiled program can hold. "
            "Return numbers and arrays of numbers, or call it outside the function."
        )

    def constant(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return rebuilt(value, [self.constant(v) for v in value])
        return self.wrap(value, None) if isinstance(value, np.ndarray) and value.dtype.kind in "fc" else value

    def as_array(self, x: Any) -> Any:
        """`x`; of a Python number what NumPy makes of it."""
        if type(x) is not JitTracer or x._node is None or type(x._value) not in PYTHON_NUMBERS:
            return x
        kind: Any = type(np.asarray(x._value)[()])
        return self.record(Step(kind, [x._node], (Hole(0),)), kind(x._value))

    def as_input(self, x: Any) -> Any:
        """Of a Python number, what NumPy makes of it: as transforms have their inputs."""
        if type(x._value) not in PYTHON_NUMBERS:
            return self.wrap(x._value, x._node)
        kind: Any = np.complex128 if type(x._value) is complex else np.float64
        if x._node is None:
            return kind(x._value)
        return self.record(Step(kind, [x._node], (Hole(0),)), kind(x._value))

    # ---- questions ---------------------------------------------------------------------------------------------------
    def ask(self, x: JitTracer, kind: str) -> Any:
        """The answer to a question about the value of `x`: from now on the program depends on it."""
        if not self.is_open:
            raise escaped(f"{kind} of a value", self.transform)
        value, ref = x._value, x._node
        outcome, answer = self.run(ANSWERS[kind], (value,))
        if ref is not None:
            frame = user_frame()
            line = (
                ("", 0, "")
                if frame is None
                else (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
            )
            self.tape.append(Guard(kind, ref, line))
            self.outcomes.append(outcome)
        return answer


class _NoStep(Exception):
    """A call that can't be one step."""


FLOAT = np.dtype(float)


def _holds_numbers(out: Any) -> bool:
    parts = out if isinstance(out, (tuple, list)) else (out,)
    return all(isinstance(x, NUMBERS) and not getattr(x, "dtype", FLOAT).hasobject for x in parts)


def _may_share(out: Any, x: Any) -> bool:
    parts = out if isinstance(out, (tuple, list)) else (out,)
    return isinstance(x, np.ndarray) and any(
        isinstance(o, np.ndarray) and np.may_share_memory(o, x) for o in parts
    )


# The primitives that tell shape or dtype of their results by the values of their operands.
_BY_VALUE = frozenset([
    "nonzero", "flatnonzero", "argwhere", "linalg.eig", "roots", "bincount", "unwrap", "power_by_value",
])  # fmt: skip
_OF_VOCABULARY = frozenset([written, written_flat])


def is_static(step: Step) -> bool:
    """Do shapes and dtypes of the operands tell those of the result?"""
    if step.primitive is None:
        function: Any = step.function
        is_plain = isinstance(function, (np.ufunc, type)) or function in _OF_VOCABULARY
        return is_plain or getattr(function, "__module__", "") == "_operator"
    name = step.primitive.name
    if name == "where":
        return len(step.operands) == 3
    if name == "getitem":
        return len(step.operands) == 1  # else a mask may be among the indices
    return name not in _BY_VALUE


# ---- item assignment -------------------------------------------------------------------------------------------------
def _write(trace: JitTrace, x: Any, place: Place, v: Any) -> None:
    """A step from the array before, and what is written, to the array after."""
    operands, given = [], []
    for operand in (x, v):
        ref, value = trace.operand(operand)
        operands.append(ref)
        given.append(value)
    step = _written_step(trace, x, place, operands, given)
    value = given.pop(1)
    given.clear()
    overwrite(x, "_value", place if place.is_plain else _plain(place), value)
    del value
    if Ref in map(type, operands):
        x._node = trace.record(step, x._value)._node


def _written_step(trace: JitTrace, x: Any, place: Place, operands: list[Any], given: list[Any]) -> Step:
    index = trace.template(place.index, operands, given)
    if not place.steps:
        return Step(written, operands, (Hole(0), Hole(1), index))
    plain, probe = _plain(Place(place.steps, ...)), np.zeros_like(x._value)
    looked = plain.view(probe)
    is_look = isinstance(looked, np.ndarray) and np.may_share_memory(looked, probe)
    if is_look and all(type(step) in (ViewStep, IndexStep) for step in place.steps):
        views = [_view(trace, step, operands, given) for step in place.steps]
        return Step(written, operands, (Hole(0), Hole(1), index, views))
    if place.half:  # of complex numbers one half, by a step that can't be written down
        trace.has_raised = True
    looked = plain.whole.view(np.arange(x.size).reshape(x.shape))
    operands.append(Constant(np.asarray(looked)))
    return Step(written_flat, operands, (Hole(0), Hole(1), Hole(len(operands) - 1), index, x.shape))


def _view(trace: JitTrace, step: Any, operands: list[Any], given: list[Any]) -> Any:
    """One step of a view, as (function, args, kwargs) with HERE for the array."""
    call = step.call.with_operands([HERE, *step.call.operands[1:]])
    function, args, kwargs = as_function(step.primitive, call)
    places: list[Any] = [HERE]
    for x in call.operands[1:]:
        places.append(trace.template(x, operands, given))
    return (function, filled(tuple(args), places), filled(kwargs, places))


def _plain(place: Place) -> Place:
    """The same place, with plain values in the place of tracers."""
    steps = tuple(
        type(step)(step.primitive, step.call.with_operands([None, *shown(list(step.call.operands[1:]))]))
        if type(step) is ViewStep else step
        for step in place.steps
    )  # fmt: skip
    return Place(steps, shown(place.index))
