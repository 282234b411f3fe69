"""Operators on functions of one argument, made operators on functions of several."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from funcgrad.compat.autograd.util import subvals
from funcgrad.errors import ArgumentError


def get_name(f: Any) -> str:
    """The name of a function."""
    return getattr(f, "__name__", "[unknown name]")


def get_doc(f: Any) -> str:
    """The docstring of a function."""
    return getattr(f, "__doc__", None) or ""


def wraps(fun: Any, namestr: str = "{fun}", docstr: str = "{doc}", **kwargs: Any) -> Callable[[Any], Any]:
    """Name a function after another one."""

    def named(f: Any) -> Any:
        try:
            f.__name__ = namestr.format(fun=get_name(fun), **kwargs)
            f.__doc__ = docstr.format(fun=get_name(fun), doc=get_doc(fun), **kwargs)
        except (AttributeError, TypeError, KeyError, ValueError, IndexError):
            pass  # a docstring with braces, or an object that takes no name
        return f

    return named


def wrap_nary_f(fun: Any, op: Any, argnum: Any) -> Callable[[Any], Any]:
    """The name of a derivative: what was applied to which function."""
    return wraps(
        fun,
        "{op}_of_{fun}_wrt_argnum_{argnum}",
        "{op} of the function {fun} in its argument {argnum}; it takes the arguments of {fun}.\n\n{doc}",
        op=get_name(op),
        argnum=argnum,
    )


def unary_to_nary(unary_operator: Callable[..., Any]) -> Any:
    """Make `op(f, x)`, with a function of one argument, `op(fun, argnum)(*args, **kwargs)`.

    With a tuple of argnums, the one argument is the tuple of these arguments.
    """

    @functools.wraps(unary_operator)
    def nary_operator(fun: Any, argnum: Any = 0, *op_args: Any, **op_kwargs: Any) -> Any:
        if type(argnum) not in (int, tuple, list):
            raise ArgumentError(
                f"{get_name(unary_operator)}: argnum is an int, or a tuple or list of ints, not {argnum!r}"
            )

        @wrap_nary_f(fun, unary_operator, argnum)
        def nary_f(*args: Any, **kwargs: Any) -> Any:
            @wraps(fun)
            def unary_f(x: Any) -> Any:
                places = [(argnum, x)] if isinstance(argnum, int) else zip(argnum, x)
                return fun(*subvals(args, places), **kwargs)

            x = args[argnum] if isinstance(argnum, int) else tuple(args[i] for i in argnum)
            return unary_operator(unary_f, x, *op_args, **op_kwargs)

        return nary_f

    return nary_operator
