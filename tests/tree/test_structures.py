"""A structure is an immutable value that reads like its tree."""

import pickle
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from funcgrad import tree

Point = namedtuple("Point", "x y")


@tree.register_dataclass
@dataclass
class Layer:
    w: object
    b: object


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (1.0, "*"),
        (None, "None"),
        ((), "()"),
        ((1,), "(*,)"),
        ([1, (2, None)], "[*, (*, None)]"),
        ({"b": 1, "a": []}, "{'a': [], 'b': *}"),
        ({2: 1}, "{2: *}"),
        (Point(1, [2]), "Point(x=*, y=[*])"),
        (OrderedDict(b=1, a=2), "OrderedDict({'b': *, 'a': *})"),
        (defaultdict(None, a=1), "defaultdict(None, {'a': *})"),
        (Layer(1, (2,)), "Layer(w=*, b=(*,))"),
    ],
)
def test_repr_reads_like_the_tree(x, text):
    assert repr(tree.structure(x)) == text


def test_children_and_node_type():
    structure = tree.structure({"b": 1.0, "a": Point(2.0, None)})
    assert [child.num_leaves for child in structure.children] == [1, 1]
    assert structure.node_type is dict
    assert structure.children[0].node_type is Point
    assert structure.children[0].children == (tree.LEAF, tree.structure(None))
    assert (tree.LEAF.node_type, tree.LEAF.children, tree.LEAF.num_leaves, tree.LEAF.keys()) == (
        None,
        (),
        1,
        (),
    )


def test_structures_cannot_be_changed():
    structure = tree.structure([1, 2])
    for name in ("num_leaves", "children", "node_type", "something_new"):
        with pytest.raises(AttributeError):
            setattr(structure, name, None)
        with pytest.raises(AttributeError):
            setattr(tree.LEAF, name, None)


DIFFERENT = [
    1.0,
    None,
    (),
    [],
    {},
    OrderedDict(),
    defaultdict(int),
    defaultdict(float),
    (1,),
    [1],
    [None],
    [[]],
    (1, 2),
    Point(1, 2),
    namedtuple("Point", "x y")(1, 2),
    {"a": 1},
    {"b": 1},
    OrderedDict(a=1),
    Layer(1, 2),
]


def test_different_trees_have_different_structures():
    structures = [tree.structure(x) for x in DIFFERENT]
    assert len(set(structures)) == len(DIFFERENT)
    for i, x in enumerate(structures):
        assert [j for j, y in enumerate(structures) if x == y] == [i]
    assert tree.structure([1]) != [1]
    assert tree.structure((1,)) != (tree.LEAF,)


def test_a_leaf_is_one_object_also_after_pickling():
    assert pickle.loads(pickle.dumps(tree.LEAF)) is tree.LEAF
    inner = pickle.loads(pickle.dumps(tree.structure([0.0, Layer(1, 2)])))
    assert inner.children[0] is tree.LEAF
    assert tree.unflatten(inner, [1, 2, 3]) == [1, Layer(2, 3)]


def test_a_structure_of_a_class_unknown_to_the_reader_is_refused(monkeypatch):
    data = pickle.dumps(tree.structure(Layer(1, 2)))
    monkeypatch.delitem(tree.containers.CONTAINERS, Layer)
    with pytest.raises(ValueError, match=r"the class Layer, which is no container here.*register"):
        pickle.loads(data)


class Wave:
    def __init__(self, x, aux):
        self.x, self.aux = x, aux


tree.register_node(Wave, lambda wave: ((wave.x,), wave.aux), lambda aux, children: Wave(*children, aux))


def test_aux_that_cannot_be_compared_or_hashed_is_named():
    x, y = tree.structure(Wave(1.0, np.ones(2))), tree.structure(Wave(1.0, np.ones(2)))
    with pytest.raises(TypeError, match="aux of a Wave cannot be compared; make arrays children"):
        assert x == y
    with pytest.raises(TypeError, match="aux of a Wave cannot be compared"):
        tree.flatten_like(x, Wave(1.0, np.ones(2)))
    with pytest.raises(TypeError, match=r"Wave\(\*, aux=\[1\]\) has no hash.*list"):
        hash(tree.structure(Wave(1.0, [1])))
    assert tree.structure(Wave(1.0, [1])) == tree.structure(Wave(2.0, [1]))


def test_keystr():
    path = (tree.Key("a"), tree.Key(3), tree.Index(0), tree.Attr("w"), tree.Child(2))
    assert tree.keystr(path) == "['a'][3][0].w<2>"
    assert tree.keystr(()) == ""
    assert pickle.loads(pickle.dumps(path)) == path
    assert len({*path, *path}) == 5
