"""torch.compile: funcgrad.jit for functions of tensors and for modules.

The tensors that a call can see (its arguments, parameters and buffers, tensors that the function closes over)
are the arguments of a compiled function of contents. Each call reads them anew, and puts back what the
function has written into them. All else (numbers, strings, flags of modules) is part of the signature.
"""

from __future__ import annotations

import functools
import traceback
import types
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compiler.compiling import Jit
from funcgrad.compiler.engines import Engine
from funcgrad.compiler.environment import SETTINGS, Environment
from funcgrad.compiler.signature import UNWATCHED
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import CompileWarning, is_library, short_name
from funcgrad.torch.graph import modes
from funcgrad.torch.nn.module import Module
from funcgrad.torch.optim.optimizer import Optimizer
from funcgrad.torch.random.functions import default_generator
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor, from_operand

MOST_SIGNATURES = 32
_SETTINGS = (bool, int, float, complex, str, bytes, type(None), tuple)
_STATIC = (
    *_SETTINGS,
    slice,
    type(...),
    np.dtype,
    dtypes.dtype,
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
)

# A plain funcgrad.jit can't follow these: weights are written to in place or replaced, gradients are collected, modes
# change, and running statistics would be written once for all calls.
_INSTEAD = "Pass arrays as arguments, or compile a function of tensors with funcgrad.torch.compile, which reads them anew."
UNWATCHED.update(dict.fromkeys((Tensor, Module, Optimizer), _INSTEAD))
SETTINGS["funcgrad.torch"] = (default_generator, dtypes.settings)


class Refused(Exception):
    """The function does something that a compiled one can't; the message says what."""


class Surroundings:
    """The tensors that a function can see beside its arguments, and the modules that it calls."""

    def __init__(self, function: Any) -> None:
        self.modules: list[Module] = []
        self.tensors: list[Tensor] = []
        self.known: Any = None
        self.environments = [Environment(_run_by(function), self._meet)]
        if isinstance(function, Module):
            self._meet(function)
        for module in self.modules:  # which grows meanwhile
            if not type(module).__module__.startswith("funcgrad."):
                self.environments.append(Environment(module.forward, self._meet))

    def _meet(self, x: Any) -> None:
        if isinstance(x, Module):
            self.modules += [m for m in x.modules() if m not in self.modules]
        elif isinstance(x, Tensor):
            self.tensors.append(x)

    def has_changed(self) -> bool:
        """Is something else closed over than before, or is a module not there any more?"""
        return any(e.change() is not None for e in self.environments)

    def places(self) -> list[tuple[dict[str, Any], str]]:
        """Where the modules hold tensors: dictionaries and keys."""
        return self.settled()[0]

    def settled(self) -> tuple[list[tuple[dict[str, Any], str]], Any]:
        """`places`, and what modules have beside tensors, which decides what they compute; cached."""
        if self.known is None or not self._is_as_it_was():
            self.watched, self.sizes = [], []
            places: list[tuple[dict[str, Any], str]] = []
            settings: list[Any] = []
            for module in self.modules:
                self._note(module, places, settings)
            self.known = places, tuple(settings)
        return self.known

    def _note(self, module: Module, places: list[Any], settings: list[Any]) -> None:
        held: Any
        for held in (module._parameters, module._buffers, module.__dict__):
            places += [(held, key) for key, x in held.items() if isinstance(x, Tensor)]
            self.sizes.append((held, len(held)))
        found = [(k, x) for k, x in module.__dict__.items() if isinstance(x, _SETTINGS)]
        settings += [*found, tuple(map(id, module._modules.values()))]
        self.watched += [(module.__dict__, k, x) for k, x in found]
        self.watched += [(module._modules, k, x) for k, x in module._modules.items()]
        for hooks in (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks):
            if hooks:
                raise Refused(f"{type(module).__name__} has hooks")
            self.sizes.append((hooks, 0))

    def _is_as_it_was(self) -> bool:
        assert self.known is not None
        try:
            return (
                all(len(held) == size for held, size in self.sizes)
                and all(held[key] is x for held, key, x in self.watched)
                and all(isinstance(held[key], Tensor) for held, key in self.known[0])
            )
        except KeyError:
            return False


def _run_by(function: Any) -> Any:
    return function.forward if isinstance(function, Module) else function


class Written:
    """How the results of a compiled function make up what the function returned: a leaf, as jit sees it.

    `returned` has for each leaf that is a tensor its position among the results, or ("given", position) for
    one that was given to the function; other leaves in a tuple of one. `written` are the positions of given
    tensors with new contents, which come last.
    """

    def __init__(self, structure: tree.Structure, returned: list[Any], written: list[int]) -> None:
        self.structure, self.returned, self.written = structure, returned, written

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.structure)


class OfContents:
    """The function as one of the contents of all tensors that it can see.

    These are, in this order, its arguments, those that modules hold, and those that it closes over.
    """

    is_given_all = True

    def __init__(
        self, owner: Optimized, surroundings: Surroundings, structure: tree.Structure, others: list[Any]
    ) -> None:
        self.fun = _run_by(owner.function)  # whose surroundings are watched
        self.owner, self.surroundings = owner, surroundings
        self.structure, self.others = structure, others  # None in the place of tensors
        self.__name__ = _name(owner.function)

    def __call__(self, *contents: Any) -> tuple[list[Any], Written]:
        self.owner.note_random()
        given = [from_operand(x) for x in contents]
        parts = iter(given)
        args, kwargs = tree.unflatten(
            self.structure, [next(parts) if x is None else x[0] for x in self.others]
        )
        with swapped(self.surroundings, list(parts)):
            outside = self.surroundings.tensors
            given[len(given) - len(outside) :] = outside
            before = [_state(t) for t in given]
            out = self.owner.function(*args, **kwargs)
            return self._told(out, given, before)

    def _told(self, out: Any, given: list[Tensor], before: list[Any]) -> tuple[list[Any], Written]:
        leaves, structure = tree.flatten(out, is_leaf=_is_tensor)
        results: list[Any] = []
        returned: list[Any] = []
        for x in leaves:
            at = next((k for k, t in enumerate(given) if t is x), None)
            if at is not None:
                returned.append(("given", at))
            elif isinstance(x, Tensor):
                returned.append(len(results))
                results.append(x.__operand__())
            else:
                _check_static(x, "what it returns")
                returned.append((x,))
        written = [k for k, (t, b) in enumerate(zip(given, before, strict=True)) if _differs(_state(t), b)]
        for k in written:
            if given[k].requires_grad:
                raise Refused("a tensor that requires grad is written to in place")
            results.append(given[k].value)
        return results, Written(structure, returned, written)


def _state(t: Tensor) -> tuple[Any, ...]:
    """What changes when a tensor is written to: its content, or what a tracer there stands for."""
    value = t.value
    return (value, t.node, *((value._value, value._node) if isinstance(value, Tracer) else ()))


def _differs(now: tuple[Any, ...], before: tuple[Any, ...]) -> bool:
    return len(now) != len(before) or any(a is not b for a, b in zip(now, before))


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _check_static(x: Any, what: str) -> None:
    """Refuse what may hide tensors."""
    if not isinstance(x, _STATIC):
        raise Refused(f"{what} holds a {type(x).__name__}")


@contextmanager
def swapped(surroundings: Surroundings, fresh: list[Tensor]) -> Iterator[None]:
    """A with block in which modules hold other tensors, and tensors that are closed over other contents."""
    places, outside = surroundings.places(), surroundings.tensors
    before = [held[key] for held, key in places]
    own = [(t.value, t.node, t.link) for t in outside]
    try:
        for (held, key), t in zip(places, fresh):
            held[key] = t
        for t, new in zip(outside, fresh[len(places) :], strict=True):
            t.value, t.node = new.value, new.node
            if t.link is not None:
                del t.link
        yield
    finally:
        for (held, key), t in zip(places, before, strict=True):
            held[key] = t
        for t, (value, node, link) in zip(outside, own, strict=True):
            t.value, t.node, t.link = value, node, link


class Optimized:
    """A compiled function of tensors; once something could not be compiled, the function itself."""

    def __init__(self, function: Any, *, fullgraph: bool) -> None:
        self.function, self.fullgraph = function, fullgraph
        self.surroundings: Surroundings | None = None
        self.programs: dict[Any, Jit] = {}
        self.is_eager = False
        self.random: bytes | None = None

    def note_random(self) -> None:
        """The function is about to run: where the stream of random numbers is, to come back to."""
        if self.random is None:
            self.random = default_generator.state_bytes()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        mode = modes.mode()
        if self.is_eager or mode.inference or mode.anomaly or mode.saved_hooks or mode.mutation:
            return self.function(*args, **kwargs)
        self.random = None
        try:
            return self._run(args, kwargs)
        except Exception as error:  # noqa: BLE001 (whatever it is: the function itself may do it)
            if self.random is not None:
                default_generator.set_state_bytes(self.random)
            reason = f"{_line_of(error)}{type(error).__name__}: {error}"
        out = self.function(*args, **kwargs)  # which raises its own errors
        message = f"torch.compile: {_name(self.function)} runs eagerly, since it can't be compiled: {reason}"
        if self.fullgraph:
            raise RuntimeError(f"{message}; fullgraph=True asks that all of it is compiled")
        self.is_eager = True
        warnings.warn(message, CompileWarning, stacklevel=2)
        return out

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self.surroundings is None or self.surroundings.has_changed():
            self.surroundings, self.programs = Surroundings(self.function), {}
        surroundings = self.surroundings
        leaves, structure = tree.flatten((args, kwargs), is_leaf=_is_tensor)
        others = [None if isinstance(x, Tensor) else (x,) for x in leaves]
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        tensors += [held[key] for held, key in surroundings.places()]
        tensors += surroundings.tensors
        key = (structure, *map(_keyed, others), surroundings.settled()[1], modes.mode().grad)
        program = self.programs.get(key)
        if program is None:
            for x in others:
                if x is not None:
                    _check_static(x[0], "its arguments")
            if len(self.programs) == MOST_SIGNATURES:
                raise Refused(f"its arguments have had {MOST_SIGNATURES} signatures")
            fun = OfContents(self, surroundings, structure, others)
            program = self.programs[key] = Jit(fun, frozenset(), Engine())
        results, how = program(*[t.__operand__() for t in tensors])
        return _finished(results, how, tensors)


class OptimizedFunction(Optimized):
    """A compiled function, which may be a method."""

    def __init__(self, function: Any, *, fullgraph: bool) -> None:
        super().__init__(function, fullgraph=fullgraph)
        functools.update_wrapper(self, function)
        self.bound: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        if instance not in self.bound:
            made = types.MethodType(self.function, weakref.proxy(instance))
            self.bound[instance] = OptimizedFunction(made, fullgraph=self.fullgraph)
        return self.bound[instance]


def _keyed(x: Any) -> Any:
    return None if x is None else (type(x[0]), repr(x[0]) if isinstance(x[0], (float, complex)) else x[0])


def _finished(results: list[Any], how: Written, tensors: list[Tensor]) -> Any:
    """What the function returned, and what it has written put where it belongs."""
    with modes.no_grad():
        for k, value in zip(how.written, results[len(results) - len(how.written) :]):
            while isinstance(value, Tracer):
                value = value._value
            tensors[k].copy_(from_operand(np.asarray(value)))
    leaves = []
    for x in how.returned:
        if type(x) is int:
            leaves.append(from_operand(results[x]))
        else:
            leaves.append(tensors[x[1]] if len(x) == 2 else x[0])
    return tree.unflatten(how.structure, leaves)


def _line_of(error: BaseException) -> str:
    """The user's line from which an error came."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_library(f.filename)]
    if not frames:  # the message has it
        return ""
    return f"{short_name(frames[-1].filename)}, line {frames[-1].lineno}, in {frames[-1].name}: "


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


class OptimizedModule(Module):
    """A compiled module; parameters, buffers and methods are those of the original, `_orig_mod`."""

    _orig_mod: Module

    def __init__(self, module: Module, *, fullgraph: bool) -> None:
        super().__init__()
        self._orig_mod = module
        self.__dict__["_optimized"] = Optimized(module, fullgraph=fullgraph)
        self.__dict__["training"] = module.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.__dict__["_optimized"](*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules", {})
        return modules[name] if name in modules else getattr(modules["_orig_mod"], name)


def compile(
    model: Any = None, *, fullgraph: bool = False, dynamic: bool | None = None, backend: Any = "inductor",
    mode: str | None = None, options: Any = None, disable: bool = False,
) -> Any:  # fmt: skip
    """`model` (a function of tensors or a module), compiled as `funcgrad.jit` does it.

    The first two calls run and record; later ones, and their backward passes, run compiled programs. There is
    one for each signature: shapes, dtypes, what is no tensor, the settings of modules. Parameters, buffers
    and tensors that are closed over are read anew at each call, and what the function writes into them is
    put back. Where it can't be compiled (hooks, random numbers, `backward` inside) it runs eagerly from then
    on, with one CompileWarning that names the line. `backend` and the other options don't matter.

    Raises RuntimeError for both a mode and options, as in PyTorch, and with `fullgraph` where it would warn.

    >>> import funcgrad.torch as torch
    >>> @torch.compile
    ... def f(x):
    ...     return x * 2
    >>> f(torch.ones(2))
    tensor([2., 2.])
    """
    if mode is not None and options is not None:
        raise RuntimeError(
            "Either mode or options can be specified, but both can't be specified at the same time."
        )
    if model is None:
        return lambda f: compile(f, fullgraph=fullgraph, dynamic=dynamic, backend=backend, disable=disable)
    if not callable(model):
        raise TypeError(f"torch.compile takes a function or a module, not {type(model).__name__}")
    if disable or backend == "eager":
        return model
    if isinstance(model, Module):
        return OptimizedModule(model, fullgraph=fullgraph)
    return OptimizedFunction(model, fullgraph=fullgraph)
