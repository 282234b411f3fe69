"""What is done with trees: flatten, unflatten, map, and what follows from these three."""

import builtins
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from funcgrad.tree.containers import Container
from funcgrad.tree.keys import Path, keystr
from funcgrad.tree.records import LEAVES, container_for
from funcgrad.tree.structures import LEAF, Structure, shorten

IsLeaf = Callable[[Any], bool]
MISSING: Any = object()


def flatten(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[Any], Structure]:
    """The leaves of a tree, in order, and its structure.

    Lists, tuples, named tuples and OrderedDicts keep their order, other dicts are sorted by key, None has no
    leaves. A container for which `is_leaf(node)` is true is a leaf. Raises ValueError if keys cannot be
    sorted or the tree contains itself.

    >>> flatten({"b": [1.0, None], "a": (2.0, 3.0)})
    ([2.0, 3.0, 1.0], {'a': (*, *), 'b': [*, None]})
    >>> flatten([1.0, None], is_leaf=lambda x: x is None)
    ([1.0, None], [*, *])
    """
    cls = type(tree)
    if cls in LEAVES:  # by far the commonest tree, in the fewest steps
        return [tree], LEAF
    container = container_for(cls)
    if container is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], LEAF
    leaves_of_it: list[Any] = []
    try:
        return leaves_of_it, collect(container, tree, leaves_of_it, is_leaf)
    except RecursionError as error:
        raise ValueError(
            "tree.flatten: the tree contains itself, or is deeper than Python can recurse"
        ) from error


def collect(container: Container, tree: Any, leaves: list[Any], is_leaf: IsLeaf | None) -> Structure:
    """Append the leaves of a container to `leaves`; its structure."""
    start = len(leaves)
    children, aux = container.flatten(tree)
    parts = []
    for child in children:
        cls = type(child)
        if cls in LEAVES:  # as in flatten
            leaves.append(child)
            parts.append(LEAF)
            continue
        inner = container_for(cls)
        if inner is None or (is_leaf is not None and is_leaf(child)):
            leaves.append(child)
            parts.append(LEAF)
        else:
            parts.append(collect(inner, child, leaves, is_leaf))
    return Structure(container, aux, tuple(parts), len(leaves) - start)


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """The tree with this structure and these leaves, which may be of any type.

    Raises ValueError if there are more or fewer leaves than places, TypeError if `structure` is no Structure.

    >>> unflatten(structure({"a": 0, "b": [0, 0]}), [1.0, 2.0, 3.0])
    {'a': 1.0, 'b': [2.0, 3.0]}
    """
    if structure is LEAF and type(leaves) is list and len(leaves) == 1:  # as in flatten
        return leaves[0]
    check_structure("tree.unflatten(structure, leaves)", structure)
    values = list(leaves)
    if len(values) != structure.num_leaves:
        text = shorten(repr(structure))
        raise ValueError(
            f"tree.unflatten: the structure {text} has {structure.num_leaves} leaves, found {len(values)}"
        )
    return structure.build(iter(values))


def check_structure(call: str, *structures: Any) -> None:
    """Raise TypeError unless each is a Structure."""
    for candidate in structures:
        if not isinstance(candidate, Structure):
            raise TypeError(
                f"{call} takes a Structure, as tree.structure(x) gives it; found {type(candidate).__name__}"
            )


def leaves(tree: Any, is_leaf: IsLeaf | None = None) -> list[Any]:
    """The leaves of a tree, in order.

    >>> leaves({"b": 1.0, "a": [2.0, None]})
    [2.0, 1.0]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf | None = None) -> Structure:
    """The tree without its leaves.

    >>> structure({"b": 1.0, "a": [2.0, None]})
    {'a': [*, None], 'b': *}
    """
    return flatten(tree, is_leaf)[1]


def flatten_like(structure: Structure, tree: Any, *, prefix: bool = False, what: str = "tree") -> list[Any]:
    """The leaves of a tree that must have this structure; with `prefix`, a subtree in place of each leaf.

    Raises ValueError that names the first place where the two differ, what was expected there and what was
    found. `what` is the name of the tree in that message.

    >>> flatten_like(structure([0, (0, 0)]), [1.0, (2.0, 3.0)])
    [1.0, 2.0, 3.0]
    >>> flatten_like(structure({"w": 0, "b": [0]}), {"w": 1.0, "b": (2.0,)}, what="tangents")
    Traceback (most recent call last):
    ValueError: tangents['b']: expected [*], found (*,)
    """
    check_structure("tree.flatten_like(structure, tree)", structure)
    values: list[Any] = []
    mismatch = structure.match(tree, values, strict=not prefix)
    if mismatch is not None:
        raise ValueError(f"{what}{keystr(mismatch.path)}: {mismatch.explain()}")
    return values


def map(fun: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None) -> Any:
    """Apply `fun` to each leaf of `tree` and to its counterparts in `rest`; results in one structure.

    The trees of `rest` may be deeper: `fun` then gets whole subtrees. Raises ValueError, naming the place, if
    they do not fit.

    >>> map(lambda x, y: x + y, {"b": None, "w": 1.0}, {"b": None, "w": 10.0})
    {'b': None, 'w': 11.0}
    >>> map(lambda x, y: (x, y), [1, 2], [3, {"deeper": 4}])
    [(1, 3), (2, {'deeper': 4})]
    """
    values, structure = flatten(tree, is_leaf)
    if structure is LEAF:
        return fun(tree, *rest)
    return unflatten(structure, [fun(*row) for row in zip(values, *columns(structure, rest))])


def columns(structure: Structure, rest: Sequence[Any]) -> list[list[Any]]:
    """For each tree of `rest`, what it has in the place of each leaf."""
    return [flatten_like(structure, tree, prefix=True, what=f"rest[{i}]") for i, tree in enumerate(rest)]


def flatten_with_path(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[tuple[Path, Any]], Structure]:
    """Pairs of path and leaf, in order, and the structure. `keystr` writes a path.

    >>> pairs, _ = flatten_with_path({"w": [1.0, 2.0], "b": 3.0})
    >>> [(keystr(path), leaf) for path, leaf in pairs]
    [("['b']", 3.0), ("['w'][0]", 1.0), ("['w'][1]", 2.0)]
    """
    values, structure = flatten(tree, is_leaf)
    return list(zip(structure.paths(), values)), structure


def map_with_path(fun: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf | None = None) -> Any:
    """As `map`, with the path to the leaf as the first argument of `fun`.

    >>> map_with_path(lambda path, x: keystr(path) + "=" + str(x), {"w": [1.0, 2.0]})
    {'w': ["['w'][0]=1.0", "['w'][1]=2.0"]}
    """
    pairs, structure = flatten_with_path(tree, is_leaf)
    rows = zip(pairs, *columns(structure, rest))
    return unflatten(structure, [fun(path, leaf, *others) for (path, leaf), *others in rows])


def reduce(
    fun: Callable[[Any, Any], Any], tree: Any, initial: Any = MISSING, *, is_leaf: IsLeaf | None = None
) -> Any:
    """Combine the leaves from left to right: `fun(fun(fun(initial, leaf0), leaf1), leaf2)`.

    Raises ValueError if there are no leaves and no `initial`.

    >>> reduce(lambda x, y: x + y, {"a": 1.0, "b": [2.0, 3.0]})
    6.0
    """
    values = leaves(tree, is_leaf)
    if initial is not MISSING:
        return functools.reduce(fun, values, initial)
    if not values:
        raise ValueError("tree.reduce: the tree has no leaves; give initial=, the value of an empty tree")
    return functools.reduce(fun, values)


def all(tree: Any, is_leaf: IsLeaf | None = None) -> bool:
    """Whether every leaf is true; True for a tree without leaves.

    >>> all({"a": True, "b": [1, 0]})
    False
    """
    return builtins.all(leaves(tree, is_leaf))


def transpose(outer: Structure, inner: Structure, tree: Any) -> Any:
    """Turn a tree of structure `outer` whose leaves are trees of structure `inner` inside out.

    Raises ValueError, naming the place, if `tree` is not such a tree.

    >>> transpose(structure([0, 0]), structure({"x": 0, "y": 0}), [{"x": 1, "y": 2}, {"x": 3, "y": 4}])
    {'x': [1, 3], 'y': [2, 4]}
    """
    check_structure("tree.transpose(outer, inner, tree)", outer, inner)
    parts = zip(outer.paths(), flatten_like(outer, tree, prefix=True))
    rows = [flatten_like(inner, part, what=f"tree{keystr(path)}") for path, part in parts]
    return unflatten(inner, [unflatten(outer, [row[i] for row in rows]) for i in range(inner.num_leaves)])


def broadcast_prefix(
    prefix: Any, tree: Any, *, is_leaf: IsLeaf | None = None, none_is_leaf: bool = False, what: str = "prefix"
) -> list[Any]:
    """One value per leaf of `tree`: a leaf of `prefix` stands for all that `tree` has in its place.

    So vmap reads `in_axes`. None in the prefix matches None in the tree alone, or, with `none_is_leaf`, is a
    value like any other. `is_leaf` is asked about the prefix. Raises ValueError that names the place in the
    prefix (which it calls `what`) where the tree differs.

    >>> broadcast_prefix((0, {"w": 1, "b": None}), ([5.0, 6.0], {"w": 7.0, "b": (8.0, 9.0)}), none_is_leaf=True)
    [0, 0, None, None, 1]
    """

    def stop(node: Any) -> bool:
        return (none_is_leaf and node is None) or (is_leaf is not None and is_leaf(node))

    values, upper = flatten(prefix, stop)
    subtrees: list[Any] = []
    mismatch = upper.match(tree, subtrees, strict=False)
    if mismatch is not None:
        raise ValueError(
            f"{what}{keystr(mismatch.path)} does not fit the tree it is for: {mismatch.explain()}"
        )
    return [value for value, part in zip(values, subtrees) for _ in range(structure(part).num_leaves)]
