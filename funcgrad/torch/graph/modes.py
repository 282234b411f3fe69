"""no_grad, enable_grad, set_grad_enabled, inference_mode: whether operations are recorded, for the current
context.

The state is one context variable, so threads and asyncio tasks have their own. None is the normal state:
everything recorded.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, NamedTuple

from funcgrad.core.engine.trace import _levels
from funcgrad.typed import override


class Mode(NamedTuple):
    """What differs from the normal state. `level`: transforms that began later record in spite of grad=False."""

    grad: bool = True
    inference: bool = False
    level: int = 0
    anomaly: Any = None
    saved_hooks: tuple[Any, ...] = ()
    mutation: Any = None
    once: bool = False


MODE: ContextVar[Mode | None] = ContextVar("mode", default=None)
NORMAL = Mode()
# What was written to in the torch.func transform that is running (None outside of one): the tensor, its content and
# its node before (captured.py).
WRITTEN: ContextVar[list[tuple[Any, Any, Any]] | None] = ContextVar("written", default=None)


def check_outside(call: str) -> None:
    """RuntimeError inside of a transform of torch.func, which has a graph of its own."""
    if WRITTEN.get() is not None:
        raise RuntimeError(
            f"You are attempting to call {call} (or a function of torch.autograd.functional, which does) inside of a function "
            "that is being transformed by torch.func. Use torch.func.grad, vjp or jacrev there, or call it outside of the "
            "function."
        )


def mode() -> Mode:
    """The state of the current context."""
    return MODE.get() or NORMAL


def changed(**fields: Any) -> Mode | None:
    """The current state with some fields changed (None if that is the normal one)."""
    made = mode()._replace(**fields)
    return None if made == NORMAL else made


def grad_fields(enabled: bool) -> dict[str, Any]:
    """The fields of a state in which operations are recorded or not."""
    return {"grad": enabled, "level": 0 if enabled else next(_levels)}


def is_grad_enabled() -> bool:
    """Are operations recorded in this context?"""
    found = MODE.get()
    return found is None or found.grad


def is_inference_mode_enabled() -> bool:
    """Is inference_mode on in this context?"""
    return mode().inference


class ModeManager:
    """A context manager and decorator that changes the state; also while a generator or coroutine runs."""

    def __init__(self) -> None:
        self._before: list[Mode | None] = []

    def fields(self) -> dict[str, Any]:
        """What it changes."""
        raise NotImplementedError

    def clone(self) -> ModeManager:
        """A fresh one of the same kind, for each call of a decorated function."""
        return type(self)()

    def __enter__(self) -> Any:
        self._before.append(MODE.get())
        MODE.set(changed(**self.fields()))
        return self

    def __exit__(self, *exception: object) -> None:
        MODE.set(self._before.pop())

    def __call__(self, function: Any) -> Any:
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions "
                "or methods. To preserve the current behavior of class decoration, you can directly decorate the "
                "`__init__` method.",
                FutureWarning,
                stacklevel=2,
            )
            function.__init__ = self(function.__init__)
            return function
        return decorated(function, self.clone)


def decorated(function: Callable[..., Any], make: Callable[[], ModeManager]) -> Callable[..., Any]:
    """`function`, in the state that `make()` sets."""
    if inspect.isgeneratorfunction(function):
        return functools.wraps(function)(lambda *args, **kwargs: _stepped(function(*args, **kwargs), make))
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def in_coroutine(*args: Any, **kwargs: Any) -> Any:
            return await _Awaited(function(*args, **kwargs), make)

        return in_coroutine

    @functools.wraps(function)
    def in_mode(*args: Any, **kwargs: Any) -> Any:
        with make():
            return function(*args, **kwargs)

    return in_mode


def _stepped(generator: Any, make: Callable[[], ModeManager]) -> Iterator[Any]:
    """Drive a generator so that its body runs in the state, and its caller does not."""
    step, argument = generator.send, None
    try:
        while True:
            with make():
                found = step(argument)
            try:
                argument = yield found
                step = generator.send
            except GeneratorExit:
                raise
            except BaseException as error:  # noqa: BLE001 (handed to the body, as throw() asks)
                step, argument = generator.throw, error
    except StopIteration as stop:
        return stop.value
    finally:
        with make():
            generator.close()


class _Awaited:
    def __init__(self, coroutine: Any, make: Callable[[], ModeManager]) -> None:
        self.coroutine, self.make = coroutine, make

    def __await__(self) -> Any:
        return _stepped(self.coroutine, self.make)


class _Plain(ModeManager):
    """A manager without arguments, that can be used as `@no_grad` too."""

    def __new__(cls, function: Any = None) -> Any:
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()
        return made(function)

    def __init__(self, function: Any = None) -> None:
        super().__init__()


class no_grad(_Plain):
    """Operations are not recorded: `with no_grad():`, `@no_grad()` or `@no_grad`.

    >>> import funcgrad.torch as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    @override
    def fields(self) -> dict[str, Any]:
        return grad_fields(False)


class enable_grad(_Plain):
    """Operations are recorded again, inside a no_grad."""

    @override
    def fields(self) -> dict[str, Any]:
        return grad_fields(True)


class set_grad_enabled(ModeManager):
    """Switch recording on or off: at once when called, until the block ends as a context manager."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = mode
        self.earlier = MODE.get()
        MODE.set(changed(**grad_fields(mode)))

    @override
    def fields(self) -> dict[str, Any]:
        return grad_fields(self.mode)

    @override
    def clone(self) -> ModeManager:
        earlier = MODE.get()
        made = set_grad_enabled(self.mode)
        MODE.set(earlier)
        return made

    def __enter__(self) -> Any:
        self._before.append(self.earlier)
        MODE.set(changed(**self.fields()))
        return self

    def __call__(self, function: Any) -> Any:
        MODE.set(self.earlier)
        return super().__call__(function)


class inference_mode(ModeManager):
    """Nothing is recorded, and what is made here can't be recorded later either."""

    def __new__(cls, mode: Any = True) -> Any:
        made = super().__new__(cls)
        if isinstance(mode, bool):
            return made
        made.__init__()
        return made(mode)

    def __init__(self, mode: Any = True) -> None:
        super().__init__()
        self.mode = mode

    @override
    def fields(self) -> dict[str, Any]:
        return {**grad_fields(not self.mode), "inference": self.mode}

    @override
    def clone(self) -> ModeManager:
        return inference_mode(self.mode)


class set_multithreading_enabled:
    """Whether a backward may use several threads: it uses one. For programs that switch it."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        return

    def __exit__(self, *exception: object) -> None:
        return
