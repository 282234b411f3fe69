"""The transforms that random programs are run under, and what their results are compared with.

Values are compared with NumPy's bit by bit (under vmap, where sums may be taken in another order, to the last
digits); first derivatives with finite differences; everything else with what was compared before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

import funcgrad.numpy
from funcgrad import grad, jacfwd, jacrev, jvp, linearize, value_and_grad, vjp, vmap
from funcgrad.core.memory import guard, views
from funcgrad.core.memory.layout import repeated, spread_like
from tests.fuzz.writing import Program

STEP = 1e-3
EXAMPLES = (0.0, 0.1, -0.15)  # of a batch
ROUNDED: list[str] = []  # what agreed with NumPy, but not in the last bit


class Difference(AssertionError):
    """A transform gave something else than NumPy and finite differences."""


class Rough(Exception):
    """The program is not smooth enough, here, for finite differences."""


class Case:
    """One program with what NumPy makes of it."""

    def __init__(self, program: Program) -> None:
        self.program, self.function = program, program.function
        self.point, self.directions = program.arguments(), program.directions()

    @cached_property
    def truth(self) -> tuple[list[Any], list[str]]:
        """The arrays that the program returns, and the errors it meets."""
        return self.function(*self.program.arguments())

    def outs(self, x: Any, y: Any) -> list[Any]:
        """The arrays that the program returns."""
        return self.function(x, y)[0]

    def loss(self, x: Any, y: Any) -> Any:
        """One number that depends on every element of every array."""
        return self.weighted(self.outs(x, y))

    def weighted(self, outs: Sequence[Any]) -> Any:
        """The same, of these arrays."""
        total = 0.0
        for v, w in zip(outs, self.weights, strict=True):
            total = (
                total
                + np.sum((v * w).real)
                + 0.5 * np.sum((v * v * w).imag if v.dtype.kind == "c" else v * v * w)
            )
        return total

    def check_examples(self, steps: Sequence[float] = EXAMPLES) -> None:
        """Does the program run for each of these arguments? A mask or index may fit only some of them."""
        try:
            for h in steps:
                self.function(*self.program.arguments(h))
        except (ValueError, IndexError, TypeError) as error:
            raise Rough from error

    @cached_property
    def weights(self) -> list[Any]:
        """A weight for each element."""
        rng = np.random.default_rng(self.program.seed + 2)
        return [rng.uniform(0.5, 1.5, np.shape(v)) for v in self.truth[0]]

    def weights_as_cts(self) -> list[Any]:
        """The weights as cotangents of the arrays."""
        return [np.asarray(w, v.dtype) for w, v in zip(self.weights, self.truth[0], strict=True)]

    @cached_property
    def slope(self) -> float:
        """The derivative of the loss along the directions, by finite differences of two widths."""
        return self.differences(lambda args: self.loss(*args))

    def differences(self, f: Callable[[Any], Any]) -> Any:
        """The derivative of f(arguments) along the directions, by extrapolated central differences."""
        steps = [h for k in (1, 2, 4) for h in (k * STEP, -k * STEP)]
        with np.errstate(all="ignore"):
            try:
                at = {h: f(self.program.arguments(h)) for h in steps}
            except (ValueError, IndexError):
                self.check_examples(steps)
                raise
        narrow, middle, wide = ((at[k * STEP] - at[-k * STEP]) / (2 * k * STEP) for k in (1, 2, 4))
        estimates = [(4 * narrow - middle) / 3, (4 * middle - wide) / 3]
        if not close(estimates[0], estimates[1], 1e-5):
            raise Rough
        return estimates[0]


def close(x: Any, y: Any, rtol: float) -> bool:
    """Are these the same up to `rtol` times their size (or 1, if that is more)?"""
    x, y = np.asarray(x), np.asarray(y)
    scale = max(1.0, np.max(np.abs(y), initial=0.0))
    return x.shape == y.shape and bool(np.all(np.abs(x - y) <= rtol * scale))


def agree(found: Any, expected: Any, what: str, rtol: float = 1e-6) -> None:
    """Raise a Difference unless these are close."""
    if not close(found, expected, rtol):
        raise Difference(f"{what}: found {found}, expected {expected}")


def same(found: Sequence[Any], expected: Sequence[Any], what: str) -> None:
    """Raise a Difference unless these arrays are the same; what is not so bit by bit is counted.

    (NumPy rounds a product of complex numbers otherwise where it writes it over an operand, and BLAS a
    product of vectors where they have gaps in memory.)
    """
    for k, (x, y) in enumerate(zip(found, expected, strict=True)):
        if not np.array_equal(x, y):
            ROUNDED.append(what)
        if np.shape(x) != np.shape(y) or x.dtype != y.dtype or not close(x, y, 1e-14):
            raise Difference(f"{what}, array {k}: found {x!r}, expected {y!r}")


def spoil(*groups: Sequence[Any]) -> None:
    """What the user does to arguments and outputs later does not matter to what was recorded."""
    for x in (x for group in groups for x in group):
        if isinstance(x, np.ndarray) and x.flags.writeable:
            x.fill(np.nan)


def along(cts: Sequence[Any], directions: Sequence[Any]) -> float:
    """Gradients (or cotangents) paired with directions."""
    return float(sum(np.sum((ct * t).real) for ct, t in zip(cts, directions, strict=True)))


# ---- the modes -------------------------------------------------------------------------------------------------------


def by_grad(case: Case) -> None:
    args = case.program.arguments()

    def f(x: Any, y: Any) -> Any:
        outs, log = case.function(x, y)
        return case.weighted(outs), (outs, log)

    (_, (outs, log)), gradients = value_and_grad(f, argnums=(0, 1), has_aux=True)(*args)
    same(outs, case.truth[0], "values under grad")
    same(args, case.point, "the caller's arrays, after grad")
    if log != case.truth[1]:
        raise Difference(f"errors under grad: found {log}, expected {case.truth[1]}")
    agree(along(gradients, case.directions), case.slope, "grad")


def by_jvp(case: Case) -> None:
    args = case.program.arguments()
    outs, tangents = jvp(case.outs, args, case.directions)
    same(outs, case.truth[0], "values under jvp")
    same(args, case.point, "the caller's arrays, after jvp")
    agree(jvp(case.loss, args, case.directions)[1], case.slope, "jvp")
    for out, t in zip(outs, tangents, strict=True):
        if t.shape != out.shape or t.dtype != out.dtype:
            raise Difference(f"a tangent of {t.shape}, {t.dtype} for a value of {out.shape}, {out.dtype}")


def by_vjp(case: Case) -> None:
    args = case.program.arguments()
    outs, pull = vjp(case.outs, *args)
    same(outs, case.truth[0], "values under vjp")
    spoil(args, outs)
    expected = jvp(case.outs, case.program.arguments(), case.directions)[1]
    for _ in range(2):
        agree(along(pull(case.weights_as_cts()), case.directions), along(case.weights, expected), "vjp", 1e-9)


def by_jacrev(case: Case) -> None:
    _jacobian(case, jacrev)


def by_jacfwd(case: Case) -> None:
    if case.program.dtype != "complex128":
        _jacobian(case, jacfwd)


def _jacobian(case: Case, transform: Any) -> None:
    def real(x: Any, y: Any) -> list[Any]:
        return [v.real for v in case.outs(x, y)]

    rows = transform(real, argnums=(0, 1))(*case.program.arguments())
    tangents = jvp(real, case.program.arguments(), case.directions)[1]
    for blocks, t in zip(rows, tangents, strict=True):
        found = sum(
            np.real(np.tensordot(b, d, axes=d.ndim)) for b, d in zip(blocks, case.directions, strict=True)
        )
        agree(found, t, transform.__name__, 1e-9)


def _examples(case: Case) -> list[tuple[Any, Any]]:
    return [case.program.arguments(h) for h in EXAMPLES]


def _batch(case: Case) -> list[Any]:
    """The arguments of three examples; each lies in memory as it does alone."""
    case.check_examples()
    batches = []
    for xs in zip(*_examples(case), strict=True):
        batch = spread_like(xs[0], (len(xs),))
        for k, x in enumerate(xs):
            batch[k] = x
        batches.append(batch)
    return batches


def _each(case: Case, f: Callable[[Any, Any], Any]) -> list[Any]:
    """`f` of each example."""
    return [f(*args) for args in _examples(case)]


def by_vmap(case: Case) -> None:
    args = _batch(case)
    _vmapped(case, vmap(case.outs)(*args), _each(case, case.outs))
    same(args, _batch(case), "the caller's arrays, after vmap")


def by_vmap_of_the_last_axis(case: Case) -> None:
    """Examples that are scattered in memory are copied together."""
    case.check_examples()
    args = [np.stack(xs, axis=-1) for xs in zip(*_examples(case), strict=True)]
    found = vmap(case.outs, in_axes=-1, out_axes=-1)(*args)
    expected = [case.outs(*(x[()].copy("C") for x in pair)) for pair in _examples(case)]
    _vmapped(case, [np.moveaxis(x, -1, 0) for x in found], expected)


def _vmapped(case: Case, found: Sequence[Any], expected: Sequence[Any]) -> None:
    for k, x in enumerate(found):
        agree(x, np.stack([outs[k] for outs in expected]), f"vmap, array {k}", 1e-11)
        if x.dtype != expected[0][k].dtype:
            raise Difference(f"vmap, array {k}: {x.dtype} instead of {expected[0][k].dtype}")


def by_vmap_of_grad(case: Case) -> None:
    found = vmap(grad(case.loss, argnums=(0, 1)))(*_batch(case))
    expected = _each(case, grad(case.loss, argnums=(0, 1)))
    for k, x in enumerate(found):
        agree(x, np.stack([gradients[k] for gradients in expected]), "vmap of grad", 1e-9)


def by_grad_of_vmap(case: Case) -> None:
    found = grad(lambda x, y: np.sum(vmap(case.loss)(x, y)), argnums=(0, 1))(*_batch(case))
    expected = _each(case, grad(case.loss, argnums=(0, 1)))
    for k, x in enumerate(found):
        agree(x, np.stack([gradients[k] for gradients in expected]), "grad of vmap", 1e-9)


def by_vmap_of_jvp(case: Case) -> None:
    directions = [np.stack([d, 2 * d, -d]) for d in case.directions]
    found = vmap(lambda x, y, t_x, t_y: jvp(case.loss, (x, y), (t_x, t_y))[1])(*_batch(case), *directions)
    expected = _each(case, lambda x, y: jvp(case.loss, (x, y), case.directions)[1])
    agree(found, np.array(expected) * [1, 2, -1], "vmap of jvp", 1e-9)


def _gradient(case: Case) -> Callable[[Any, Any], Any]:
    return grad(case.loss, argnums=(0, 1))


def _curvature(case: Case) -> Any:
    """The derivative of the slope along the directions, by finite differences of gradients."""
    gradient = _gradient(case)
    return case.differences(lambda args: along(gradient(*args), case.directions))


def by_forward_over_reverse(case: Case) -> None:
    _, t = jvp(_gradient(case), case.program.arguments(), case.directions)
    agree(along(t, case.directions), _curvature(case), "forward over reverse", 1e-5)


def by_reverse_over_reverse(case: Case) -> None:
    gradient = _gradient(case)

    def slope(x: Any, y: Any) -> Any:
        return sum(np.sum((ct * t).real) for ct, t in zip(gradient(x, y), case.directions, strict=True))

    found = along(grad(slope, argnums=(0, 1))(*case.program.arguments()), case.directions)
    agree(found, _curvature(case), "reverse over reverse", 1e-5)


def by_reverse_over_forward(case: Case) -> None:
    slope = lambda x, y: jvp(case.loss, (x, y), case.directions)[1]
    found = along(grad(slope, argnums=(0, 1))(*case.program.arguments()), case.directions)
    agree(found, _curvature(case), "reverse over forward", 1e-5)


def by_forward_over_forward(case: Case) -> None:
    slope = lambda x, y: jvp(case.loss, (x, y), case.directions)[1]
    agree(
        jvp(slope, case.program.arguments(), case.directions)[1],
        _curvature(case),
        "forward over forward",
        1e-5,
    )


def _by_hessian(first: Any, second: Any) -> Callable[[Case], None]:
    """All second derivatives, whose rows and columns are batches."""

    def mode(case: Case) -> None:
        if case.program.dtype == "complex128":
            return
        blocks = second(first(case.loss, argnums=(0, 1)), argnums=(0, 1))(*case.program.arguments())
        found = 0.0
        for row, t in zip(blocks, case.directions, strict=True):
            for block, other in zip(row, case.directions, strict=True):
                found += np.sum(np.tensordot(block, other, axes=other.ndim) * t)
        agree(found, _curvature(case), f"{second.__name__} of {first.__name__}", 1e-5)

    mode.__name__ = f"by_{second.__name__}_of_{first.__name__}"
    return mode


by_jacfwd_of_jacrev, by_jacrev_of_jacrev = _by_hessian(jacrev, jacfwd), _by_hessian(jacrev, jacrev)
by_jacfwd_of_jacfwd, by_jacrev_of_jacfwd = _by_hessian(jacfwd, jacfwd), _by_hessian(jacfwd, jacrev)


def by_vmap_of_vmap(case: Case) -> None:
    args = [repeated(x, 2) for x in _batch(case)]
    found = vmap(vmap(case.outs))(*args)
    expected = _each(case, case.outs)
    for k, x in enumerate(found):
        agree(x, np.stack([np.stack([outs[k] for outs in expected])] * 2), f"vmap of vmap, array {k}", 1e-11)


def _by_levels(inner: Callable[[Callable[[Any], Any], Any, Any], Any], name: str) -> Callable[[Case], None]:
    """x belongs to an outer transform, y to an inner one: inner values are written into outer ones."""

    def mode(case: Case) -> None:
        if case.program.layout != "C":
            case = Case(case.program._replace(layout="C"))  # as x.copy() is laid out
        t_x, t_y = case.directions

        def slope_in_y(x: Any, y: Any) -> Any:
            return inner(lambda z: case.loss(x.copy(), z), y, t_y)

        x, y = case.program.arguments()
        found = np.sum((grad(lambda z: slope_in_y(z, y))(x) * t_x).real)
        expected = np.sum((grad(lambda z: np.sum((grad(case.loss)(x, z) * t_x).real))(y) * t_y).real)
        agree(found, expected, name, 1e-8)
        agree(jvp(lambda z: slope_in_y(z, y), (x,), (t_x,))[1], expected, f"{name}, pushed", 1e-8)

    mode.__name__ = name
    return mode


by_grad_in_grad = _by_levels(
    lambda f, y, t: np.sum((grad(f)(y) * t).real), "grad in y of a closure over x, in grad in x"
)
by_jvp_in_grad = _by_levels(
    lambda f, y, t: jvp(f, (y,), (t,))[1], "jvp in y of a closure over x, in grad in x"
)


def by_linearize(case: Case) -> None:
    args = case.program.arguments()
    outs, push = linearize(case.outs, *args)
    same(outs, case.truth[0], "values under linearize")
    spoil(args, outs)
    expected = jvp(case.outs, case.program.arguments(), case.directions)[1]
    for t, t_expected in zip(push(*case.directions), expected, strict=True):
        agree(t, t_expected, "linearize", 1e-9)


def by_funcgrad_numpy(case: Case) -> None:
    """With funcgrad.numpy for NumPy: plain arrays, too, are then new ones of ours."""
    function = case.program.run_with(funcgrad.numpy)
    outs, pull = vjp(lambda x, y: function(x, y)[0], *case.program.arguments())
    same(outs, case.truth[0], "values with funcgrad.numpy")
    expected = jvp(case.outs, case.program.arguments(), case.directions)[1]
    agree(
        along(pull(case.weights_as_cts()), case.directions),
        along(case.weights, expected),
        "vjp with funcgrad.numpy",
        1e-9,
    )


def by_locks(case: Case) -> None:
    """Small arrays are locked as large ones are: programs that change one after use fail."""
    limit, guard.SavedArrays.limit = guard.SavedArrays.limit, -1.0
    try:
        by_grad(case)
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise Rough from error
    finally:
        guard.SavedArrays.limit = limit
    if guard.LOCKS.held:
        raise Difference("arrays stay locked")


def by_large(case: Case) -> None:
    """Views are looked up anew, as large ones are, where small ones are copied."""
    few, views.FEW = views.FEW, -1
    try:
        by_vjp(case)
        by_vmap(case)
    finally:
        views.FEW = few


def by_single_precision(case: Case) -> None:
    """In float32 (or complex64): the values are NumPy's, and the two directions agree up to rounding."""
    single = {"float64": np.float32, "complex128": np.complex64}[case.program.dtype]
    args = lambda: [x.astype(single) for x in case.program.arguments()]
    try:
        truth = case.function(*args())[0]
    except (
        TypeError,
        ValueError,
        IndexError,
    ) as error:  # plain data of double precision is not cast, another mask does not fit
        raise Rough from error
    directions = [t.astype(single) for t in case.directions]
    outs, tangents = jvp(case.outs, args(), directions)
    same_single(outs, truth, "values in single precision", case.truth[0])
    outs, pull = vjp(case.outs, *args())
    same_single(outs, truth, "values in single precision, under vjp", case.truth[0])
    cts = pull([np.asarray(w, v.dtype) for w, v in zip(case.weights, truth, strict=True)])
    if [ct.dtype for ct in cts] != [single, single]:
        raise Difference(f"cotangents of {[ct.dtype for ct in cts]}")
    agree(
        along(cts, directions), along(case.weights, tangents), "pushed and pulled in single precision", 1e-3
    )


def same_single(found: Sequence[Any], expected: Sequence[Any], what: str, double: Sequence[Any]) -> None:
    """Raise a Difference unless these have one dtype and agree up to rounding."""
    for k, (x, y, z) in enumerate(zip(found, expected, double, strict=True)):
        if x.dtype == y.dtype and not close(x, y, 1e-6) and not close(y, z, 1e-6):
            raise Rough
        if x.dtype != y.dtype or not close(x, y, 1e-6):
            raise Difference(f"{what}, array {k}: found {x!r}, expected {y!r}")


FIRST_ORDER: list[Callable[[Case], None]] = [
    by_jvp, by_vjp, by_jvp, by_vjp, by_jacrev, by_jacfwd, by_vmap, by_vmap_of_the_last_axis, by_vmap_of_grad, by_grad_of_vmap,
    by_vmap_of_jvp, by_vmap_of_vmap, by_linearize, by_funcgrad_numpy, by_locks, by_large, by_large, by_single_precision,
]  # fmt: skip
SECOND_ORDER: list[Callable[[Case], None]] = [
    by_forward_over_reverse, by_reverse_over_reverse, by_reverse_over_forward, by_forward_over_forward, by_jacfwd_of_jacrev,
    by_jacrev_of_jacrev, by_jacfwd_of_jacfwd, by_jacrev_of_jacfwd, by_grad_in_grad, by_jvp_in_grad,
]  # fmt: skip
