"""Trees are taken apart and put together without loss, and what does not fit is named."""

import copy
import pickle
from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from funcgrad import tree

Point = namedtuple("Point", "x y")


class Named(Point):
    """A subclass whose own constructor takes something else."""

    __slots__ = ()

    def __new__(cls, both):
        return super().__new__(cls, both, both)


class Config(dict):
    pass


def containers(inner):
    """Every kind of container, around what `inner` draws."""
    keys = st.text("abc", max_size=2)
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.builds(Point, inner, inner),
        st.tuples(inner, inner).map(Named._make),
        st.dictionaries(keys, inner, max_size=3),
        st.dictionaries(st.integers(0, 9), inner, max_size=3),
        st.dictionaries(keys, inner, max_size=3).map(OrderedDict),
        st.dictionaries(keys, inner, max_size=3).map(lambda items: defaultdict(float, items)),
    )


trees = st.recursive(
    st.one_of(st.none(), st.floats(allow_nan=False), st.text(max_size=2)), containers, max_leaves=12
)


def same(x, y):
    """Equal, with equal types at every level."""
    if type(x) is not type(y) or x != y:
        return False
    if isinstance(x, dict):
        in_order = list(x) == list(y) or not isinstance(x, OrderedDict)
        return in_order and all(same(x[key], y[key]) for key in x)
    return all(map(same, x, y)) if isinstance(x, (list, tuple)) else True


@given(trees)
def test_unflatten_is_the_inverse_of_flatten(x):
    leaves, structure = tree.flatten(x)
    assert same(tree.unflatten(structure, leaves), x)
    assert len(leaves) == structure.num_leaves == len(structure.paths())
    assert not any(leaf is None or isinstance(leaf, (list, tuple, dict)) for leaf in leaves)


@given(trees)
def test_flatten_is_the_inverse_of_unflatten(x):
    structure = tree.structure(x)
    numbers = list(range(structure.num_leaves))
    assert tree.flatten(tree.unflatten(structure, iter(numbers))) == (numbers, structure)


@given(trees)
def test_structures_are_values(x):
    structure = tree.structure(x)
    again = tree.structure(tree.map(str, x))
    assert structure == again
    assert hash(structure) == hash(again)
    assert repr(structure) == repr(again)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(structure, protocol)) == structure
    assert copy.deepcopy(structure) == copy.copy(structure) == structure


@given(trees)
def test_a_path_leads_to_its_leaf(x):
    pairs, structure = tree.flatten_with_path(x)
    assert ([leaf for _, leaf in pairs], structure) == tree.flatten(x)
    for path, leaf in pairs:
        assert eval("x" + tree.keystr(path), {"x": x}) is leaf


@given(trees)
def test_map_calls_once_per_leaf_in_order(x):
    seen = []
    assert same(tree.map(lambda leaf: (seen.append(leaf), leaf)[1], x), x)
    assert seen == tree.leaves(x)
    assert same(tree.map(lambda leaf, other: other, x, x), x)
    assert same(tree.map_with_path(lambda path, leaf, other: other, x, x), x)


@given(trees, trees)
def test_transposing_turns_rows_into_columns(x, y):
    outer, inner = tree.structure(x), tree.structure(y)
    rows = [[f"{i},{j}" for j in range(inner.num_leaves)] for i in range(outer.num_leaves)]
    nested = tree.unflatten(outer, [tree.unflatten(inner, row) for row in rows])
    turned = tree.transpose(outer, inner, nested)
    columns = [[row[j] for row in rows] for j in range(inner.num_leaves)]
    assert turned == tree.unflatten(inner, [tree.unflatten(outer, column) for column in columns])
    assert tree.transpose(inner, outer, turned) == nested


@given(trees)
def test_a_tree_is_a_prefix_of_itself_and_one_value_is_a_prefix_of_all(x):
    leaves, structure = tree.flatten(x)
    assert tree.broadcast_prefix(x, x) == leaves
    assert tree.broadcast_prefix(0, x) == [0] * structure.num_leaves
    assert tree.broadcast_prefix(None, x, none_is_leaf=True) == [None] * structure.num_leaves
    assert tree.flatten_like(structure, x) == leaves


@given(trees, trees)
def test_flatten_like_accepts_exactly_the_equal_structures(x, y):
    expected, found = tree.structure(x), tree.structure(y)
    if expected == found:
        assert tree.flatten_like(expected, y) == tree.leaves(y)
    else:
        with pytest.raises(ValueError, match=r"(?s)^tree.*: expected .*, found "):
            tree.flatten_like(expected, y)


@pytest.mark.parametrize(
    "leaf",
    [
        1.0,
        1,
        True,
        "text",
        b"bytes",
        1j,
        np.float32(1),
        np.ones(2),
        {1, 2},
        frozenset(),
        range(3),
        object(),
        Config(a=1),
    ],
)
def test_everything_else_is_a_leaf(leaf):
    leaves, structure = tree.flatten(leaf)
    assert leaves[0] is leaf
    assert len(leaves) == 1
    assert structure is tree.LEAF
    assert tree.unflatten(structure, leaves) is leaf
    assert tree.unflatten(structure, (leaf,)) is leaf
    assert tree.map(lambda x, y: (x, y), leaf, [leaf]) == (leaf, [leaf])


def test_the_order_of_leaves():
    assert tree.leaves({"b": 1, "a": 2}) == [2, 1]
    assert tree.leaves(OrderedDict(b=1, a=2)) == [1, 2]
    assert tree.leaves(defaultdict(list, b=1, a=2)) == [2, 1]
    assert tree.structure({"b": 1, "a": 2}) == tree.structure({"a": 1, "b": 2})
    assert tree.structure(OrderedDict(b=1, a=2)) != tree.structure(OrderedDict(a=1, b=2))


def test_the_factory_of_a_defaultdict_is_kept():
    out = tree.map(lambda x: x + 1, defaultdict(list, a=1))
    assert out == {"a": 2}
    assert out["missing"] == []


def test_is_leaf_stops_at_containers():
    assert tree.leaves([(1, 2), [3]], is_leaf=lambda x: isinstance(x, tuple)) == [(1, 2), 3]
    assert tree.flatten(None, is_leaf=lambda x: x is None) == ([None], tree.LEAF)
    assert tree.map(lambda x: x is None, {"a": None, "b": 1}, is_leaf=lambda x: x is None) == {
        "a": True,
        "b": False,
    }
    assert tree.reduce(lambda x, y: x + [y], [None, 1], [], is_leaf=lambda x: x is None) == [None, 1]
    assert not tree.all([None, 1], is_leaf=lambda x: x is None)


def test_the_leaves_list_belongs_to_the_caller():
    x = [1, 2]
    leaves, structure = tree.flatten(x)
    rebuilt = tree.unflatten(structure, leaves)
    leaves.append(3)
    rebuilt.append(4)
    assert x == [1, 2]
    assert tree.unflatten(structure, [5, 6]) == [5, 6]


def test_keys_that_cannot_be_sorted_are_named():
    for mixed in ({"a": 1, 2: 3}, defaultdict(int, {"a": 1, 2: 3})):
        with pytest.raises(ValueError, match=r"'a' \(str\), 2 \(int\).*OrderedDict"):
            tree.flatten([mixed])
    assert tree.leaves(OrderedDict([("a", 1), (2, 3)])) == [1, 3]


def test_deep_trees():
    x = 1.0
    for _ in range(500):
        x = [x]
    leaves, structure = tree.flatten(x)
    assert leaves == [1.0]
    out = tree.map(lambda leaf: leaf + 1, x)
    assert tree.leaves(out) == tree.flatten_like(structure, out) == [2.0]


def test_a_tree_that_contains_itself_is_refused():
    x = []
    x.append({"again": x})
    with pytest.raises(ValueError, match="contains itself"):
        tree.flatten(x)


@pytest.mark.parametrize("leaves", [[], [1], [1, 2, 3], (1,), iter([1])])
def test_unflatten_counts_the_leaves(leaves):
    with pytest.raises(ValueError, match=r"\(\*, \*\) has 2 leaves, found \d"):
        tree.unflatten(tree.structure((0, 0)), leaves)


def test_unflatten_of_a_leaf_counts_too():
    for leaves in ([], [1, 2], (1, 2)):
        with pytest.raises(ValueError, match=r"structure \* has 1 leaves, found"):
            tree.unflatten(tree.LEAF, leaves)


def test_swapped_arguments_are_named():
    structure = tree.structure([0])
    for call in (
        lambda: tree.unflatten([1.0], structure),
        lambda: tree.flatten_like([0], [1]),
        lambda: tree.transpose(structure, [0], [[1]]),
    ):
        with pytest.raises(TypeError, match=r"takes a Structure.*found list"):
            call()


MISMATCHES = [
    ([0, 0], [1], "tree: expected [*, *], found [*] (missing: [1])"),
    ((0, 0), [1, 2], "tree: expected (*, *), found [*, *]"),
    ({"a": [0]}, {"a": [(1,)]}, "tree['a'][0]: expected a leaf, found (*,)"),
    ({"a": [0]}, {"a": 1.0}, "tree['a']: expected [*], found a leaf of type float"),
    ({"a": 0, "b": [0]}, {"a": 0, "c": [0]}, "found {'a': *, 'c': ...} (missing: ['b']; unexpected: ['c'])"),
    ([None], [1.0], "tree[0]: expected None, found a leaf of type float"),
    ([0], [None], "tree[0]: expected a leaf, found None"),
    (Point(0, (0,)), Point(1, (2, 3)), "tree.y: expected (*,), found (*, *) (unexpected: [1])"),
    (Point(0, 0), (1, 2), "tree: expected Point(x=*, y=*), found (*, *)"),
    (Point(0, 0), namedtuple("Point", "x y")(1, 2), "two classes have the name Point"),
    ({"a": 0}, Config(a=1), "a subclass of dict is a leaf until tree.register_node makes it a container"),
    ({"a": 0}, OrderedDict(a=1), "expected {'a': *}, found OrderedDict({'a': *})"),
    (defaultdict(int, a=0), defaultdict(float, a=0), "expected defaultdict(<class 'int'>, {'a': *})"),
]


@pytest.mark.parametrize(("expected", "found", "text"), MISMATCHES, ids=[text for *_, text in MISMATCHES])
def test_mismatches_name_the_place_and_both_sides(expected, found, text):
    with pytest.raises(ValueError, match="expected") as caught:
        tree.flatten_like(tree.structure(expected), found)
    assert text in str(caught.value)


def test_messages_name_the_tree_that_does_not_fit():
    with pytest.raises(ValueError, match=r"^rest\[1\]\['a'\]: expected"):
        tree.map(lambda x, y, z: x, {"a": (1,)}, {"a": (1,)}, {"a": [1]})
    with pytest.raises(ValueError, match=r"^rest\[0\]\['a'\]: expected"):
        tree.map_with_path(lambda path, x, y: x, {"a": (1,)}, {"a": [1]})
    with pytest.raises(ValueError, match=r"^tree\[1\]: expected \{'x': \*\}, found a leaf of type int"):
        tree.transpose(tree.structure([0, 0]), tree.structure({"x": 0}), [{"x": 1}, 2])
    with pytest.raises(
        ValueError, match=r"^in_axes\[1\] does not fit the tree it is for: expected \[\*\], found \(\*,\)"
    ):
        tree.broadcast_prefix((0, [0]), (1.0, (2.0,)), what="in_axes")


def test_long_messages_are_cut():
    with pytest.raises(ValueError, match="unexpected") as caught:
        tree.flatten_like(tree.structure(list(range(1000))), list(range(1001)))
    assert len(str(caught.value)) < 700


def test_what_lies_under_a_leaf_of_a_prefix_is_not_looked_at():
    assert tree.map(lambda x, y: y, [0], [{"a": 1, 2: 3}]) == [{"a": 1, 2: 3}]


def test_none_in_a_prefix():
    assert tree.broadcast_prefix((None, 0), (None, [1, 2])) == [0, 0]
    assert tree.broadcast_prefix((None, 0), ([1, 2], 3), none_is_leaf=True) == [None, None, 0]
    with pytest.raises(ValueError, match="expected None, found"):
        tree.broadcast_prefix((None, 0), ([1, 2], 3))
    assert tree.broadcast_prefix([(0, 1)], [[5, 6]], is_leaf=lambda x: isinstance(x, tuple)) == [
        (0, 1),
        (0, 1),
    ]


def test_reduce_and_all():
    assert tree.reduce(lambda x, y: x + y, {"a": "x", "b": ["y", "z"]}) == "xyz"
    assert tree.reduce(lambda x, y: x + y, (), 5) == 5
    assert tree.reduce(lambda x, y: (x, y), [1], None) == (None, 1)
    with pytest.raises(ValueError, match="no leaves; give initial="):
        tree.reduce(lambda x, y: x + y, [None])
    assert tree.all(())
    assert tree.all([1, {"a": True}])
    assert not tree.all([1, {"a": 0}])


def test_transpose_of_empty_trees():
    empty, pair = tree.structure([]), tree.structure((0, 0))
    assert tree.transpose(empty, pair, []) == ([], [])
    assert tree.transpose(pair, empty, ([], [])) == []
