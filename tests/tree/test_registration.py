"""Classes of one's own become containers, and mistakes in saying so are named."""

import pickle
from dataclasses import dataclass, field

import pytest

from funcgrad import tree


class Box:
    def __init__(self, content, label=None):
        self.content, self.label = content, label


class Bag:
    """As many children as there are items, with names of its own for them."""

    def __init__(self, **items):
        self.items = items


class Pair:
    def __init__(self, both):
        self.both = both


class SubBox(Box):
    pass


tree.register_node(
    Box, lambda x: ((x.content,), x.label), lambda label, children: Box(*children, label), ["content"]
)
tree.register_node(
    Bag,
    lambda x: (x.items.values(), tuple(x.items)),
    lambda names, children: Bag(**dict(zip(names, children, strict=True))),
    keys=lambda names: [tree.Key(name) for name in names],
)
tree.register_node(Pair, lambda x: (x.both, None), lambda _, children: Pair(children))


@tree.register_dataclass
@dataclass
class Layer:
    w: object
    activation: str = field(default="relu", metadata={"static": True})
    b: object = None
    calls: int = field(default=0, init=False)


@tree.register_static
@dataclass(frozen=True)
class Options:
    depth: int


def test_registered_classes_are_containers():
    x = [Box(1.0, "label"), Bag(a=2.0, b=(3.0,)), Pair((4.0, 5.0))]
    leaves, structure = tree.flatten(x)
    assert leaves == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert repr(structure) == "[Box(content=*, aux='label'), Bag(*, (*,), aux=('a', 'b')), Pair(*, *)]"
    assert [tree.keystr(path) for path in structure.paths()] == [
        "[0].content",
        "[1]['a']",
        "[1]['b'][0]",
        "[2]<0>",
        "[2]<1>",
    ]
    box, bag, pair = tree.unflatten(structure, "vwxyz")
    assert (box.content, box.label, bag.items, pair.both) == (
        "v",
        "label",
        {"a": "w", "b": ("x",)},
        ("y", "z"),
    )
    assert pickle.loads(pickle.dumps(structure)) == structure
    assert tree.structure(Box(1.0, "other")) != structure.children[0]


def test_a_subclass_of_a_registered_class_is_a_leaf():
    x = SubBox(1.0)
    assert tree.leaves([x]) == [x]
    with pytest.raises(
        ValueError, match=r"a subclass of Box is a leaf until tree.register_node makes it a container"
    ):
        tree.flatten_like(tree.structure(Box(1.0)), x)


def test_dataclasses():
    x = Layer(1.0, b=[2.0, None])
    leaves, structure = tree.flatten(x)
    assert leaves == [1.0, 2.0]
    assert repr(structure) == "Layer(w=*, b=[*, None], activation='relu')"
    assert [tree.keystr(path) for path in structure.paths()] == [".w", ".b[0]"]
    assert tree.map(lambda leaf: leaf * 10, x) == Layer(10.0, b=[20.0, None])
    assert tree.structure(Layer(0.0, "tanh", [0.0, None])) != structure
    assert pickle.loads(pickle.dumps(structure)) == structure
    assert hash(structure) == hash(tree.structure(Layer(3.0, b=[4.0, None])))


def test_the_constructor_of_a_dataclass_derives_fields():
    @tree.register_dataclass
    @dataclass
    class Circle:
        radius: float
        area: float = field(init=False)

        def __post_init__(self):
            self.area = 3 * self.radius**2

    assert tree.map(lambda x: 2 * x, Circle(1.0)).area == 12.0


@pytest.mark.parametrize(
    "fields",
    [
        {"data_fields": ["w", "b"]},
        {"meta_fields": ["name"]},
        {"data_fields": ("w", "b"), "meta_fields": ("name",)},
        {"data_fields": iter(["w", "b"])},
    ],
)
def test_fields_may_be_named_at_registration(fields):
    @dataclass(kw_only=True, slots=True)
    class Net:
        w: float
        name: str
        b: float

    assert tree.register_dataclass(**fields)(Net) is Net
    leaves, structure = tree.flatten(Net(w=1.0, name="n", b=2.0))
    assert (leaves, tree.unflatten(structure, leaves)) == ([1.0, 2.0], Net(w=1.0, name="n", b=2.0))


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        (
            {"data_fields": ["w"], "meta_fields": []},
            ValueError,
            r"fields are \['w', 'b'\], data_fields \['w'\]",
        ),
        ({"data_fields": ["w", "b"], "meta_fields": ["b"]}, ValueError, "must be named once"),
        ({"data_fields": ["w", "w", "b"]}, ValueError, "must be named once"),
        ({"data_fields": ["w", "c"]}, ValueError, "must be named once"),
        ({"meta_fields": ["c"]}, ValueError, "must be named once"),
        ({"data_fields": "w"}, TypeError, "found a string"),
    ],
)
def test_fields_that_do_not_add_up_are_named(fields, error, text):
    @dataclass
    class Net:
        w: float
        b: float

    with pytest.raises(error, match=text):
        tree.register_dataclass(Net, **fields)
    assert tree.leaves(Net(1, 2)) == [1, 2]  # as it stands


def test_only_dataclasses_are_registered_as_such():
    for cls in (Pair, Layer(1.0), 3):
        with pytest.raises(TypeError, match="no dataclass; write @register_dataclass above @dataclass"):
            tree.register_dataclass(cls)


def test_static_objects_travel_in_the_structure():
    leaves, structure = tree.flatten({"x": 1.0, "options": Options(3)})
    assert leaves == [1.0]
    assert repr(structure) == "{'options': Options(depth=3), 'x': *}"
    assert tree.unflatten(structure, [2.0]) == {"x": 2.0, "options": Options(3)}
    assert structure == tree.structure({"x": 5.0, "options": Options(3)})
    assert structure != tree.structure({"x": 5.0, "options": Options(4)})
    assert pickle.loads(pickle.dumps(structure)) == structure
    with pytest.raises(ValueError, match=r"tree: expected Options\(depth=3\), found Options\(depth=4\)"):
        tree.flatten_like(tree.structure(Options(3)), Options(4))


def test_static_objects_need_a_hash():
    @dataclass
    class Unhashable:
        depth: int

    with pytest.raises(TypeError, match="Unhashable have no hash; write @dataclass\\(frozen=True\\)"):
        tree.register_static(Unhashable)


@pytest.mark.parametrize("cls", [list, tuple, dict, type(None), Box])
def test_a_class_is_registered_once(cls):
    with pytest.raises(ValueError, match=f"{cls.__name__} is a container already"):
        tree.register_node(cls, lambda x: ((), None), lambda aux, children: None)
    if cls is Box:
        with pytest.raises(ValueError, match="Box is a container already"):
            tree.register_static(cls)
    with pytest.raises(ValueError, match="Layer is a container already"):
        tree.register_dataclass(Layer)


def test_arguments_of_register_node_are_checked():
    with pytest.raises(TypeError, match="only a class can be registered as a container, found 3 of type int"):
        tree.register_node(3, lambda x: ((), None), lambda aux, children: None)
    with pytest.raises(TypeError, match=r"register_node\(SubBox\): flatten and unflatten must be functions"):
        tree.register_node(SubBox, None, None)


@pytest.mark.parametrize("result", [None, (1,), [(), None], (1.0, None), ((), None, None)])
def test_a_flatten_that_gives_something_else_is_named(result):
    class Wrong:
        pass

    tree.register_node(Wrong, lambda x: result, lambda aux, children: Wrong())
    with pytest.raises(TypeError, match=r"registered for Wrong must return a tuple \(children, aux\)"):
        tree.flatten(Wrong())


def test_keys_must_be_as_many_as_children():
    class Odd:
        pass

    tree.register_node(Odd, lambda x: ((1, 2), None), lambda aux, children: Odd(), keys=["only"])
    with pytest.raises(
        ValueError, match=r"Odd was registered with 1 keys, \['only'\], and its flatten gave 2"
    ):
        tree.flatten_with_path(Odd())


def test_a_named_tuple_may_be_registered_with_its_own_functions():
    from typing import NamedTuple

    class Scaled(NamedTuple):
        x: float
        scale: float

    assert tree.leaves(Scaled(1.0, 2.0)) == [1.0, 2.0]
    tree.register_node(
        Scaled, lambda node: ((node.x,), node.scale), lambda scale, children: Scaled(*children, scale), ["x"]
    )
    assert tree.leaves(Scaled(1.0, 2.0)) == [1.0]
    assert tree.map(lambda x: x + 1, Scaled(1.0, 2.0)) == Scaled(2.0, 2.0)
