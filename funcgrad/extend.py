"""Derivatives for functions of your own, or of other libraries, by the verbs of funcgrad's own rules.

    elementwise          one partial derivative for each operand
    selection            an elementwise choice among operands: a weight for each
    linear               the transpose
    multilinear          one transpose for each operand
    custom               any other function: how a cotangent is pulled back, and (optionally) how a tangent is pushed
    piecewise_constant   no derivative, as of rounding
    composite            another body, written in NumPy, for where derivatives are needed
    opaque               any function, of any arguments, keywords and outputs: pull and push are told of the call
    unsupported          refused, with the reason

Each takes the function and formulas in plain NumPy, and returns the function to call. The names of a
formula's parameters say what it needs: the function's own parameters, or `out`, its result. Only that is kept
until the derivative is computed. Formulas are themselves differentiated, so all orders, forward and reverse
mode and vmap follow from one declaration.

    square = extend.elementwise(lambda x: x ** 2, lambda x: 2 * x)

    @extend.elementwise(partials=[lambda out: out])     # the same verbs as decorators: formulas by keyword
    def exp(x):
        return np.exp(x)

A ufunc, or a function that dispatches by NumPy's protocols (from SciPy, say), is then known wherever it is
called on a tracer. Any other function is known by what the verb returns.

Options of all verbs that declare derivatives:
    operands    the parameters that are arrays, "a b"; "arrays*" is a list of arrays. By default all parameters without
                defaults for `elementwise` and `selection`, as many as there are transposes for `multilinear`,
                those in the dict for `custom` and `linear`; else the first parameter.
    batch       how vmap runs it on a whole batch: "aligned" (elementwise; the default of `elementwise` and
                `selection`), "axis" (the parameter `axis` counts axes of the first operand, and moves by
                one), "leading" (it works on the last axes and broadcasts over the others). By default the
                examples run one by one: right, but slow.
    name        its name in messages.

The formulas of `opaque` are told of the call as a whole (`Called`), not by names. For a rule that shares work
between value and derivative, see `custom_vjp`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.arrays.methods import RUNNERS
from funcgrad.core.arrays.spec import Spec
from funcgrad.core.engine import declare
from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.cotangent import select
from funcgrad.core.engine.primitive import Primitive
from funcgrad.core.engine.trace import innermost
from funcgrad.core.libraries import load_late
from funcgrad.errors import RuleError
from funcgrad.transforms.opaque_functions import Called, OpaqueFunction
from funcgrad.transforms.wrapping import name_of

__all__ = [
    "Called",
    "Spec",
    "composite",
    "custom",
    "elementwise",
    "from_triangle",
    "linear",
    "multilinear",
    "opaque",
    "piecewise_constant",
    "select",
    "selection",
    "unsupported",
]

Function = Callable[..., Any]
Formula = Callable[..., Any]
Partial = Formula | float | None

# What users have declared may be declared again (a cell is run twice), unlike funcgrad's own rules.
_YOURS: set[Any] = set()


def elementwise(
    function: Any = None, *given: Partial, partials: Sequence[Partial] = (), **options: Any
) -> Any:
    """Declare an elementwise function (it may broadcast its operands).

    Args:
        function: the function; with its partial derivatives by keyword this may be left out, for a decorator.
        given, partials: the partial derivative in each operand: a formula of the operands and `out`, a number
            where it is constant, None where it is zero.
        options: see the module.

    Returns:
        The function to call, on arrays and tracers.

    Raises:
        RuleError: not as many partials as operands, or one that names what the function does not have.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import extend
    >>> @extend.elementwise(partials=[lambda out: out * (1 - out)])
    ... def sigmoid(x):
    ...     return 1 / (1 + np.exp(-x))
    >>> fg.elementwise_grad(sigmoid)(np.array([0.0, 1.0]))
    array([0.25      , 0.19661193])
    >>> ratio = extend.elementwise(lambda x, y: x / y, lambda y: 1 / y, lambda out, y: -out / y)
    >>> [float(g) for g in fg.grad(ratio, argnums=(0, 1))(1.0, 2.0)]
    [0.5, -0.25]
    """
    return _by_formulas(declare.elementwise, function, (*given, *partials), options)


def selection(function: Any = None, *given: Partial, weights: Sequence[Partial] = (), **options: Any) -> Any:
    """Declare an elementwise choice among its operands.

    Like `elementwise`, with a weight (an array of numbers from 0 to 1, or of booleans) for each operand. What
    has weight 0 contributes nothing, even where its own derivative is inf or NaN.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import extend
    >>> positive = extend.selection(lambda x, y: np.where(x > 0, x, y), lambda x: x > 0, lambda x: x <= 0)
    >>> fg.elementwise_grad(lambda x: positive(np.sqrt(x), 2 * x))(np.array([0.0, 4.0]))
    array([2.  , 0.25])
    """
    return _by_formulas(declare.selection, function, (*given, *weights), options)


def linear(
    function: Any = None, transpose: Formula | dict[str, Formula] | None = None, **options: Any
) -> Any:
    """Declare a linear function.

    Args:
        function: the function, linear in its first parameter.
        transpose: `transpose(ct, ...)` returns the cotangent of the operand. It may name parameters of the
            function; the operand itself is there as a `Spec` (shape, dtype, ndim, size), for its value can't
            matter. A dict of transposes by name: the function is linear in these together.
        options: see the module; `moves=True` says that it only moves, copies and adds up elements, so that
            what is masked further on stays masked.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import extend
    >>> @extend.linear(transpose=lambda ct, x, k: np.pad(ct, (k, x.size - k - ct.size)))
    ... def drop(x, k):
    ...     return x[k:]
    >>> fg.grad(lambda x: np.sum(drop(x, 1) ** 2))(np.array([1.0, 2.0, 3.0]))
    array([0., 4., 6.])
    """
    if function is None:
        return lambda f: linear(f, transpose, **options)
    options = _with_operands(options, transpose)
    return _declared(declare.linear, function, (transpose,), options)


def multilinear(
    function: Any = None, *given: Formula, transposes: Sequence[Formula] = (), **options: Any
) -> Any:
    """Declare a function that is linear in each of several operands, as a product is.

    Args:
        function: the function; its first parameters are the operands.
        given, transposes: for each operand, `transpose(ct, ...)`, as in `linear`; the other operands are
            there as values.
        options: see the module.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import extend
    >>> outer = extend.multilinear(lambda x, y: x[:, None] * y, lambda ct, y: ct @ y, lambda ct, x: x @ ct)
    >>> fg.grad(lambda x: np.sum(outer(x, np.array([1.0, 2.0]))))(np.array([5.0, 6.0]))
    array([3., 3.])
    """
    if function is None:
        return lambda f: multilinear(f, *given, transposes=transposes, **options)
    formulas = (*given, *transposes)
    names = _parameters(function)[: len(formulas)]
    return _declared(declare.multilinear, function, formulas, {"operands": " ".join(names), **options})


def custom(
    function: Any = None,
    pull: Formula | dict[str, Formula] | None = None,
    *,
    push: Formula | None = None,
    joint: Formula | None = None,
    **options: Any,
) -> Any:
    """Declare any other function.

    Args:
        function: the function.
        pull: `pull(ct, ...)` returns the cotangent of the first operand; a dict of them by name for several.
        push: `push(t, ...)` returns the tangent of the output; of several operands, `t` is a dict of tangents
            by name, None for a zero. Without it, forward mode transposes `pull`.
        joint: one formula that returns the cotangents of all operands, as a tuple. `pull` may be given beside
            it, for operands that are cheaper when they alone are wanted.
        options: see the module.

    A function with several outputs returns a tuple; `ct` is then a list, with None for an output that nobody
    used.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import extend
    >>> inverse = extend.custom(lambda a: np.linalg.inv(a), lambda ct, out: -out.T @ ct @ out.T)
    >>> fg.grad(lambda a: inverse(a)[0, 0])(np.diag([2.0, 4.0]))
    array([[-0.25,  0.  ],
           [ 0.  ,  0.  ]])
    """
    if function is None:
        return lambda f: custom(f, pull, push=push, joint=joint, **options)
    options = _with_operands(options, pull)
    if pull is None and joint is None or joint is not None and "operands" not in options:
        raise RuleError(
            f"extend.custom of {name_of(function)}: give pull, or joint together with operands='x y'"
        )
    return _declared(declare.custom, function, (pull,), {"push": push, "joint": joint, **options})


def piecewise_constant(function: Function, **options: Any) -> Any:
    """Declare a function without derivative, such as rounding: its result is constant. Also a decorator.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import extend
    >>> @extend.piecewise_constant
    ... def to_quarters(x):
    ...     return np.round(4 * x) / 4
    >>> float(fg.grad(lambda x: x * to_quarters(x))(1.1))
    1.0
    """
    return _declared(declare.piecewise_constant, function, (), options)


def composite(function: Any = None, body: Function | None = None) -> Any:
    """Declare another body for a function, in NumPy, that runs where derivatives (or vmap) are needed.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import extend
    >>> fast = lambda x: float(x) ** 2      # stands for a function that tracers can't enter
    >>> square = extend.composite(fast, lambda x: x * x)
    >>> square(3.0), float(fg.grad(square)(3.0))
    (9.0, 6.0)
    """
    if function is None:
        return lambda f: composite(f, body)
    return _declared(declare.composite, function, (body,), {})


def opaque(
    function: Any = None,
    *,
    pull: Formula | None = None,
    push: Formula | None = None,
    batch: str = "one by one",
) -> Any:
    """Declare a function that is one step, whatever it takes and returns.

    Its arguments, by position or by keyword, are numbers, arrays, pytrees of them, or anything else (which it
    gets as it is). Its output is a pytree, too, whose leaves may be anything; numbers and arrays among them
    have derivatives.

    Args:
        function: the function. It is called on plain values, unless an argument holds a tracer that is no leaf,
            or `jit` records it: compiled functions need one that is NumPy code.
        pull: `pull(ct, call)` returns the cotangents of the arguments: a tuple with one for each that was
            given by position, or a dict of them by position and by keyword; None is a zero, as is what is
            missing in the dict. `ct` is like the output, with None for what is no number there. `call`
            is a `Called`: it has `args`, `kwargs`, `out`, and `wanted`, the arguments that take part.
        push: `push(t, call)` returns the tangent of the output. `t` is a dict of tangents, by position and
            keyword, of the arguments in `call.wanted`.
        batch: what vmap does: "one by one" runs function and rules for each example; "traced" runs them once,
            on tracers of the whole batch, as they are NumPy code.

    Either rule alone serves both directions: the other is its transpose, which is found by running the rule on
    tracers. Rules that are NumPy code are differentiated, too, for higher orders.

    Raises:
        RuleError: neither rule was given, and a derivative is asked for; or what a rule returned has another
            structure, shape or dtype than what it belongs to.
        OutputError: under vmap, the examples gave outputs that differ in more than numbers.

    >>> import math, numpy as np, funcgrad as fg
    >>> from funcgrad import extend
    >>> @extend.opaque(
    ...     pull=lambda ct, call: {0: ct["value"] * call.kwargs["scale"] * math.cos(call.args[0])},
    ...     push=lambda t, call: {"value": t[0] * call.kwargs["scale"] * math.cos(call.args[0]), "how": None},
    ... )
    ... def sine(x, *, scale):
    ...     return {"value": scale * math.sin(x), "how": "by C"}
    >>> float(fg.grad(lambda x: sine(x, scale=3.0)["value"])(0.0))
    3.0
    >>> fg.vmap(lambda x: sine(x, scale=2.0)["value"])(np.array([0.0, np.pi / 2]))
    array([0., 2.])
    """
    options: dict[str, Any] = {"pull": pull, "push": push, "batch": batch}
    if function is None:
        return lambda f: opaque(f, **options)
    for thing in (function, *(rule for rule in (pull, push) if rule is not None)):
        if not callable(thing):
            raise RuleError(f"extend.opaque takes functions, not {type(thing).__name__}")
    if batch not in ("one by one", "traced"):
        raise RuleError(
            f"extend.opaque of {name_of(function)}: batch is 'one by one' or 'traced', not {batch!r}"
        )
    return OpaqueFunction(function, **options)


def unsupported(function: Function, reason: str, instead: str = "") -> Any:
    """Declare that a function can't be differentiated: on a tracer it raises UnsupportedFunctionError.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad import extend
    >>> lookup = extend.unsupported(lambda x: x, "it reads from a table", "Write np.interp instead.")
    >>> fg.grad(lookup)(1.0)
    Traceback (most recent call last):
    funcgrad.errors.UnsupportedFunctionError: ... it reads from a table. Write np.interp instead.
    """
    return _declared(declare.unsupported, function, (reason, instead), {})


def from_triangle(a: Any, uplo: str = "L") -> Any:
    """The symmetric (or Hermitian) matrix whose lower ("L") or upper ("U") triangle is that of `a`.

    np.linalg.eigh and cholesky read one triangle, and the gradient that funcgrad gives is symmetric: half of
    it belongs to the entry that is not read. Behind this function the gradient lies in the triangle that is
    read.

    Args:
        a: matrices, of shape (..., n, n). uplo: "L" or "U".

    Raises:
        ValueError: another `uplo`.

    >>> import numpy as np, funcgrad as fg
    >>> from funcgrad.extend import from_triangle
    >>> fg.grad(lambda a: np.linalg.eigvalsh(from_triangle(a))[0])(np.array([[2.0, 1.0], [1.0, 3.0]])).round(3)
    array([[ 0.724,  0.   ],
           [-0.894,  0.276]])
    """
    if uplo not in ("L", "U", "l", "u"):
        raise ValueError(f"from_triangle: uplo is 'L' or 'U', not {uplo!r}")
    half = np.tril(a, -1) if uplo in "Ll" else np.triu(a, 1)
    diagonal = np.real(a) if np.iscomplexobj(a) else a
    return (
        half + np.swapaxes(np.conj(half), -1, -2) + diagonal * np.eye(np.shape(a)[-1], dtype=diagonal.dtype)
    )


# ---- how a declaration is made ---------------------------------------------------------------------------------------


class _Chosen:
    """A function that is replaced where there are tracers among its arguments."""

    def __init__(self, function: Function, replacement: Function) -> None:
        functools.update_wrapper(self, function)
        self.function, self.replacement = function, replacement

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        is_traced = innermost(tree.leaves((args, kwargs))) is not None
        return (self.replacement if is_traced else self.function)(*args, **kwargs)


def _by_formulas(verb: Any, function: Any, formulas: tuple[Partial, ...], options: dict[str, Any]) -> Any:
    if function is None:
        return lambda f: _by_formulas(verb, f, formulas, options)
    names = options["operands"].split() if "operands" in options else _parameters(function)
    if len(formulas) != len(names):
        raise RuleError(
            f"extend.{verb.__name__} of {name_of(function)}: {len(formulas)} formulas for {len(names)} operands "
            f"({', '.join(names)}); give one for each, None where the derivative is zero"
        )
    if not isinstance(function, np.ufunc):
        options = {"operands": " ".join(names), **options}
    return _declared(verb, function, formulas, options)


def _parameters(function: Function) -> list[str]:
    """The parameters that take operands: those without defaults, by position."""
    if isinstance(function, np.ufunc):
        return (
            ["x", "y", "z"][: function.nin] if function.nin <= 3 else [f"x{i}" for i in range(function.nin)]
        )
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind in by_position and p.default is p.empty]


def _with_operands(options: dict[str, Any], formulas: Any) -> dict[str, Any]:
    """The operands that a dict of formulas names."""
    return {"operands": " ".join(formulas), **options} if isinstance(formulas, dict) else options


def _declared(verb: Any, function: Function, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Declare, and return what is to be called."""
    title = f"extend.{verb.__name__} of {name_of(function)}"
    if not callable(function):
        raise RuleError(f"extend.{verb.__name__} takes a function, not {type(function).__name__}")
    load_late()
    known = CATALOGUE.get(function)
    if known is not None and known.status != "unsupported" and function not in _YOURS:
        kind = known.kind or known.status
        raise RuleError(
            f"{title}: funcgrad has a rule for it ({kind}); to change its derivative use custom_vjp"
        )
    CATALOGUE.pop(function, None)
    RUNNERS.forget(function)
    try:
        verb(function, *args, **options)
        primitive = CATALOGUE[function]
        if isinstance(primitive, Primitive):
            _check(primitive)
    except (ValueError, TypeError) as error:
        CATALOGUE.pop(function, None)
        if known is not None and function not in _YOURS:
            CATALOGUE[function] = known
        raise RuleError(f"{title}: {error}") from None
    if isinstance(function, np.ufunc) or hasattr(function, "_implementation"):
        _YOURS.add(function)  # NumPy's protocols lead from here to the catalogue
        return function
    del CATALOGUE[function]
    if primitive.status in ("composite", "unsupported"):
        return _Chosen(function, primitive)
    if isinstance(primitive, Primitive):
        primitive.given = tuple(tree.leaves((args, options)))
    return functools.update_wrapper(primitive, function)


def _check(primitive: Primitive) -> None:
    """Look at the names in a declaration at once, not at its first use."""
    primitive.check()
    unknown = [name for name in primitive.operand_names if name not in primitive.signature.parameters]
    if unknown:
        raise ValueError(
            f"the operands {unknown} are none of its parameters {tuple(primitive.signature.parameters)}"
        )
