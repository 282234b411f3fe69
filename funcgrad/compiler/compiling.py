"""jit: a function that is recorded, compiled, and from then on runs without Python's part of the work.

For each signature there is a `Compiled`: the first call runs the function and records it, the second records
again and compares, the third runs the program. A call that comes to a guard with a new outcome is recorded,
and becomes a path.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compiler.engines import Engine
from funcgrad.compiler.entry import entry
from funcgrad.compiler.environment import Environment
from funcgrad.compiler.lowered import Lowered, lowered
from funcgrad.compiler.overlaps import lie_within, overlap, own_copies
from funcgrad.compiler.paths import Block, Paths, Recording, Returned, where
from funcgrad.compiler.program import certain
from funcgrad.compiler.randomness import Streams
from funcgrad.compiler.recorder import ClosedOver, JitTrace, JitTracer
from funcgrad.compiler.signature import Arguments, arguments, unwatched
from funcgrad.compiler.standalone import source_of
from funcgrad.core.engine.trace import Tracer
from funcgrad.core.memory.blank import BlankTracer
from funcgrad.errors import ArgumentError, CompileWarning, FuncgradError, ImpureFunctionError
from funcgrad.transforms.wrapping import Transformed, checked_argnums, name_of

MOST_PATHS = 32
MOST_CHANGES = 8


class Jit(Transformed):
    """See `jit`."""

    transform = "jit"
    # what a call with tracers gives: composing.py, which is built on this class, puts it here
    beneath: Callable[..., Any]

    def __init__(self, fun: Callable[..., Any], static: frozenset[Any], engine: Engine) -> None:
        super().__init__(fun)
        self.static, self.engine = static, engine
        self.compiled: dict[Any, Compiled] = {}
        self.families: dict[Any, Any] = {}  # what is made of it for transforms around it (composing.py)
        self.latest: Any = (
            None  # (the way into the program of the last call, what is known for its arguments)
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        latest = self.latest
        if latest is not None and not kwargs:
            try:
                out = latest[0](args)
            except FuncgradError:
                raise
            except Exception:  # noqa: BLE001 (NumPy's own: let the function itself raise it, or catch it)
                return latest[1].run_eagerly(arguments(args, kwargs))
            if out is not None:
                return out[0]
        given = None if any(isinstance(x, Tracer) for x in args) else arguments(args, kwargs, self.static)
        if given is None:  # tracers of a transform around this one
            return self.beneath(args, kwargs)
        compiled = self.compiled.get(given.key)
        if compiled is None:
            compiled = self.compiled.setdefault(given.key, self.new())
        if compiled.program is not None and given.flows is None:
            enter = compiled.entry(args)
            self.latest = None if enter is None else (enter, compiled)
        return compiled(given)

    def new(self) -> Compiled:
        """What is known of a new signature: nothing."""
        return Compiled(self.fun, self.engine)

    def outermost(self, transform: Any, options: dict[str, Any]) -> Any:
        """transform(self, **options), compiled as a whole; the same each time."""
        key = (transform, *(repr(x) for x in options.items()))
        if key not in self.families:
            self.families[key] = Jit(transform(self.fun, **options), self.static, self.engine)
        return self.families[key]

    # ---- looking in --------------------------------------------------------------------------------------------------
    def source(self, *args: Any, **kwargs: Any) -> str:
        """The program for arguments like these, as the text of a Python module that imports NumPy alone.

        >>> import numpy as np, funcgrad as fg
        >>> print(fg.jit(lambda x: np.sum(np.sin(x) * 2.0)).source(np.ones(3)))
        from __future__ import annotations
        <BLANKLINE>
        import numpy as np
        <BLANKLINE>
        <BLANKLINE>
        def program(x):
            v1 = np.sin(x)
            v2 = np.add.reduce(v1, axis=None)
            v3 = v2 * 2.0
            return v3
        <BLANKLINE>
        """
        given, compiled = self._ready(args, kwargs)
        return source_of(self.fun, compiled.program.root, compiled.program.inputs, given)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """Steps, buffers, operations and bytes of the program for arguments like these; print it."""
        _, compiled = self._ready(args, kwargs)
        return lowered(compiled.program, compiled.recorded())

    def _ready(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Arguments, Compiled]:
        """What is known for these arguments; the function is run until there is a program."""
        given = arguments(args, kwargs, self.static)
        if given is None:
            raise ArgumentError(
                "jit: source and lower take arrays and numbers, not tracers. Call them outside of other transforms."
            )
        compiled = self.compiled.setdefault(given.key, self.new())
        for _ in range(2):
            if compiled.program is None or compiled.run(given.values) is None:
                compiled.record(given)
        if compiled.program is None:
            raise ArgumentError(
                f"jit: {name_of(self.fun)} is not compiled for these arguments: it runs eagerly, as it was warned."
            )
        return given, compiled

    def __reduce__(self) -> Any:
        made = super().__reduce__()
        if isinstance(made, str):
            return made
        rebuild, (cls, attributes) = made
        return rebuild, (cls, {**attributes, "compiled": {}, "families": {}, "latest": None})


class Compiled:
    """All that is known of one function for one signature."""

    def __init__(self, fun: Callable[..., Any], engine: Engine, *, strict: bool = False) -> None:
        self.fun, self.engine = fun, engine
        self.strict = strict  # ClosedOver instead of an eager run
        self.name = name_of(fun)
        self.lock = threading.RLock()
        self.paths: Paths | None = None
        self.program: Any = None
        self.environment: Environment | None = None
        self.changes = 0
        self.is_eager = False
        self.entered: Any = (None, None, None, None)  # see `entry`
        self.overwrites: set[int] | None = (
            None  # the arguments that it writes into, by position; None: unknown
        )
        self.outside: list[np.ndarray] = []  # the arrays that it closes over
        self.streams: dict[str, Any] = {}  # where streams of random numbers were, after a recording

    def __call__(self, given: Arguments) -> Any:
        if self.overwrites and self._is_entangled(given.values):
            return self.run_eagerly(given)
        try:
            out = self.run(given.values)
        except FuncgradError:
            raise
        except Exception:  # noqa: BLE001 (NumPy's own: let the function itself raise it, or catch it)
            return self.run_eagerly(given)
        if out is not None:
            return out[0]
        return self.run_eagerly(given) if self.is_eager else self.record(given)

    def run(self, values: Sequence[Any]) -> Any:
        """What the program gives, in a tuple of one; None, if there is none for these values."""
        program, environment = self.program, self.environment
        if program is None or environment is None or environment.change() is not None:
            return None
        if self.overwrites and self._is_entangled(values):
            return None
        return program(values)

    def entry(self, args: Sequence[Any]) -> Callable[[Sequence[Any]], Any] | None:
        """`run` for arguments with the signature of these, which gives None for others; see entry.py."""
        program, environment, overwrites = self.program, self.environment, self.overwrites
        known = self.entered
        if known[0] is not program or known[1] is not environment or known[2] != overwrites:
            assert environment is not None
            made = entry(args, self, program, () if overwrites else environment.facts)
            known = self.entered = program, environment, overwrites, made
        return known[3]

    def run_eagerly(self, given: Arguments) -> Any:
        """The function itself, on arrays of its own, if it may write into them."""
        if self.strict:
            raise ClosedOver
        values = given.values
        if self.overwrites is None or self.overwrites and not self._is_outside(values):
            values = own_copies(values)
        args, kwargs = given.rebuilt(values)
        return self.fun(*args, **kwargs)

    def _is_entangled(self, values: Sequence[Any]) -> bool:
        """Does an argument that is written into share memory with something else that the function sees?"""
        return overlap(values, self.overwrites or ()) or self._is_outside(values)

    def _is_outside(self, values: Sequence[Any]) -> bool:
        """Is it memory that the function closes over, too?"""
        return lie_within(values, self.overwrites or (), self.outside)

    def recorded(self) -> Block:
        """What was recorded twice, as it was."""
        assert self.paths is not None
        assert self.paths.root is not None
        return certain(self.paths.root)

    # ---- recording ---------------------------------------------------------------------------------------------------
    def record(self, given: Arguments) -> Any:
        """Run the function, and write down what it does."""
        environment = self._look_around(given)
        if environment is None:
            return self.run_eagerly(given)
        streams = Streams(environment.generators)
        with JitTrace(expands=self.engine.name == "xla") as trace:
            args, kwargs = given.rebuilt([trace.input(x) for x in given.values])
            try:
                out = self.fun(*args, **kwargs)
            except ClosedOver:
                return self.run_eagerly(given)
            leaves, structure = tree.flatten(out)
            returned = Returned([returned_leaf(trace, x) for x in leaves], structure)
        if self._returns_unwatched(leaves):
            return self.run_eagerly(given)
        if trace.has_raised:  # and the function has caught it: this way can't be written down
            return tree.unflatten(structure, [_handed_out(x) for x in leaves])
        recording = Recording(trace.tape, trace.outcomes, returned)
        result = tree.unflatten(structure, [_handed_out(x) for x in leaves])
        with self.lock:
            self.overwrites = (self.overwrites or set()) | trace.overwritten_inputs()
            self.outside = environment.arrays
            if self.overwrites and self._is_entangled(given.values):
                return self.run_eagerly(given)
            written = None if self.paths is None else environment.written_array()
            if written is not None:  # the first run may have filled a buffer; who writes again, counts
                self._give_up(
                    f"jit: {self.name} writes into {written}, an array that it closes over, which a compiled program "
                    f"would leave as it is. It runs without being compiled. Pass {written} as an argument, and return "
                    "what is new."
                )
                return result
            drawn, after = streams.drawn(self.streams)  # by now: JAX draws some, too, when it is imported
            is_new = self._add(trace, recording, environment.without_own_effects())
            self._check_streams(drawn, after)
            if is_new and self.engine.name == "numpy":
                self._check(given, result)
        return result

    def _look_around(self, given: Arguments) -> Environment | None:
        """What the function can see; None, if it has to run eagerly."""
        environment = Environment(self.fun, others=given.others)
        if environment.hidden is not None:
            self._give_up(
                f"jit: {self.name} depends on {environment.hidden}, so that no program can tell whether it has changed. It "
                f"runs without being compiled. {environment.advice}"
            )
        return None if environment.holds_tracers or environment.hidden is not None else environment

    def _returns_unwatched(self, leaves: list[Any]) -> bool:
        """A program would return the same object each time."""
        for x in filter(unwatched, leaves):
            self._give_up(
                f"jit: {self.name} returns a {type(x).__name__}, which may be changed afterwards. It runs without being "
                f"compiled. {unwatched(x)}"
            )
            return True
        return False

    def _check_streams(self, drawn: str | None, after: dict[str, Any]) -> None:
        """Random numbers may be the same by chance: so those that draw any are refused at the second recording."""
        if drawn is not None and self.streams:
            self.program = None
            raise ImpureFunctionError(
                f"jit: {self.name} draws random numbers from {drawn}, and a compiled program would go on with the old ones. "
                "Pass the numbers as an argument."
            )
        self.streams = after

    def _check(self, given: Arguments, result: Any) -> None:
        """A new program has to give what the function has just given; else it is not used."""
        try:
            out = self.program(given.values)
        except Exception:  # noqa: BLE001 (of a path that is not compiled yet, the function may have caught it)
            return
        if out is not None and not agree(out[0], result):
            self.program = None
            self._give_up(
                f"jit: the program of {self.name} does not give what the function gives. It runs without being compiled; "
                "please report the function."
            )

    def _add(self, trace: JitTrace, recording: Recording, environment: Environment) -> bool:
        """Put a recording into the tree of paths: has that given a new program?"""
        changed = None if self.environment is None else self.environment.change()
        if changed is not None:
            self._note_change(changed)
        self.environment = environment
        paths = self.paths
        if paths is None:
            paths = self.paths = Paths(self.name, trace.inputs)
        count = paths.count()
        try:
            is_news = paths.add(recording)
        except Exception:
            self.program = self.paths = None
            if changed is None:
                raise
        else:  # other paths may hold what was there before
            if changed is not None and (count > 1 or paths.count() > 1):
                self.program = self.paths = None
        if self.paths is None:
            self.paths = Paths(self.name, trace.inputs)
            is_news = self.paths.add(recording)
        if self.paths.count() > MOST_PATHS:
            self._give_up(self._too_many())
        elif not self.is_eager and is_news:
            self.program = self.engine.program(self.paths)
            return True
        return False

    def _note_change(self, name: str) -> None:
        self.changes += 1
        if self.changes > MOST_CHANGES:
            self._give_up(
                f"jit: {self.name} closes over {name}, which has changed between calls {self.changes} times, and each "
                f"time was recorded again. From now on it runs without being compiled. Pass {name} as an argument."
            )

    def _too_many(self) -> str:
        assert self.paths is not None
        assert self.paths.root is not None
        lines: dict[Any, int] = {}
        for block in self.paths.root.blocks():
            if block.guard is not None and len(block.branches) > 1:
                lines[block.guard.line] = lines.get(block.guard.line, 0) + len(block.branches) - 1
        worst = max(lines, key=lambda line: lines[line])
        return (
            f"jit: {self.name} has gone {self.paths.count()} ways, most of which part at {where(worst)}: a value "
            "decides there what is called next (`if`, `while`, int(x), float(x), the length of x[mask]). Further ways "
            "run without being compiled. Write np.where(condition, a, b) for `if`, and NumPy's functions for those of "
            "math; to write into an array, begin with np.zeros_like(x), or import funcgrad.numpy as np."
        )

    def _give_up(self, message: str) -> None:
        if not self.is_eager:
            self.is_eager = True
            warnings.warn(message, CompileWarning, stacklevel=6)


def agree(came: Any, expected: Any) -> bool:
    """Are two results the same, up to what rounding may do?"""
    found, structure = tree.flatten(came)
    wanted, wanted_structure = tree.flatten(expected)
    return structure == wanted_structure and all(map(_is_close, found, wanted))


def _is_close(x: Any, y: Any) -> bool:
    if not isinstance(y, (np.ndarray, np.generic, float, complex)):
        return bool(x == y)
    x, y = np.asarray(x), np.asarray(y)
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    if y.dtype.kind not in "fc" or not y.size:
        return bool(np.array_equal(x, y))
    with np.errstate(all="ignore"):
        scale = np.nanmax(np.where(np.isfinite(y), abs(y), 0))
        # what lies below the smallest normal number has no digits to compare
        near = abs(x - y) <= np.sqrt(np.finfo(y.dtype).eps) * scale + np.finfo(y.dtype).tiny
    return bool((near | (x == y) | (np.isnan(x) & np.isnan(y))).all())


def returned_leaf(trace: JitTrace, x: Any) -> Any:
    """What stands for a leaf that the function returned."""
    if isinstance(x, (Tracer, np.ndarray)):
        return trace.operand(x)[0]
    return x


def _handed_out(x: Any) -> Any:
    """A leaf of a recorded run, as the caller's own."""
    if isinstance(x, (JitTracer, BlankTracer)):
        x = x._value
    return x.copy("K") if isinstance(x, np.ndarray) else x


def static_names(static_argnums: Any, static_argnames: Any) -> frozenset[Any]:
    """The positions and names of static arguments."""
    if isinstance(static_argnames, str):
        static_argnames = (static_argnames,)
    numbers = checked_argnums(static_argnums, "jit") if static_argnums != () else ()
    return frozenset([*(numbers if isinstance(numbers, tuple) else (numbers,)), *static_argnames])
