"""np.einsum: brought to a canonical form, `a,b,...->out`, a letter per axis; linear in each operand.

The transpose in one operand is the einsum of the cotangent with the other operands onto the letters of that
operand. Three things need care: a letter that no other operand and no output has (its axis was summed: the
cotangent is repeated along it), a letter that an operand has twice (its cotangent lives on the diagonal), and
an axis of length 1 that met a longer one (summed back).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from inspect import Parameter, Signature
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.arrays.arguments import as_operand, out_refused
from funcgrad.core.arrays.spec import spec
from funcgrad.core.engine.batch import ndim_of
from funcgrad.core.engine.catalogue import Out
from funcgrad.core.engine.cotangent import select
from funcgrad.core.engine.declare import composite, query
from funcgrad.core.engine.kinds import Formula
from funcgrad.core.engine.named import Multilinear
from funcgrad.core.engine.primitive import Call, Primitive
from funcgrad.core.engine.roots import declare_product
from funcgrad.core.engine.trace import bind

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
WORTH_BLAS = 20_000  # multiplications, from where on the search for a better way to contract pays


# ---- the canonical form ----------------------------------------------------------------------------------------------


def _einsum(
    *operands: Any,
    out: Any = None,
    optimize: Any = False,
    dtype: Any = None,
    order: str = "K",
    casting: Any = "safe",
) -> Any:
    if out is not None:
        raise out_refused("einsum")
    subscripts, arrays = _text_form(operands)
    if dtype is not None:
        arrays = [_cast(x, np.dtype(dtype), casting) for x in arrays]
    terms = canonical(subscripts, tuple(ndim_of(x) for x in arrays))
    return contraction(len(arrays))(*arrays, subscripts=terms, optimize=optimize)


def _cast(x: Any, dtype: Any, casting: Any) -> Any:
    if not np.can_cast(x.dtype, dtype, casting):
        raise TypeError(
            f"np.einsum: an operand can't be cast from {x.dtype} to {dtype} by the rule {casting!r}"
        )
    return x.astype(dtype)


def _text_form(operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """The subscripts and the arrays, where `einsum(a, [0, 1], b, [1, 2], [0, 2])` is written as text."""
    if isinstance(operands[0], str):
        return operands[0], [as_operand(x) for x in operands[1:]]
    pairs = len(operands) // 2
    text = ",".join(_letters(operands[2 * i + 1]) for i in range(pairs))
    if len(operands) % 2:
        text += "->" + _letters(operands[-1])
    return text, [as_operand(x) for x in operands[0 : 2 * pairs : 2]]


def _letters(sublist: Sequence[Any]) -> str:
    allowed = range(len(LETTERS))
    if not all(i is Ellipsis or (isinstance(i, (int, np.integer)) and i in allowed) for i in sublist):
        raise ValueError(f"np.einsum: subscripts are integers from 0 to 51 and Ellipsis, not {sublist!r}")
    return "".join("..." if i is Ellipsis else LETTERS[i] for i in sublist)


@lru_cache(maxsize=1024)
def canonical(subscripts: str, ranks: tuple[int, ...]) -> str:
    """`subscripts` with an explicit output, without blanks, and with letters for the axes of `...`."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ValueError(
            f"np.einsum: {subscripts!r} names {len(terms)} operands, but {len(ranks)} were given"
        )
    free = [c for c in LETTERS if c not in text]
    spans = [
        rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks, strict=True) if "..." in term
    ]
    span = max(spans, default=0)
    if span > len(free):
        raise ValueError(f"np.einsum: {subscripts!r} needs more than {len(LETTERS)} letters")
    dots = "".join(free[:span])
    if arrow and dots and "..." not in right:
        raise ValueError(
            f"np.einsum: {subscripts!r} has operands with '...', so its output must have '...' too"
        )
    if not arrow:
        counts = Counter(left.replace("...", "").replace(",", ""))
        right = "..." + "".join(c for c in sorted(counts) if counts[c] == 1)
    full = [
        term.replace("...", dots[span - (rank - len(term) + 3) :] if rank - len(term) + 3 else "")
        for term, rank in zip(terms, ranks, strict=True)
    ]
    for term, rank in zip(full, ranks, strict=True):
        if len(term) != rank or not set(term) <= set(LETTERS):
            raise ValueError(
                f"np.einsum: {subscripts!r} doesn't fit operands with {', '.join(map(str, ranks))} axes"
            )
    return f"{','.join(full)}->{right.replace('...', dots)}"


# ---- the contraction as a primitive ----------------------------------------------------------------------------------


@cache
def contraction(n: int) -> Primitive:
    """The primitive that contracts `n` operands x0, x1, ... by canonical subscripts."""
    names = [f"x{i}" for i in range(n)]

    def einsum(*operands: Any, subscripts: str, optimize: Any = False) -> Any:
        return np.einsum(subscripts, *operands, optimize=optimize)

    rule = Multilinear({name: _transpose(i, names) for i, name in enumerate(names)})
    signature = f"{', '.join(names)}, *, subscripts, optimize=False"
    # "ij->ji" and "ii->i" sum nothing: NumPy returns a view.
    primitive = Primitive(
        einsum, rule, operands=" ".join(names), signature=signature, batch=_batched, may_view=n == 1
    )
    if n == 2:
        declare_product(primitive, _of_square)
    return primitive


def _of_square(square: Any, subscripts: str, optimize: Any = False) -> Any:
    (x, y), out = _split(subscripts)
    return np.einsum(f"{x}->{out}", square) if x == y else None


def _transpose(i: int, names: Sequence[str]) -> Formula:
    """The transpose in operand `i`: a formula that names all operands."""

    def transpose(ct: Any, subscripts: str, optimize: Any = False, **operands: Any) -> Any:
        factors = [ct, *(operands[name] for name in names if name != names[i])]
        shape = operands[names[i]].shape
        onto = _onto(subscripts, i, shape, tuple(spec(x).shape for x in factors))
        if optimize is False:
            optimize = onto.is_large
        elif not isinstance(optimize, str):
            optimize = True  # a path belongs to the forward direction
        part = np.einsum(onto.subscripts, *factors, optimize=optimize)
        if onto.shape is not None:
            part = part.reshape(onto.shape)
        return _on_diagonal(part, onto.repeated, shape) if onto.repeated else part

    parameters = [
        Parameter(name, Parameter.KEYWORD_ONLY) for name in ("ct", "subscripts", "optimize", *names)
    ]
    transpose.__signature__ = Signature(parameters)
    return transpose


def _split(subscripts: str) -> tuple[list[str], str]:
    left, _, out = subscripts.partition("->")
    return left.split(","), out


class _Onto(NamedTuple):
    """How the cotangent and the other operands are brought to the shape of one operand."""

    subscripts: str
    shape: tuple[int, ...] | None  # what the result is reshaped to, so that it broadcasts to the operand
    repeated: str  # the letters of the operand, if one occurs twice
    is_large: bool


@lru_cache(maxsize=1024)
def _onto(subscripts: str, i: int, shape: tuple[int, ...], shapes: tuple[tuple[int, ...], ...]) -> _Onto:
    """The einsum of a cotangent and the other operands, of these shapes, onto operand `i` of this shape."""
    terms, out = _split(subscripts)
    term, others = terms[i], [out, *terms[:i], *terms[i + 1 :]]
    sizes: dict[str, int] = {}
    for letters, lengths in zip(others, shapes):
        for c, n in zip(letters, lengths):
            sizes[c] = n if n != 1 else sizes.get(c, 1)
    kept = "".join(dict.fromkeys(c for c, n in zip(term, shape) if c in sizes and n != 1))
    apart = tuple(sizes[c] if c in kept and term.index(c) == axis else 1 for axis, c in enumerate(term))
    return _Onto(
        f"{','.join(others)}->{kept}",
        apart if kept != term else None,
        term if len(set(term)) < len(term) else "",
        len(others) > 1 and math.prod(sizes.values()) >= WORTH_BLAS,
    )


def _on_diagonal(part: Any, term: str, shape: tuple[int, ...]) -> Any:
    """`part`, put on the diagonal of the axes that share a letter of `term`."""
    live = np.ones(shape, bool)
    for axis, c in enumerate(term):
        live &= _range(shape, axis) == _range(shape, term.index(c))
    return select(live, part)


def _range(shape: tuple[int, ...], axis: int) -> Any:
    return np.arange(shape[axis]).reshape([-1 if i == axis else 1 for i in range(len(shape))])


def _batched(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """The batch is one more letter: on the batched operands, and in front of the output."""
    terms, out = _split(call.params["subscripts"])
    letter = next((c for c in LETTERS if c not in call.params["subscripts"]), "")
    if not letter:
        raise ValueError("np.einsum under vmap: all 52 letters are taken, none is left for the batch")
    terms = [letter + term if is_batched else term for term, is_batched in zip(terms, batched, strict=True)]
    params = {**call.params, "subscripts": f"{','.join(terms)}->{letter}{out}"}
    return bind(primitive, Call(call.operands, call.layout, params))


composite(np.einsum, _einsum, out=Out(repeats=True))
query(np.einsum_path)
