"""The public checks."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.errors import ArgumentError, GradientCheckError
from funcgrad.testing.comparison import Comparison, agree, differs, require_like
from funcgrad.testing.differences import LeafProgram, Tolerances, direction, reference
from funcgrad.transforms.leaves import one_for_each
from funcgrad.transforms.vectorize import broadcast_axes, vmap
from funcgrad.transforms.wrapping import check_function, name_of


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of `f` at `args` against central finite differences.

    Args:
        f: the function; its arguments and output are pytrees of numbers and arrays, real or complex. Integers
            among the arguments are held fixed, and outputs that are no floating numbers are left out.
        args: a tuple of its arguments, where the derivatives are taken.
        order: the highest order to check. Order 2 differentiates each derivative of order 1 in each mode, and
            so on.
        modes: "fwd" (jvp), "rev" (vjp), or both.
        atol, rtol: the difference allowed is atol + rtol * abs(expected); by default 1e-6 each (2e-3 in
            single precision).
        eps: the step of the differences, in units of max(1, abs(x)). By default it is found by comparing
            several.

    Raises:
        GradientCheckError: a derivative is wrong, or has not the shape and dtype of the value that it belongs
            to.
        ArgumentError: `args` is no tuple, it or the output holds no floating number, or `order` or `modes` is
            none of
        those above.

    >>> import numpy as np
    >>> from funcgrad.testing import check_grads
    >>> check_grads(lambda x, y: {"out": np.hypot(x, y)}, (3.0, np.array([1.0, 2.0])), order=2)
    """
    if isinstance(order, bool) or not hasattr(order, "__index__") or operator.index(order) < 1:
        raise ArgumentError(f"check_grads: order must be an int of at least 1, not {order!r}")
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    if not modes or not set(modes) <= {"fwd", "rev"}:
        raise ArgumentError(f"check_grads: modes must name 'fwd', 'rev' or both, not {modes!r}")
    check_function(f, "check_grads")
    _check(LeafProgram.of(f, args), operator.index(order), modes, Tolerances(atol, rtol, eps), ())


def check_jvp(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check forward mode alone: `check_grads` with modes=("fwd",).

    >>> import numpy as np
    >>> check_jvp(np.sin, (np.array([0.0, 1.0]),), order=3)
    """
    check_grads(f, args, order, ("fwd",), atol, rtol, eps)


def check_vjp(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check reverse mode alone: `check_grads` with modes=("rev",).

    >>> import numpy as np
    >>> check_vjp(lambda p: p["w"] @ p["x"], ({"w": np.eye(2), "x": np.array([1.0, 4.0])},))
    >>> from funcgrad import stop_gradient
    >>> check_vjp(lambda x: x * stop_gradient(x), (3.0,))
    Traceback (most recent call last):
    funcgrad.errors.GradientCheckError: <lambda>: the cotangent of argument 0 is wrong (mode 'rev', order 1)
      expected: ... (finite differences along a random direction)
      came: ... (vjp)
    """
    check_grads(f, args, order, ("rev",), atol, rtol, eps)


def check_vmap(
    f: Callable[..., Any],
    args: Sequence[Any],
    in_axes: Any = 0,
    atol: float | None = None,
    rtol: float | None = None,
) -> None:
    """Check that `vmap(f, in_axes)(*args)` is what a loop over the examples gives.

    Args:
        f: the function of one example; its output is a pytree of arrays.
        args: a tuple of its arguments, each with a batch axis where `in_axes` says.
        in_axes: as in `vmap`.
        atol, rtol: the difference allowed is atol + rtol * abs(expected); by default 1e-6 each (2e-3 in
            single precision).

    Raises:
        GradientCheckError: structure, shape, dtype or a number differs. ArgumentError: `args` is no tuple.

    >>> import numpy as np
    >>> check_vmap(lambda x, w: np.exp(x) @ w, (np.eye(3), np.arange(3.0)), in_axes=(0, None))
    """
    check_function(f, "check_vmap")
    one_for_each("check_vmap: args", args)
    came = vmap(f, in_axes)(*args)
    axes = broadcast_axes("in_axes", tuple(in_axes) if isinstance(in_axes, list) else in_axes, tuple(args))
    values, structure = tree.flatten(tuple(args))
    size = next(np.shape(x)[axis] for x, axis in zip(values, axes, strict=True) if axis is not None)
    outs = []
    for k in range(size):
        example = [x if axis is None else np.take(x, k, axis) for x, axis in zip(values, axes, strict=True)]
        outs.append(f(*tree.unflatten(structure, example)))
    expected = tree.map(lambda *parts: np.stack(parts), *outs)
    title = f"vmap({name_of(f)}), in_axes={in_axes!r}"
    try:
        values = tree.flatten_like(tree.structure(expected), came, what="output")
    except ValueError as error:
        raise GradientCheckError(f"{title}: {error}") from None
    for (path, e), c in zip(tree.flatten_with_path(expected)[0], values, strict=True):
        where = f"{title}: output{tree.keystr(path)} is wrong"
        require_like(where, e, c, "the loop's result")
        if not agree(e, c, Tolerances(atol, rtol, None).allowed([e], abs(e))):
            raise GradientCheckError(differs(where, "a loop over the examples", e, "vmap", c))


def _check(
    program: LeafProgram, order: int, modes: Sequence[str], limits: Tolerances, history: tuple[str, ...]
) -> None:
    """Check `program` in these modes, and its derivatives to `order`; `history` holds the modes so far."""
    rng = np.random.default_rng(len(history))
    outs = program.run(*program.leaves)
    tangents = [direction(rng, x, np.maximum(1, abs(x))) for x in program.leaves]
    cts = [direction(rng, o, 1) for o in outs]
    references = [reference(program, i, t, outs, limits) for i, t in enumerate(tangents)]
    for mode in modes:
        comparison = Comparison(program, outs, references, limits, (*history, mode))
        if mode == "fwd":
            comparison.check_push()
        else:
            comparison.check_pull(cts)
        if order > 1:
            derivative = program.pushed(tangents) if mode == "fwd" else program.pulled(cts)
            _check(derivative, order - 1, modes, limits, (*history, mode))
