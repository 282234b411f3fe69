"""engine="xla": the recorded program, handed to JAX's compiler.

Each step is the function of the same name in jax.numpy; functions of our own run with jax.numpy in the place
of NumPy. XLA compiles straight lines: there is one program for each path, which gives the values of its
guards beside its results. What comes out otherwise tells which path to take instead. Double precision is
switched on for these calls alone.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cached_property, reduce
from importlib import import_module
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compiler.carried import NoTracer, rebound
from funcgrad.compiler.constants import Constant
from funcgrad.compiler.guards import ANSWERS
from funcgrad.compiler.names import public_name
from funcgrad.compiler.paths import Block, Paths, where
from funcgrad.compiler.program import CompiledProgram, certain
from funcgrad.compiler.steps import HERE, Guard, Spec, Step, filled, itself
from funcgrad.compiler.vocabulary import add_at, extreme_at, written, written_flat
from funcgrad.errors import ArgumentError, UnsupportedFunctionError
from funcgrad.transforms.programs import Ref


def jax_modules() -> tuple[Any, Any]:
    """jax and jax.numpy."""
    try:
        jax = import_module("jax")
        import_module("jax.scipy.special")
    except ImportError:
        raise ArgumentError(
            'jit(engine="xla") needs JAX: pip install "funcgrad[xla]", or write engine="numpy".'
        ) from None
    return jax, jax.numpy


def in_double_precision(jax: Any) -> Any:
    """A context in which JAX keeps double precision, whatever it does outside."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return import_module("jax.experimental").enable_x64()


class Namespace:
    """jax.numpy, as our functions see it in the place of NumPy."""

    ndarray = NoTracer

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)

    def errstate(self, **kinds: str) -> Any:
        """XLA raises no floating-point errors."""
        return nullcontext()


class Way:
    """One path through a program, compiled."""

    def __init__(self, blocks: Sequence[Block], outcomes: Sequence[Any], program: XlaProgram) -> None:
        self.blocks, self.outcomes, self.program = blocks, outcomes, program
        self.guards = [block.guard for block in blocks if block.guard is not None]
        returned = blocks[-1].returned
        assert returned is not None
        self.returned = returned
        self.results = [x for x in returned.leaves if type(x) is Ref]
        self.specs: dict[Ref, Spec] = dict(program.inputs)
        for block in blocks:
            for step in block.steps:
                self.specs.update(zip(step.outs, step.specs))
        self.outside = list({id(x): x for x in self._constants() if x.lives_outside}.values())
        self.slots = [self.specs[ref] for ref in self.results]
        self.compiled: Any = None

    def run(self, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What `trace` gives for these inputs, compiled for their signature the first time."""
        outside = [x.value for x in self.outside]
        if self.compiled is None:
            self.compiled = self.program.jax.jit(self.trace).lower(values, outside).compile()
        return self.compiled(values, outside)

    def _constants(self) -> list[Constant]:
        held = [x for block in self.blocks for step in block.steps for x in step.operands]
        return [x for x in (*held, *self.returned.leaves) if isinstance(x, Constant)]

    def trace(self, values: Sequence[Any], outside: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The values of the guards, and the results."""
        known: dict[Any, Any] = dict(zip((ref for ref, _ in self.program.inputs), values))
        known.update((id(x), array) for x, array in zip(self.outside, outside))
        for block in self.blocks:
            for step in block.steps:
                self._step(step, known)
        return [known[guard.ref] for guard in self.guards], [known[ref] for ref in self.results]

    def _step(self, step: Step, known: dict[Any, Any]) -> None:
        operands = [
            known[x] if type(x) is Ref else known.get(id(x), x.value) if isinstance(x, Constant) else x
            for x in step.operands
        ]
        try:
            out = self.program.call(step, operands)
            outs = list(out) if step.many is not None else [out]
            outs = [fitted(o, spec) for o, spec in zip(outs, step.specs, strict=True)]
        except Exception as error:
            raise UnsupportedFunctionError(
                f'jit(engine="xla"): XLA can\'t run {step.name} at {where(step.line)} ({type(error).__name__}: '
                f'{str(error).splitlines()[0] if str(error) else ""}). Use engine="numpy".'
            ) from error
        known.update(zip(step.outs, outs))

    def filled(self, results: Sequence[Any], given: Sequence[Any] = ()) -> Any:
        """What the function returned, with these results, none of which shares memory with what was `given`."""
        seen = {x.ctypes.data for x in given if type(x) is np.ndarray}
        found = iter([_handed_out(x, spec, seen) for x, spec in zip(results, self.slots)])
        leaves = [next(found) if type(x) is Ref else _own(x) for x in self.returned.leaves]
        return tree.unflatten(self.returned.structure, leaves)


def fitted(x: Any, spec: Spec) -> Any:
    """`x` with the dtype that NumPy gives; another shape is an error."""
    if spec.is_python:
        return x
    if np.shape(x) != spec.shape:
        raise ValueError(f"its result has the shape {np.shape(x)}, and with NumPy {spec.shape}")
    if getattr(x, "dtype", None) == spec.dtype:
        return x
    if np.result_type(x).kind == "c" and spec.dtype.kind != "c":
        raise ValueError("its result is complex, and with NumPy real")
    return x.astype(spec.dtype) if hasattr(x, "astype") else np.asarray(x, spec.dtype)


def _as_recorded(x: Any, spec: Spec) -> Any:
    """A result of JAX as the caller's own array or number."""
    array = np.array(x)
    if spec.is_python:
        return array.item()
    return array if spec.is_array else array[()]


class _Lent:
    """The memory of a result of JAX that nobody else has: as a caller's own array, which it keeps alive."""

    __slots__ = ("__array_interface__", "held")

    def __init__(self, held: Any, array: np.ndarray) -> None:
        interface = array.__array_interface__
        self.held = held
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


_LARGE = 1 << 16  # bytes: smaller results are copied, which takes less time


def _handed_out(x: Any, spec: Spec, seen: set[int]) -> Any:
    """A result as the caller's own, without a copy where it is large and its memory is not among those `seen`."""
    if spec.nbytes < _LARGE:
        return _as_recorded(x, spec)
    array = np.asarray(x)
    where = array.ctypes.data
    if where in seen or not array.flags.c_contiguous:
        return _as_recorded(x, spec)
    seen.add(where)
    return np.asarray(_Lent(x, array))


def _own(x: Any) -> Any:
    return x.value.copy() if isinstance(x, Constant) else x


class XlaProgram:
    """All paths of a function, each compiled when it is first taken."""

    def __init__(self, paths: Paths) -> None:
        assert paths.root is not None
        self.jax, self.numpy = jax_modules()
        self.paths, self.inputs, self.name = paths, paths.inputs, paths.name
        self.tree = certain(paths.root)
        self.ways: dict[tuple[Any, ...], Way] = {}
        self.latest: Any = ()
        self.namespace = Namespace(self.numpy)
        self.functions: dict[Any, Any] = {}

    @cached_property
    def plain(self) -> CompiledProgram:
        """The same for NumPy: what `source` and `lower` show."""
        return CompiledProgram(self.paths)

    def __getattr__(self, name: str) -> Any:
        if name in ("root", "text", "buffers"):
            return getattr(self.plain, name)
        raise AttributeError(name)

    def __call__(self, values: Sequence[Any]) -> Any:
        """What the function returns, in a tuple of one; None if a guard came out as never before."""
        key: tuple[Any, ...] | None = self.latest
        values = tuple(values)
        for _ in range(self.tree.paths() + 1):
            way = None if key is None else self._way(key)
            if way is None:
                return None
            with in_double_precision(self.jax):
                asked, results = way.run(values)
            outcomes = tuple(
                [ANSWERS[guard.kind](_plain(x, guard, way))[0] for guard, x in zip(way.guards, asked)]
            )
            if outcomes == way.outcomes:
                self.latest = way.outcomes
                return (way.filled(results, values),)
            key = next(outcomes[: k + 1] for k, (a, b) in enumerate(zip(outcomes, way.outcomes)) if a != b)
        return None

    def _way(self, begin: tuple[Any, ...]) -> Way | None:
        """A path whose first guards come out so."""
        blocks, outcomes = [self.tree], []
        while blocks[-1].guard is not None:
            block = blocks[-1]
            if len(outcomes) < len(begin):
                outcome = begin[len(outcomes)]
                if outcome not in block.branches:
                    return None
            elif block.branches:
                outcome = next(iter(block.branches))
            else:
                return None
            outcomes.append(outcome)
            blocks.append(block.branches[outcome])
        key = tuple(outcomes)
        if key not in self.ways:
            self.ways[key] = Way(blocks, key, self)
        return self.ways[key]

    # ---- functions ---------------------------------------------------------------------------------------------------
    def call(self, step: Step, operands: Sequence[Any]) -> Any:
        """One step, on JAX's arrays."""
        if (
            step.varies
            and step.primitive is not None
            and step.primitive.name == "getitem"
            and len(step.operands) > 1
        ):
            _refuse_masks(operands[1:])
        args = [filled(a, operands) for a in step.args]
        kwargs = {k: filled(v, operands) for k, v in step.kwargs.items()}
        special = SPECIAL.get(step.function)
        if special is not None:
            return special(self.numpy, *args, **kwargs)
        function = self.function(step.function)
        try:
            return function(*args, **kwargs)
        except TypeError as error:  # JAX takes no lists
            if "requires ndarray or scalar arguments" not in str(error):
                raise
            return function(*[np.asarray(a) if isinstance(a, list) else a for a in args], **kwargs)

    def function(self, function: Any) -> Callable[..., Any]:
        """What stands for a function of NumPy, or of our own."""
        if function not in self.functions:
            self.functions[function] = self._found(function)
        return self.functions[function]

    def _found(self, function: Any) -> Callable[..., Any]:
        if getattr(function, "__module__", "") in ("_operator", "builtins"):
            return function
        path = public_name(function)
        if path is None:
            return rebound(function, {np: self.namespace})
        home, *names = path.split(".")
        module = self.numpy if home == "np" else self.jax.scipy
        try:
            return reduce(getattr, names, module)
        except AttributeError:
            raise NotImplementedError(f"jax has no {'.'.join(names)}") from None


def _plain(x: Any, guard: Guard, way: Way) -> Any:
    spec = way.specs[guard.ref]
    return _as_recorded(x, spec)


def _refuse_masks(indices: Sequence[Any]) -> None:
    if any(getattr(getattr(i, "dtype", None), "kind", "") == "b" for i in indices):
        raise NotImplementedError("the shape of x[mask] depends on values")


# ---- the vocabulary ------------------------------------------------------------------------------------------------------
def _index(index: Any) -> Any:
    """An index as JAX takes it: lists are arrays."""
    return (
        tuple(np.asarray(i) if isinstance(i, list) else i for i in index)
        if isinstance(index, tuple)
        else index
    )


def _written(jnp: Any, before: Any, v: Any, index: Any, views: Any = ()) -> Any:
    before = jnp.asarray(before)
    if not views:
        return before.at[_index(index)].set(_cast(jnp, v, before))
    positions = np.arange(before.size).reshape(before.shape)
    for function, args, kwargs in views:
        positions = function(*[positions if a is HERE else a for a in args], **kwargs)
    return _written_flat(jnp, before, v, positions, index, before.shape)


def _written_flat(jnp: Any, before: Any, v: Any, positions: Any, index: Any, shape: Any) -> Any:
    before = jnp.asarray(before)
    places = jnp.asarray(positions)[_index(index)]
    values = jnp.broadcast_to(_cast(jnp, v, before), places.shape)
    return before.reshape(-1).at[places.reshape(-1)].set(values.reshape(-1)).reshape(shape)


def _cast(jnp: Any, v: Any, like: Any) -> Any:
    v = jnp.asarray(v)
    if v.dtype.kind == "c" and like.dtype.kind != "c":
        v = v.real
    return v.astype(like.dtype)


def _add_at(jnp: Any, buffer: Any, part: Any, index: Any) -> Any:
    buffer = jnp.asarray(buffer)
    return buffer.astype(jnp.result_type(buffer, part)).at[_index(index)].add(part)


def _extreme_at(jnp: Any, ufunc: Any, buffer: Any, part: Any, index: Any) -> Any:
    place = jnp.asarray(buffer).at[_index(index)]
    return place.max(part) if ufunc is np.maximum else place.min(part)


SPECIAL: dict[Any, Callable[..., Any]] = {
    written: _written,
    written_flat: _written_flat,
    add_at: _add_at,
    extreme_at: _extreme_at,
    operator.getitem: lambda jnp, x, index: jnp.asarray(x)[_index(index)],
    itself: lambda jnp, x: x,
    np.reshape: lambda jnp, x, shape, order="C", **kwargs: jnp.reshape(x, shape, order=order),
    np.concatenate: lambda jnp, arrays, axis=0, **kwargs: jnp.concatenate([*map(jnp.asarray, arrays)], axis),
    np.copy: lambda jnp, x, **kwargs: jnp.asarray(x),
    np.astype: lambda jnp, x, dtype, **kwargs: _cast(jnp, x, np.empty(0, dtype)),
    np.float64: lambda jnp, x: jnp.asarray(x, np.float64),
    np.int64: lambda jnp, x: jnp.asarray(x, np.int64),
    np.complex128: lambda jnp, x: jnp.asarray(x, np.complex128),
}
