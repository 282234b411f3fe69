"""A tree without its leaves: what can be compared, hashed, pickled, and filled with leaves again."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from funcgrad.tree.containers import NONE, Container
from funcgrad.tree.keys import Entry, Path
from funcgrad.tree.records import ATTRS, DATACLASS, Record, container_for


class Structure:
    """The containers of a tree, with a place for each leaf. Immutable; `flatten` and `structure` make it.

    >>> from funcgrad import tree
    >>> structure = tree.structure({"w": 1.0, "layers": [2.0, (3.0, None)]})
    >>> structure, structure.num_leaves
    ({'layers': [*, (*, None)], 'w': *}, 3)
    >>> structure == tree.structure({"layers": [0.0, (0.0, None)], "w": 0.0})
    True
    """

    __slots__ = ("_aux", "_children", "_container", "_num_leaves")

    def __init__(
        self, container: Container | None, aux: Any, children: "tuple[Structure, ...]", num_leaves: int
    ) -> None:
        self._container = container  # None for a leaf: LEAF is the only such structure
        self._aux = aux
        self._children = children
        self._num_leaves = num_leaves

    @property
    def num_leaves(self) -> int:
        """How many leaves `unflatten` needs."""
        return self._num_leaves

    @property
    def children(self) -> "tuple[Structure, ...]":
        """The structures of the root's children; none for a leaf."""
        return self._children

    @property
    def node_type(self) -> type | None:
        """The class of the root; None for a leaf."""
        if self._container is None:
            return None
        class_of = self._container.class_of
        return self._container.cls if class_of is None else class_of(self._aux)

    def keys(self) -> Sequence[Entry]:
        """One step of a path per child of the root."""
        return () if self._container is None else self._container.keys(self._aux, len(self._children))

    def paths(self) -> list[Path]:
        """The path to each leaf, in the order of the leaves."""
        if self._container is None:
            return [()]
        return [(key, *path) for key, child in zip(self.keys(), self._children) for path in child.paths()]

    def build(self, leaves: Iterator[Any]) -> Any:
        """The tree with this structure, its leaves taken from an iterator that has enough of them."""
        if self._container is None:
            return next(leaves)
        children = []
        for child in self._children:  # a comprehension would take a second stack frame per level
            children.append(next(leaves) if child is LEAF else child.build(leaves))
        return self._container.unflatten(self._aux, children)

    def match(self, tree: Any, subtrees: list[Any], *, strict: bool) -> "Mismatch | None":
        """Append to `subtrees` what `tree` has in each leaf's place; the first disagreement, if any.

        Only a leaf matches a leaf if `strict`, else any tree does.
        """
        container = container_for(type(tree)) if strict or self._container is not None else None
        if container is not self._container:
            return Mismatch((), self, tree)
        if container is None:
            subtrees.append(tree)
            return None
        children, aux = container.flatten(tree)
        if len(children) != len(self._children) or not same_aux(container, aux, self._aux):
            return Mismatch((), self, tree)
        for i, (structure, child) in enumerate(zip(self._children, children)):
            if structure is LEAF and not strict:
                subtrees.append(child)
                continue
            mismatch = structure.match(child, subtrees, strict=strict)
            if mismatch is not None:
                return mismatch._replace(path=(self.keys()[i], *mismatch.path))
        return None

    def outline(self) -> str:
        """The root and its children alone, containers among them as dots."""
        if self._container is None:
            return "a leaf"
        return self._container.show(self._aux, ["*" if child is LEAF else "..." for child in self._children])

    def __repr__(self) -> str:
        if self._container is None:
            return "*"
        return self._container.show(self._aux, [repr(child) for child in self._children])

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Structure):
            return NotImplemented
        if self._container is not other._container or self._num_leaves != other._num_leaves:
            return False
        return same_aux(self._container, self._aux, other._aux) and self._children == other._children

    def __hash__(self) -> int:
        try:
            return hash((self._container, self._aux, self._children))
        except TypeError as error:
            raise TypeError(f"the structure {self!r} has no hash, for its aux has none ({error})") from error

    def __reduce__(self) -> str | tuple[Any, ...]:
        # A Container holds functions: the class is what travels. LEAF stays the one there is.
        return "LEAF" if self._container is None else (restore, (self.node_type, self._aux, self._children))


LEAF = Structure(None, None, (), 1)


def restore(node_type: type, aux: Any, children: tuple[Structure, ...]) -> Structure:
    """The inverse of `Structure.__reduce__`."""
    container = container_for(node_type)
    if container is None or isinstance(aux, Record) != (container in (DATACLASS, ATTRS)):
        raise ValueError(
            f"a pickled structure holds the class {node_type.__qualname__}, which is no container here: "
            "call funcgrad.tree.register_node (or register_dataclass, register_static) before loading it"
        )
    return Structure(container, aux, children, sum([child.num_leaves for child in children]))


def same_aux(container: Container | None, x: Any, y: Any) -> bool:
    """Whether the aux of two nodes of one class is equal."""
    try:
        return bool(x == y)
    except ValueError as error:  # NumPy's word on the truth of an array
        name = "leaf" if container is None else container.cls.__name__
        raise TypeError(
            f"the aux of a {name} cannot be compared; make arrays children of it ({error})"
        ) from error


class Mismatch(NamedTuple):
    """The first place where a tree departs from the structure it should have."""

    path: Path
    expected: Structure
    found: Any

    def explain(self) -> str:
        """What was expected and what was found, for the end of a message that names the place."""
        expected, found = self.expected.outline(), one_level(self.found)
        found_text = f"a leaf of type {type(self.found).__name__}" if found is LEAF else found.outline()
        return f"expected {shorten(expected)}, found {shorten(found_text)}{self.hint(found)}"

    def hint(self, found: Structure) -> str:
        """What outlines don't show: keys that differ, a class not registered, two classes of one name."""
        wanted, actual = self.expected.node_type, type(self.found)
        if wanted is None:
            return ""
        if found is LEAF:
            if not issubclass(actual, wanted):
                return ""
            return (
                f" (a subclass of {wanted.__name__} is a leaf until tree.register_node makes it a container)"
            )
        if wanted is not actual:
            same_name = wanted.__qualname__ == actual.__qualname__
            return (
                f" (two classes have the name {actual.__name__}: was its definition run twice?)"
                if same_name
                else ""
            )
        here, there = self.expected.keys(), found.keys()
        parts = {
            "missing": [str(key) for key in here if key not in there],
            "unexpected": [str(key) for key in there if key not in here],
        }
        text = "; ".join([f"{word}: {shorten(', '.join(keys))}" for word, keys in parts.items() if keys])
        return f" ({text})" if text else ""


def one_level(tree: Any) -> Structure:
    """The structure of the root of `tree`, with None for each container among its children."""
    container = container_for(type(tree))
    if container is None:
        return LEAF
    children, aux = container.flatten(tree)
    parts = [
        LEAF if container_for(type(child)) is None else Structure(NONE, None, (), 0) for child in children
    ]
    return Structure(container, aux, tuple(parts), parts.count(LEAF))


def shorten(text: str, limit: int = 200) -> str:
    """No more of a text than a message can hold."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
