"""A tree becomes one vector and comes back with its shapes and dtypes."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from funcgrad import tree

DTYPES = [
    np.float16,
    np.float32,
    np.float64,
    np.complex64,
    np.complex128,
    np.int8,
    np.int32,
    np.uint16,
    np.bool_,
]


arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
)


@given(st.dictionaries(st.text("abc", max_size=2), st.lists(arrays, max_size=3), max_size=3))
def test_unravel_is_the_inverse_of_ravel(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vector, unravel = tree.ravel(x)
        out = unravel(vector)
    leaves = tree.leaves(x)
    assert vector.shape == (sum(leaf.size for leaf in leaves),)
    assert tree.structure(out) == tree.structure(x)
    for leaf, back in zip(leaves, tree.leaves(out), strict=True):
        assert (back.shape, back.dtype, type(back)) == (leaf.shape, leaf.dtype, np.ndarray)
        np.testing.assert_array_equal(back, leaf)
    if leaves:
        assert vector.dtype == np.result_type(*leaves)


@pytest.mark.parametrize(
    ("leaf", "dtype"),
    [
        (3.0, float),
        (3, float),
        (True, bool),
        (3j, complex),
        (np.float32(3), np.float32),
        (np.int8(3), np.int8),
    ],
)
def test_scalars_come_back_as_scalars(leaf, dtype):
    vector, unravel = tree.ravel(leaf)
    assert (vector.shape, vector.dtype) == ((1,), dtype)
    back = unravel(vector)
    assert isinstance(back, np.generic)
    assert (back, back.dtype) == (leaf, dtype)


def test_whole_python_numbers_are_not_cut_on_the_way_back():
    vector, unravel = tree.ravel({"count": 1, "w": 2.0})
    assert unravel(vector + 0.5) == {"count": 1.5, "w": 2.5}


def test_each_leaf_is_cast_to_its_own_dtype():
    vector, unravel = tree.ravel([np.arange(2), np.ones(1, np.float32), np.ones(1, np.complex64)])
    assert vector.dtype == np.complex128
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole, single, complex_leaf = unravel(vector + 0.75 + 1j)
    assert (whole.dtype, single.dtype, complex_leaf.dtype) == (np.int64, np.float32, np.complex64)
    assert (whole.tolist(), single.tolist(), complex_leaf.tolist()) == ([0, 1], [1.75], [1.75 + 1j])


@pytest.mark.parametrize("empty", [(), None, {}, [None, {}], [np.ones((0, 3))]])
def test_trees_without_numbers_have_a_vector_of_length_zero(empty):
    vector, unravel = tree.ravel(empty)
    assert (vector.shape, vector.dtype) == ((0,), np.float64)
    assert tree.structure(unravel(vector)) == tree.structure(empty)


@pytest.mark.parametrize(
    "vector", [np.ones(4), np.ones(6), np.ones((5, 1)), np.ones((1, 5)), 1.0, [1.0, 2.0]]
)
def test_another_shape_is_refused(vector):
    _, unravel = tree.ravel({"a": np.ones((2, 2)), "b": 3.0})
    with pytest.raises(ValueError, match=r"expected a vector of shape \(5,\), found shape \("):
        unravel(vector)


def test_vectors_of_other_dtypes():
    _, unravel = tree.ravel([1.0, np.ones(1, np.float32)])
    assert tree.map(lambda leaf: leaf.dtype.name, unravel(np.arange(2))) == ["float64", "float32"]
    assert unravel([4, 5])[0] == 4.0
    with pytest.raises(TypeError, match="expected a vector of real numbers, found dtype complex128"):
        unravel(np.ones(2, complex))
    with pytest.raises(TypeError, match="expected a vector of real numbers, found dtype object"):
        unravel(np.array([1.0, 2.0], dtype=object))


@pytest.mark.parametrize(
    ("leaf", "found"),
    [
        ("text", "str of dtype None"),
        (object(), "object of dtype None"),
        (np.array(["a"]), "ndarray of dtype <U1"),
        (np.array([1.0], dtype=object), "ndarray of dtype object"),
        (np.array(["2020"], dtype="M8[D]"), "ndarray of dtype datetime64"),
    ],
)
def test_leaves_that_are_no_numbers_are_named(leaf, found):
    with pytest.raises(
        TypeError, match="leaf tree\\['a'\\]\\[1\\] must be a number.*found " + found.replace("[", "\\[")
    ):
        tree.ravel({"a": [1.0, leaf]})


def test_nothing_shares_memory_with_the_callers_arrays():
    x = {"w": np.ones(3)}
    vector, unravel = tree.ravel(x)
    out = unravel(vector)
    vector[:] = 7.0
    assert x["w"].tolist() == out["w"].tolist() == [1.0, 1.0, 1.0]


def test_unravel_is_a_value():
    vector, unravel = tree.ravel({"w": np.ones((2, 2), np.float32), "b": 3.0})
    again = pickle.loads(pickle.dumps(unravel))
    assert again == unravel
    assert again(vector)["b"] == 3.0
    with pytest.raises(AttributeError):
        unravel.structure = None


class Recorded:
    """An array of another type: it answers NumPy's functions, but cannot become an ndarray."""

    def __init__(self, value):
        self.value = np.asarray(value)
        self.shape, self.dtype = self.value.shape, self.value.dtype

    def __array__(self, *args, **kwargs):
        raise TypeError("the derivative would be lost")

    def __array_function__(self, func, types, args, kwargs):
        def plain(x):
            return x.value if isinstance(x, Recorded) else x

        out = func(*[[plain(y) for y in x] if isinstance(x, list) else plain(x) for x in args], **kwargs)
        return Recorded(out) if isinstance(out, np.ndarray) else out

    def __getitem__(self, index):
        return Recorded(self.value[index])

    def reshape(self, shape):
        return Recorded(self.value.reshape(shape))

    def astype(self, dtype):
        return Recorded(self.value.astype(dtype))


def test_arrays_of_other_types_stay_what_they_are():
    x = {"a": Recorded(np.ones((2, 2), np.float32)), "b": 3.0, "c": Recorded(2.0)}
    vector, unravel = tree.ravel(x)
    assert isinstance(vector, Recorded)
    assert vector.value.tolist() == [1.0, 1.0, 1.0, 1.0, 3.0, 2.0]
    out = unravel(vector)
    assert all(isinstance(leaf, Recorded) for leaf in tree.leaves(out))
    assert [(leaf.shape, leaf.dtype.name) for leaf in tree.leaves(out)] == [
        ((2, 2), "float32"),
        ((), "float64"),
        ((), "float64"),
    ]
