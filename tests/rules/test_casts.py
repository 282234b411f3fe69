"""What is written into an array of which dtype and length: NumPy's results, errors and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from funcgrad import grad, jvp, vjp, vmap

Write = Callable[[Any, Any], Any]
_MASK = np.array([True, False, True, True])
_NONE = np.zeros(4, bool)
_FIRST: Any = slice(0, 3)

# Each is linear in the array and in what is written.
LINEAR: dict[str, Write] = {
    "x[1]": lambda a, v: a.__setitem__(1, v),
    "x[0:3]": lambda a, v: a.__setitem__(slice(0, 3), v),
    "x[...]": lambda a, v: a.__setitem__(..., v),
    "x[[0, 2, 0]]": lambda a, v: a.__setitem__([0, 2, 0], v),
    "x[mask]": lambda a, v: a.__setitem__(_MASK, v),
    "x.flat[:]": lambda a, v: a.flat.__setitem__(slice(None), v),
    "x.flat[1]": lambda a, v: a.flat.__setitem__(1, v),
    "x.flat[[0, 2]]": lambda a, v: a.flat.__setitem__([0, 2], v),
    "x.flat[mask]": lambda a, v: a.flat.__setitem__(_MASK, v),
    "x.flat": lambda a, v: setattr(a, "flat", v),
    "x.real": lambda a, v: setattr(a, "real", v),
    "x.imag": lambda a, v: setattr(a, "imag", v),
    "fill": lambda a, v: a.fill(v),
    "copyto": np.copyto,
    "copyto, unsafe": lambda a, v: np.copyto(a, v, casting="unsafe"),
    "copyto, safe": lambda a, v: np.copyto(a, v, casting="safe"),
    "copyto, where": lambda a, v: np.copyto(a, v, where=_MASK),
    "putmask": lambda a, v: np.putmask(a, _MASK, v),
    "putmask of nothing": lambda a, v: np.putmask(a, _NONE, v),
    "putmask, too short": lambda a, v: np.putmask(a, _MASK[:3], v),
    "putmask of two axes": lambda a, v: np.putmask(a.reshape(2, 2), _MASK.reshape(2, 2), v),
    "place": lambda a, v: np.place(a, _MASK, v),
    "place of nothing": lambda a, v: np.place(a, _NONE, v),
    "place, too short": lambda a, v: np.place(a, _MASK[:3], v),
    "place of integers": lambda a, v: np.place(a, np.array([0, 1, 2, 0]), v),
    "put": lambda a, v: np.put(a, [0, 2, 0], v),
    "put of nothing": lambda a, v: np.put(a, [], v),
    "put, two axes": lambda a, v: a.put([[0, -1], [2, 0]], v),
    "put of floats": lambda a, v: a.put([0.0, 1.0], v),
    "put of booleans": lambda a, v: a.put([True, False], v),
    "put at one": lambda a, v: a.put(1, v),
    "put_along_axis": lambda a, v: np.put_along_axis(a, np.array([0, 2, 0]), v, 0),
    "put_along_axis, flat": lambda a, v: np.put_along_axis(a, np.array([0, 2, 0]), v, None),
    "put_along_axis of booleans": lambda a, v: np.put_along_axis(a, _MASK, v, 0),
    "fill_diagonal": lambda a, v: np.fill_diagonal(a.reshape(2, 2), v),
    "fill_diagonal, wrap": lambda a, v: np.fill_diagonal(a.reshape(4, 1), v, wrap=True),
    "add.at": lambda a, v: np.add.at(a, [0, 2, 0], v),
    "add.at mask": lambda a, v: np.add.at(a, _MASK, v),
    "add.at 0:3": lambda a, v: np.add.at(a, _FIRST, v),
    "add.at 1": lambda a, v: np.add.at(a, 1, v),
    "subtract.at": lambda a, v: np.subtract.at(a, [0, 2, 0], v),
    "+=": lambda a, v: a.__iadd__(v),
    "add, out": lambda a, v: np.add(a, v, out=a),
    "add, out, unsafe": lambda a, v: np.add(a, v, out=a, casting="unsafe"),
    "add, out, where": lambda a, v: np.add(a, v, out=a, where=_MASK),
    "sum, out": lambda a, v: np.sum(v[None] if hasattr(v, "shape") else np.array([v]), axis=0, out=a),
}
OTHER: dict[str, Write] = {
    "multiply.at": lambda a, v: np.multiply.at(a, [0, 2, 0], v),
    "divide.at": lambda a, v: np.divide.at(a, [0, 2, 0], v),
    "power.at": lambda a, v: np.power.at(a, [0, 2, 0], v),
    "maximum.at": lambda a, v: np.maximum.at(a, [0, 2, 0], v),
    "*=": lambda a, v: a.__imul__(v),
}
# NumPy 2.0 has casts of its own in these: what it refuses, or warns of, is not what it does elsewhere and has
# done since.
ITS_OWN = (
    {"x[1]", "x.flat[1]", "fill", "put_along_axis, flat"}
    if np.lib.NumpyVersion(np.__version__) < "2.1.0"
    else set()
)
TARGETS = [np.float32, np.float64, np.complex128]


def values() -> Iterator[Any]:
    """Arrays of many dtypes and lengths, numbers, lists."""
    for dtype in (np.float32, np.float64, np.complex128, np.int64, np.uint8, np.bool_):
        numbers = np.array([1.3, 2.9, 3.7, 4.1, 5.3]) * (1 - 0.6j if dtype is np.complex128 else 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            numbers = numbers.astype(dtype)
        yield from (numbers[:n] for n in ((0, 1, 3, 4, 5) if dtype is np.float64 else (1, 3)))
        yield from (numbers[0], np.array(numbers[0]))
    yield np.array([[1.3, 2.9, 3.7, 4.1]])
    yield from (3, 2.5, 2 + 1j, True, [1.5, 2.5, 3.5], [2.5], [1j, 2.0, 3.0], [])


def outcome(write: Write, a: Any, v: Any) -> tuple[Any, str, set[type]]:
    """What a write leaves in `a` (a copy), the kind of its error, and what it warns of."""
    error = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            write(a, v)
        except (IndexError, TypeError, ValueError) as e:
            # which is first, of two mistakes, may differ
            error = "IndexError" if isinstance(e, IndexError) else "error"
    return a * 1, error, set() if error else {c.category for c in caught}


def under(mode: str, write: Write, a: Any, v: Any) -> tuple[Any, str, set[type]]:
    """The same, under a transform; where `v` has a derivative it is an argument, too."""
    found: list[Any] = []
    args = (a, v) if isinstance(v, np.ndarray) and v.dtype.kind in "fc" else (a,)

    def f(a: Any, v: Any = v) -> Any:
        found[:] = outcome(write, a * 1, v)
        return found[0]

    value = vjp(f, *args)[0] if mode == "vjp" else vmap(f)(*(np.stack([x, x]) for x in args))[1]
    return value, found[1], found[2]


@pytest.mark.parametrize("mode", ["vjp", "vmap"])
@pytest.mark.parametrize("write", [w for w in [*LINEAR, *OTHER] if w not in ITS_OWN])
def test_values_errors_and_warnings_are_those_of_numpy(write: str, mode: str) -> None:
    function = {**LINEAR, **OTHER}[write]
    for to, v in product(TARGETS if mode == "vjp" else TARGETS[1:], values()):
        if mode == "vmap" and isinstance(v, np.ndarray) and v.ndim == 0:
            continue  # an argument without axes is a number there
        a = np.array([1.1, 2.2, 3.3, 4.4], to)
        expected, error, caught = outcome(function, a.copy(), v)
        value, found, warned = under(mode, function, a, v)
        case = f"{to.__name__} <- {v!r}"
        assert (found, warned) == (error, caught), case
        assert value.dtype == expected.dtype, case
        # Products are rounded otherwise where a row lies in the midst of others.
        np.testing.assert_allclose(
            value, expected, rtol=1e-15 if mode == "vjp" else 1e-6, atol=0, err_msg=case
        )


@pytest.mark.parametrize("write", [w for w in LINEAR if w not in ITS_OWN])
def test_derivatives_of_what_was_cast(write: str) -> None:
    function = LINEAR[write]
    rng = np.random.default_rng(0)

    def written(a: Any, v: Any) -> Any:
        return outcome(function, a * 1, v)[0]

    for to, v in product(TARGETS, values()):
        if not isinstance(v, np.ndarray) or v.dtype.kind not in "fc":
            continue
        a = rng.normal(size=4).astype(to)
        t_a, t_v = rng.normal(size=4).astype(to), rng.normal(size=v.shape).astype(v.dtype)
        case = f"{to.__name__} <- {v!r}"
        out, t = jvp(written, (a, v), (t_a, t_v))
        np.testing.assert_allclose(
            t, written(a + t_a, np.asarray(v + t_v)) - out, rtol=1e-5, atol=2e-6, err_msg=case
        )
        ct = rng.normal(size=4).astype(to)
        ct_a, ct_v = vjp(written, a, v)[1](ct)
        assert ct_v.dtype == v.dtype, case
        pulled = np.sum(ct_a * t_a).real + np.sum(ct_v * t_v).real
        np.testing.assert_allclose(pulled, np.sum(ct * t).real, rtol=1e-4, atol=1e-5, err_msg=case)


@pytest.mark.parametrize(
    "options", [{"dtype": int}, {"casting": "none"}, {"dtype": np.float32, "casting": "safe"}]
)
def test_casts_that_numpy_refuses(options: Any) -> None:
    x = np.array([1.0, 2.0])
    with pytest.raises((TypeError, ValueError)) as one:
        np.add(x, x, **options)
    for run in (
        lambda f: grad(lambda x: np.sum(f(x)))(x),
        lambda f: jvp(f, (x,), (x,)),
        lambda f: vmap(f)(x),
    ):
        with pytest.raises(type(one.value)):
            run(lambda x: np.add(x, x, **options))


def test_a_kind_of_sorting_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="sort kind"):
        grad(lambda x: np.sum(np.sort(x, kind="bad")))(np.ones(2))  # type: ignore[call-overload]
