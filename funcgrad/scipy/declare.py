"""The verbs that declare rules for SciPy's functions (shown in docs/adding_a_scipy_function.md).

    linalg = Chapter("linalg")                      # of scipy.linalg

    @linalg.composite("solve")                      # in terms of other functions; SciPy's own signature binds its arguments
    def solve(a, b, lower=False): ...

    linalg.custom("expm", pull, push=push)          # and linear, multilinear, elementwise, piecewise_constant, unsupported
    linalg.rerun("fiedler leslie")                  # SciPy's own Python code, run on tracers
    @integrate.functional("quad")                   # a function of the user's functions, which may close over tracers
    sparse.replaces("csr_array", CsrArray)          # a class of our own in the place of SciPy's

A name that the installed SciPy lacks is passed over.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import cached_property
from inspect import Parameter
from itertools import takewhile
from typing import Any

from funcgrad.core.engine import declare
from funcgrad.core.engine.catalogue import CATALOGUE, Composite, register
from funcgrad.errors import UnsupportedFunctionError, user_line
from funcgrad.scipy import classes  # noqa: F401  (tells rerun how classes are made)
from funcgrad.scipy.examples import by_examples
from funcgrad.scipy.mirror import FUNCTIONALS, REPLACED, scipy_module
from funcgrad.scipy.rerun import RERUN, rerun, stands_for, substitute

Function = Callable[..., Any]

# Arguments that say how SciPy computes, not what: a body need not name them.
_HOW = (
    "check_finite overwrite_a overwrite_b overwrite_x overwrite_ab overwrite_c overwrite_data overwrite_input overwrite_v "
    "overwrite_d overwrite_e overwrite_b1 overwrite_qru workers lwork lapack_driver driver eigvals_method turbo "
    "permc_spec use_umfpack full_output disp verbose"
)
IGNORED = frozenset(_HOW.split())


class Body(Composite):
    """A SciPy function in terms of others. SciPy's signature binds; `body` names what it uses.

    A body that asks for values, which vmap can't answer, is run for each example.
    """

    def __init__(self, function: Function, body: Function, name: str) -> None:
        super().__init__(function, body)
        self.name = self.__name__ = name

    @cached_property
    def signature(self) -> inspect.Signature:
        """SciPy's; of a compiled function that tells none, the body's."""
        try:
            return inspect.signature(self.function)
        except ValueError:
            return inspect.signature(self.body)

    @cached_property
    def taken(self) -> tuple[frozenset[str], bool]:
        """The names of the body's parameters; does it take any others?"""
        parameters = inspect.signature(self.body).parameters.values()
        return frozenset(p.name for p in parameters), any(p.kind is p.VAR_KEYWORD for p in parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        positional, named = self.bound(args, kwargs)
        return by_examples(self.body, positional, named, self.name, self.plain)

    @cached_property
    def plain(self) -> Function | None:
        """SciPy's function, if it takes the body's arguments and none of them is a function of the user's."""
        by_position = any(p.kind is p.POSITIONAL_ONLY for p in self.signature.parameters.values())
        return None if by_position or self.function in FUNCTIONALS else self.function

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments for the body; one that it does not know may only have its default."""
        leading, known, required = self.plainly
        if len(args) <= len(leading) and known.issuperset(kwargs):
            plainly = dict(zip(leading, args), **kwargs)
            if len(plainly) == len(args) + len(kwargs) and required <= plainly.keys():
                return (), plainly
        return self._bound_by_signature(args, kwargs)

    @cached_property
    def plainly(self) -> tuple[tuple[str, ...], frozenset[str], frozenset[str]]:
        """What needs no binding, which takes longer than many a body: the names of the first parameters, of those
        that the body knows and that may be named, and of those that must be given.
        """
        names, takes_any = self.taken
        parameters = list(self.signature.parameters.values())
        by_position = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
        by_name = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        known = [p for p in parameters if takes_any or p.name in names]
        leading = takewhile(lambda p: p.kind in by_position and p in known, parameters)
        is_variable = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        required = [p for p in parameters if p.default is Parameter.empty and p.kind not in is_variable]
        return (
            tuple(p.name for p in leading),
            frozenset(p.name for p in known if p.kind in by_name),
            frozenset(p.name for p in required),
        )

    def _bound_by_signature(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        positional: tuple[Any, ...] = ()
        named: dict[str, Any] = {}
        names, takes_any = self.taken
        for name, value in self.signature.bind(*args, **kwargs).arguments.items():
            parameter = self.signature.parameters[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional = value
            elif parameter.kind is parameter.VAR_KEYWORD:
                named.update(value)
            elif name in names or takes_any:
                named[name] = value
            elif name not in IGNORED and not (
                value is parameter.default or _is_equal(value, parameter.default)
            ):
                raise UnsupportedFunctionError(
                    f"{self.name} with {name}={value!r} was called on a tracer at {user_line()}: it has no derivative "
                    f"with this argument. Leave {name} away, or call it on funcgrad.stop_gradient(x) if the derivative "
                    "is not meant to count."
                )
        return positional, named


def _is_equal(value: Any, default: Any) -> bool:
    return (
        isinstance(value, (int, float, str, bool, tuple))
        and type(value) is type(default)
        and value == default
    )


class Chapter:
    """Rules for functions of one module of SciPy's, "linalg" or "sparse.linalg"."""

    def __init__(self, part: str) -> None:
        self.part, self.module = part, scipy_module(f"scipy.{part}")

    def found(self, names: str) -> Iterator[tuple[str, Any]]:
        """The functions of these names, with the name for messages, that are there and have no rule yet."""
        for name in names.split():
            function = getattr(self.module, name, None)
            if function is not None and function not in CATALOGUE:
                yield f"scipy.{self.part}.{name}", function

    def composite(self, names: str, body: Function | None = None) -> Any:
        """In terms of other functions. `body` names the parameters of SciPy's that it uses; also a decorator."""
        if body is None:
            return lambda body: self.composite(names, body)
        for name, function in self.found(names):
            register(function, Body(function, body, name))
        return body

    def functional(self, names: str, body: Function | None = None) -> Any:
        """As `composite`, for functions of the user's functions: the body is run whenever a transform runs."""
        if body is None:
            return lambda body: self.functional(names, body)
        for _, function in self.found(names):
            FUNCTIONALS.add(function)
        return self.composite(names, body)

    def rerun(self, names: str, **instead: Any) -> None:
        """SciPy's own Python code, run with funcgrad.numpy as numpy; `instead` replaces other names in it."""
        for name, function in self.found(names):
            register(function, Body(function, _late(function, instead), name))
            if not instead:
                RERUN.add(function)

    def replaces(self, name: str, made: Any) -> Any:
        """`made` stands in the place of SciPy's object of that name."""
        if hasattr(self.module, name):
            REPLACED[f"{self.part}.{name}"] = made
            if isinstance(theirs := getattr(self.module, name), type):
                stands_for(theirs, made)
        return made

    def classes(self, names: str) -> None:
        """Classes of SciPy's that are written in Python: their methods are rerun where tracers are about."""
        for name in names.split():
            found = getattr(self.module, name, None)
            if isinstance(found, type) and f"{self.part}.{name}" not in REPLACED:
                REPLACED[f"{self.part}.{name}"] = substitute("", found)

    def replaced(self, name: str) -> Any:
        """Our object in the place of SciPy's, as `classes` has made it."""
        return REPLACED[f"{self.part}.{name}"]

    def custom(self, names: str, *args: Any, **options: Any) -> None:
        """As `funcgrad.core.engine.declare.custom`."""
        for name, function in self.found(names):
            declare.custom(function, *args, name=name, **options)

    def linear(self, names: str, *args: Any, **options: Any) -> None:
        """As `funcgrad.core.engine.declare.linear`."""
        for name, function in self.found(names):
            declare.linear(function, *args, name=name, **options)

    def multilinear(self, names: str, *args: Any, **options: Any) -> None:
        """As `funcgrad.core.engine.declare.multilinear`."""
        for name, function in self.found(names):
            declare.multilinear(function, *args, name=name, **options)

    def elementwise(self, names: str, *args: Any, **options: Any) -> None:
        """As `funcgrad.core.engine.declare.elementwise`."""
        for name, function in self.found(names):
            declare.elementwise(function, *args, name=name, **options)

    def piecewise_constant(self, names: str, **options: Any) -> None:
        """Functions whose result is constant wherever it is smooth: they are given the plain values."""
        for name, function in self.found(names):
            declare.piecewise_constant(function, name=name, **options)

    def unsupported(self, names: str, reason: str, instead: str = "") -> None:
        """Functions that are refused: why, and what to write instead."""
        for name, function in self.found(names):
            declare.unsupported(function, reason, instead).name = name


def _late(function: Function, instead: dict[str, Any]) -> Function:
    """`function` rerun, made when it is first called."""
    made: list[Function] = []

    def body(*args: Any, **kwargs: Any) -> Any:
        if not made:
            made.append(rerun(function, instead))
        return made[0](*args, **kwargs)

    return body


# ---- the hearts of functions, which have no name of SciPy's --------------------------------------------------------------


def constant(operands: str) -> Callable[[Function], Any]:
    """A function whose result is a constant: a factorisation made once, a permutation, SciPy's value."""

    def made(function: Function) -> Any:
        declare.piecewise_constant(function, operands=operands)
        return CATALOGUE[function]

    return made


def step(operands: str, pull: Any = None, **options: Any) -> Callable[[Function], Any]:
    """`declare.custom` as a decorator: a step with its own derivative; no pull, no derivative."""

    def made(function: Function) -> Any:
        names = [name.removesuffix("*") for name in operands.split()]
        given = pull if isinstance(pull, dict) else {names[-1]: pull}
        if "joint" in options:
            return declare.custom(
                function, {k: v for k, v in given.items() if v}, operands=operands, **options
            )
        pulls = {name: given.get(name) or _no_cotangent for name in names}
        return declare.custom(function, pulls, operands=operands, **options)

    return made


def _no_cotangent(ct: Any) -> None:
    return None
