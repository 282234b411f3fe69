"""np.einsum in all the ways in which it can be written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from funcgrad import grad, hessian, jvp, vjp, vmap
from funcgrad.errors import TracerWriteError
from funcgrad.rules.einsum import canonical
from tests.rules.linear import assert_multilinear, numbers

SIZES = dict(zip("abcd", (2, 3, 1, 2), strict=True))
terms = st.text("abcd", max_size=3)


def einsum(subscripts: str, **options: Any) -> Any:
    return lambda *operands: np.einsum(subscripts, *operands, **options)


def operands_for(inputs: Any, dtypes: Any, ones: Any = ()) -> list[Any]:
    """Arrays for these terms; at the places in `ones` an axis has length 1, so that it is broadcast."""
    shapes = [tuple(1 if (i, c) in ones else SIZES[c] for c in term) for i, term in enumerate(inputs)]
    return [numbers(shape, dtype) for shape, dtype in zip(shapes, dtypes)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(terms, min_size=1, max_size=3), st.randoms(use_true_random=False), st.sampled_from([False, True])
)
def test_any_subscripts(inputs: Any, random: Any, optimize: Any) -> None:
    letters = sorted(set("".join(inputs)))
    out = "".join(random.sample(letters, random.randint(0, len(letters))))
    dtypes = [random.choice([float, complex]) for _ in inputs]
    assert_multilinear(einsum(f"{','.join(inputs)}->{out}", optimize=optimize), *operands_for(inputs, dtypes))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sets(st.sampled_from("abd"), max_size=3), min_size=2, max_size=3),
    st.randoms(use_true_random=False),
)
def test_axes_of_length_one_are_broadcast(sets: Any, random: Any) -> None:
    inputs = ["".join(sorted(letters)) for letters in sets]
    letters = sorted(set("".join(inputs)))
    out = "".join(random.sample(letters, random.randint(0, len(letters))))
    ones = {(i, c) for i, term in enumerate(inputs) for c in term if random.random() < 0.4}
    assert_multilinear(einsum(f"{','.join(inputs)}->{out}"), *operands_for(inputs, [float] * 3, ones))


FORMS = {
    "implicit output": (einsum("ij,jk"), [(2, 3), (3, 2)]),
    "implicit output in the order of letters": (einsum("ba"), [(2, 3)]),
    "upper case first": (einsum("aB,Bc"), [(2, 3), (3, 2)]),
    "blanks": (einsum(" i j , j -> i "), [(2, 3), (3,)]),
    "trace": (einsum("ii"), [(3, 3)]),
    "ellipsis alone": (einsum("..."), [(2, 3)]),
    "ellipsis of unequal length": (einsum("...i,i...->..."), [(2, 4, 3), (3, 4)]),
    "ellipsis in the middle": (einsum("i...j,j->i..."), [(2, 4, 3), (3,)]),
    "ellipsis of length 0": (einsum("...ij,jk->...ik"), [(2, 3), (3, 2)]),
    "ellipsis that broadcasts": (einsum("...,...->..."), [(2, 1), (3,)]),
    "implicit output with an ellipsis": (einsum("...ij,jk"), [(2, 2, 3), (3, 2)]),
    "scalars": (einsum(",->"), [(), ()]),
    "a scalar and a vector": (einsum(",i"), [(), (3,)]),
    "greedy": (einsum("ij,jk,kl", optimize="greedy"), [(2, 3), (3, 2), (2, 3)]),
    "a given path": (
        einsum("ij,jk,kl->il", optimize=["einsum_path", (1, 2), (0, 1)]),
        [(2, 3), (3, 2), (2, 3)],
    ),
    "lists of numbers": (lambda x, y: np.einsum(x, [0, 1], y, [1, 2]), [(2, 3), (3, 2)]),
    "lists with an output": (lambda x, y: np.einsum(x, [5, 3], y, [3, 51], [51, 5]), [(2, 3), (3, 2)]),
    "lists with an ellipsis": (lambda x: np.einsum(x, [..., 0, 0], [0, ...]), [(2, 3, 3)]),
    "order and casting": (einsum("ij->ji", order="F", casting="no"), [(2, 3)]),
}


@pytest.mark.parametrize(("function", "shapes"), FORMS.values(), ids=FORMS)
def test_forms(function: Any, shapes: Any) -> None:
    assert_multilinear(function, *map(numbers, shapes))
    assert_multilinear(function, *(numbers(shape, complex) for shape in shapes))


REFUSED = {
    "too few operands": (lambda x: np.einsum("ij,jk", x), ValueError, "names 2 operands, but 1"),
    "too few letters": (lambda x: np.einsum("i", x), ValueError, "doesn't fit operands with 2 axes"),
    "too many letters": (lambda x: np.einsum("...ijk", x), ValueError, "doesn't fit"),
    "not a letter": (lambda x: np.einsum("i1", x), ValueError, "doesn't fit"),
    "an ellipsis that the output lacks": (lambda x: np.einsum("...i->i", x), ValueError, "must have"),
    "a new letter in the output": (lambda x: np.einsum("ij->k", x), ValueError, "output"),
    "unequal sizes": (lambda x: np.einsum("ij,ij", x, np.ones((2, 3))), ValueError, "broadcast"),
    "into out": (lambda x: np.einsum("ij->ji", x, out=np.ones((2, 2))), TracerWriteError, "einsum"),
    "a narrower dtype": (lambda x: np.einsum("ij", x, dtype=np.float32), TypeError, "float64 to float32"),
    "an unknown keyword": (lambda x: np.einsum("ij", x, axis=0), TypeError, "axis"),
    "no subscripts": (lambda x: np.einsum(x), ValueError, "integers from 0 to 51"),
    "an array for a list": (lambda x: np.einsum(x, x), ValueError, "integers from 0 to 51"),
    "a negative number": (lambda x: np.einsum(x, [0, -1]), ValueError, "integers from 0 to 51"),
}


@pytest.mark.parametrize(("call", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        vjp(call, np.eye(2))


def test_the_canonical_form() -> None:
    assert canonical("ij,jk", (2, 2)) == "ij,jk->ik"
    assert canonical("...i, i", (3, 1)) == "ABi,i->AB"
    assert canonical("a...,...b->...", (3, 2)) == "aAB,Bb->AB"
    with pytest.raises(ValueError, match="52 letters"):
        canonical("...".join(["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXY"]), (54,))


def test_a_letter_twice_in_an_operand_lives_on_its_diagonal() -> None:
    w = np.ones((3, 3))
    x = np.array([[1.0, 2.0], [3.0, 5.0], [7.0, 11.0]])
    gradient = grad(lambda w: np.einsum("nd,nn->d", x, w).sum())(w)
    np.testing.assert_array_equal(gradient, np.diag(x.sum(axis=1)))


def test_off_the_diagonal_a_zero_is_a_zero_by_structure() -> None:
    with np.errstate(divide="ignore"):
        gradient = grad(lambda x: np.einsum("ii->", np.sqrt(x)))(np.array([[4.0, 0.0], [0.0, 9.0]]))
    np.testing.assert_array_equal(gradient, [[0.25, 0], [0, 1 / 6]])


def test_one_operand_three_times() -> None:
    m = np.array([[1.0, 2.0], [3.0, 4.0]])
    cube = lambda m: np.einsum("ij,jk,ki", m, m, m)
    np.testing.assert_allclose(grad(cube)(m), 3 * (m @ m).T)
    np.testing.assert_allclose(jvp(cube, (m,), (np.eye(2),))[1], 3 * np.trace(m @ m))
    second = hessian(cube)(m)
    expected = 3 * (np.einsum("jk,li->ijkl", np.eye(2), m) + np.einsum("jk,li->ijkl", m, np.eye(2)))
    np.testing.assert_allclose(second, expected)


def test_large_products_take_another_way_to_the_same_numbers() -> None:
    x, y = numbers((40, 30)), numbers((30, 40))
    ct = numbers((40, 40))
    for_x, for_y = vjp(einsum("ij,jk->ik"), x, y)[1](ct)
    np.testing.assert_allclose(for_x, ct @ y.T, rtol=1e-12)
    np.testing.assert_allclose(for_y, x.T @ ct, rtol=1e-12)


def test_the_path_is_a_query() -> None:
    x = np.ones((3, 3))
    seen = []
    grad(lambda x: (seen.append(np.einsum_path("ij,jk,kl", x, x, x)[0]), x.sum())[1])(x)
    assert seen == [np.einsum_path("ij,jk,kl", x, x, x)[0]]


def test_vmap_needs_a_letter_for_the_batch() -> None:
    x = np.ones((2,) + (1,) * 26)
    many = lambda x: np.einsum(x, range(26), x, range(26, 52), [])
    with pytest.raises(ValueError, match="52 letters"):
        vmap(many)(x)
