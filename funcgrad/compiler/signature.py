"""What tells programs apart: the tree of the arguments, shapes and dtypes, and static values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.compiler.steps import order_of
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import ArgumentError

_NUMBERS = frozenset([float, int, complex])
# Classes whose objects change where no fact tells, so that functions of them run eagerly; and what to write instead.
# Packages that have such classes put them here.
UNWATCHED: dict[type, str] = {}


def unwatched(x: Any) -> str | None:
    """If `x` is of a class in UNWATCHED: what to write instead."""
    return next((advice for kind, advice in UNWATCHED.items() if isinstance(x, kind)), None)


class Arguments:
    """The arguments of one call, taken apart: `leaves` flow through the program, all else is in `key`."""

    __slots__ = ("flows", "key", "leaves", "structure")

    def __init__(
        self, leaves: list[Any], flows: tuple[int, ...] | None, key: Any, structure: tree.Structure | None
    ) -> None:
        self.leaves, self.flows, self.key, self.structure = leaves, flows, key, structure

    def rebuilt(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """(args, kwargs) with these values for what flows."""
        if self.flows is None:
            return tuple(values), {}
        leaves = list(self.leaves)
        for i, value in zip(self.flows, values, strict=True):
            leaves[i] = value
        assert self.structure is not None
        return tree.unflatten(self.structure, leaves)

    def without_values(self) -> Arguments:
        """The same, holding only what is static."""
        flows = range(len(self.leaves)) if self.flows is None else self.flows
        leaves = [None if i in flows else x for i, x in enumerate(self.leaves)]
        return Arguments(leaves, self.flows, self.key, self.structure)

    @property
    def others(self) -> tuple[Any, ...]:
        """What does not flow."""
        if self.flows is None:
            return ()
        return tuple([x for i, x in enumerate(self.leaves) if i not in self.flows])

    @property
    def values(self) -> list[Any]:
        """What flows."""
        return self.leaves if self.flows is None else [self.leaves[i] for i in self.flows]


def key_of(x: Any) -> Any:
    """What is fixed of a leaf that flows; None, if it does not."""
    kind = type(x)
    if kind is np.ndarray:
        if x.dtype.kind not in "fciub":
            return None
        if x.flags.c_contiguous:
            return x.dtype, x.shape
        return x.dtype, x.shape, order_of(x)
    if kind in _NUMBERS:
        return kind
    if isinstance(x, np.generic) and x.dtype.kind in "fciub":
        return kind
    return None


def arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any], static: Any = (), *, traced: bool = False
) -> Arguments | None:
    """The arguments of a call; None, if there are tracers among them, which do not flow unless `traced`.

    `static` names those that are taken as they are.
    """
    if not kwargs and not static:
        keys = tuple([Tracer if traced and isinstance(x, Tracer) else key_of(x) for x in args])
        if None not in keys:
            return Arguments(list(args), None, keys, None)
    return _general(args, kwargs, static, traced)


class _Static:
    """A static argument, as a leaf."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _general(args: tuple[Any, ...], kwargs: dict[str, Any], static: Any, traced: bool) -> Arguments | None:
    held_args = tuple(_Static(a) if i in static else a for i, a in enumerate(args))
    held_kwargs = {k: _Static(v) if k in static else v for k, v in kwargs.items()}
    leaves, structure = tree.flatten((held_args, held_kwargs))
    flows, keys = [], []
    for i, x in enumerate(leaves):
        if type(x) is _Static:
            leaves[i] = x = x.value
            keys.append(("static", _key_of_static(_hashable(x, "a static argument"))))
            continue
        if isinstance(x, Tracer) and not traced:
            return None
        key = Tracer if isinstance(x, Tracer) else key_of(x)
        if key is None:
            keys.append(("static", _key_of_static(_hashable(x, "an argument"))))
        else:
            flows.append(i)
            keys.append(key)
    return Arguments(leaves, tuple(flows), (structure, *keys), structure)


def _hashable(x: Any, what: str) -> Any:
    try:
        hash(x)
    except TypeError:
        raise ArgumentError(
            f"jit: {what} is a {type(x).__name__}, which is neither a number or an array of numbers nor can be hashed. Pass "
            "arrays (np.asarray(x)), or a tuple in the place of a list, or make its class a dataclass, or "
            "register it with funcgrad.tree.register_node."
        ) from None
    return x


def _key_of_static(x: Any) -> Any:
    """What tells a static argument apart, also from its equals: 1, 1.0 and True; 0.0 and -0.0."""
    if type(x) is tuple:
        return tuple, *map(_key_of_static, x)
    if unwatched(x):  # all of them run eagerly
        return type(x)
    if isinstance(x, (float, complex)):
        return type(x), repr(x)
    if is_dataclass(x) and not isinstance(x, type):
        return type(x), x, *(_key_of_static(getattr(x, f.name)) for f in fields(x))
    return type(x), x


def questions(args: Sequence[Any]) -> tuple[list[str], dict[str, Any]] | None:
    """Expressions that ask whether plain arguments x0, x1, ... have the signature of these, and what they name."""
    tests: list[str] = []
    space: dict[str, Any] = {"ndarray": np.ndarray}
    for i, x in enumerate(args):
        kind = type(x)
        if kind is np.ndarray and x.flags.c_contiguous:
            space[f"d{i}"] = x.dtype
            tests.append(
                f"type(x{i}) is ndarray and x{i}.dtype is d{i} and x{i}.shape == {x.shape} and x{i}.flags.c_contiguous"
            )
        elif kind in _NUMBERS or isinstance(x, np.generic):
            space[f"k{i}"] = kind
            tests.append(f"type(x{i}) is k{i}")
        else:
            return None
    return tests, space


def quick_test(args: Sequence[Any]) -> Callable[[Sequence[Any]], bool] | None:
    """A function that tells whether other arguments (plain, by position) have the signature of these."""
    found = questions(args)
    if found is None:
        return None
    tests, space = found
    names = "".join(f"x{i}, " for i in range(len(args)))
    unpacked = f"    ({names}) = args\n" if args else ""
    tested = " and ".join(tests) or "True"
    source = (
        f"def fits(args):\n    if len(args) != {len(args)}: return False\n{unpacked}    return {tested}\n"
    )
    exec(compile(source, "<funcgrad signature>", "exec"), space)
    return space["fits"]
