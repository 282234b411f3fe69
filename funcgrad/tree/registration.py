"""Containers of one's own: classes whose instances are taken apart as lists and dicts are."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, overload

from funcgrad.tree.containers import CONTAINERS, Container, positions, show_fields
from funcgrad.tree.keys import Attr, Child, Entry, Index

C = TypeVar("C", bound=type)
Keys = Sequence[str | int | Entry]
Names = Iterable[str] | None


def register_node(
    cls: type,
    flatten: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, tuple[Any, ...]], Any],
    keys: Keys | Callable[[Any], Keys] | None = None,
) -> None:
    """Make the instances of `cls` (of that class exactly, not of its subclasses) containers.

    `flatten(node)` gives `(children, aux)`, where aux is what is not differentiated: any value with `==` and
    a hash. `unflatten(aux, children)` builds a node; it is also called with children that are no arrays, so
    it should not look at them. `keys` names the children in paths and messages: attribute names, positions or
    path entries, one per child, or a function of aux that gives them.

    Raises ValueError if `cls` is a container already, TypeError if `cls` is no class or a function is none.

    >>> from funcgrad import tree
    >>> class Box:
    ...     def __init__(self, content, label):
    ...         self.content, self.label = content, label
    >>> tree.register_node(Box, lambda b: ((b.content,), b.label), lambda aux, x: Box(*x, aux), keys=["content"])
    >>> tree.flatten([Box(1.0, "x")])
    ([1.0], [Box(content=*, aux='x')])
    >>> tree.map(lambda x: x + 1, Box(1.0, "x")).content
    2.0
    """
    if not callable(flatten) or not callable(unflatten):
        raise TypeError(
            f"register_node({getattr(cls, '__name__', cls)}): flatten and unflatten must be functions, "
            f"found {type(flatten).__name__} and {type(unflatten).__name__}"
        )

    def build(aux: Any, children: list[Any]) -> Any:
        return unflatten(aux, tuple(children))

    def keys_of(aux: Any, count: int) -> list[Entry]:
        return entries(cls, keys(aux) if callable(keys) else keys, count)

    def show(aux: Any, texts: Sequence[str]) -> str:
        steps = keys_of(aux, len(texts))
        parts = [
            f"{step.name}={text}" if isinstance(step, Attr) else text for step, text in zip(steps, texts)
        ]
        return f"{cls.__name__}({', '.join(parts if aux is None else [*parts, f'aux={aux!r}'])})"

    add(Container(cls, checked_flatten(cls, flatten), build, keys_of, show))


def add(container: Container) -> None:
    """Enter a container into the table, once per class."""
    cls = container.cls
    if not isinstance(cls, type):
        raise TypeError(
            f"only a class can be registered as a container, found {cls!r} of type {type(cls).__name__}"
        )
    if cls in CONTAINERS:
        raise ValueError(f"the class {cls.__qualname__} is a container already; register each class once")
    CONTAINERS[cls] = container


def checked_flatten(cls: type, flatten: Callable[[Any], Any]) -> Callable[[Any], tuple[tuple[Any, ...], Any]]:
    """A user's flatten whose mistakes are reported as what they are."""

    def checked(node: Any) -> tuple[tuple[Any, ...], Any]:
        result = flatten(node)
        if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[0], Iterable):
            raise TypeError(
                f"the flatten function registered for {cls.__name__} must return a tuple (children, aux), "
                f"its children in a sequence; found {result!r}"
            )
        return tuple(result[0]), result[1]

    return checked


def entries(cls: type, keys: Keys | None, count: int) -> list[Entry]:
    """A registered class's keys as steps of a path."""
    if keys is None:
        return [Child(i) for i in range(count)]
    if len(keys) != count:
        raise ValueError(
            f"{cls.__name__} was registered with {len(keys)} keys, {list(keys)}, and its flatten gave {count} children"
        )
    return [
        Attr(key) if isinstance(key, str) else Index(key) if isinstance(key, int) else key for key in keys
    ]


@overload
def register_dataclass(cls: C, data_fields: Names = None, meta_fields: Names = None) -> C: ...
@overload
def register_dataclass(
    cls: None = None, data_fields: Names = None, meta_fields: Names = None
) -> Callable[[C], C]: ...
def register_dataclass(cls: type | None = None, data_fields: Names = None, meta_fields: Names = None) -> Any:
    """Make a dataclass a container: its data fields are children, its meta fields are kept as they are.

    Dataclasses are containers as they stand; this says which fields are data, whatever they hold.

    Used on a class or as a decorator above `@dataclass`, bare or with fields. A list that is not given holds
    what the other leaves over; with neither, the meta fields are those declared with
    `field(metadata={"static": True})`. Meta fields need `==` (and a hash, for structures that are hashed). A
    node is built by calling the class, so that `__post_init__` runs, also on leaves that are no arrays;
    fields with `init=False` are left to it.

    Raises TypeError if `cls` is no dataclass, ValueError if the fields do not add up or `cls` is a container
    already.

    >>> from dataclasses import dataclass, field
    >>> from funcgrad import tree
    >>> @tree.register_dataclass
    ... @dataclass
    ... class Layer:
    ...     w: float
    ...     b: float
    ...     activation: str = field(default="relu", metadata={"static": True})
    >>> tree.flatten(Layer(1.0, 2.0))
    ([1.0, 2.0], Layer(w=*, b=*, activation='relu'))
    """
    if cls is None:
        return lambda cls: register_dataclass(cls, data_fields, meta_fields)
    if not isinstance(cls, type) or not hasattr(cls, "__dataclass_fields__"):
        raise TypeError(
            f"register_dataclass: {cls!r} is no dataclass; write @register_dataclass above @dataclass, "
            "or call register_node"
        )
    data, meta = split_fields(cls, data_fields, meta_fields)

    def flatten(node: Any) -> tuple[list[Any], Any]:
        return [getattr(node, name) for name in data], tuple([getattr(node, name) for name in meta])

    def unflatten(aux: Any, children: list[Any]) -> Any:
        return cls(**dict(zip(data, children)), **dict(zip(meta, aux)))

    def show(aux: Any, texts: Sequence[str]) -> str:
        return show_fields(cls.__name__, [*data, *meta], [*texts, *[repr(value) for value in aux]])

    add(Container(cls, flatten, unflatten, lambda aux, count: [Attr(name) for name in data], show))
    return cls


def split_fields(
    cls: type, data_fields: Names, meta_fields: Names
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the data fields and of the meta fields: each field must be in one of them, once."""
    from dataclasses import fields as fields_of  # here, since that takes longer to import than funcgrad.tree

    fields = {field.name: field for field in fields_of(cls) if field.init}
    if data_fields is None and meta_fields is None:
        meta_fields = [name for name, field in fields.items() if field.metadata.get("static", False)]
    if isinstance(data_fields, str) or isinstance(meta_fields, str):
        raise TypeError(
            f"register_dataclass({cls.__name__}): data_fields and meta_fields are lists, found a string"
        )
    if meta_fields is None:
        data = tuple(data_fields or ())
        meta = tuple([name for name in fields if name not in data])
    else:
        meta = tuple(meta_fields)
        data = (
            tuple([name for name in fields if name not in meta])
            if data_fields is None
            else tuple(data_fields)
        )
    if sorted([*data, *meta]) != sorted(fields):
        raise ValueError(
            f"register_dataclass({cls.__name__}): each field that __init__ takes must be named once; "
            f"the fields are {list(fields)}, data_fields {list(data)}, meta_fields {list(meta)}"
        )
    return data, meta


def register_static(cls: C) -> C:
    """Make instances of `cls` containers without children: settings that travel in a tree, no leaves.

    Usable as a decorator. Structures compare such objects by `==`. Raises TypeError if instances have no
    hash, ValueError if `cls` is a container already.

    >>> from dataclasses import dataclass
    >>> from funcgrad import tree
    >>> @tree.register_static
    ... @dataclass(frozen=True)
    ... class Options:
    ...     depth: int
    >>> tree.flatten([1.0, Options(depth=3)])
    ([1.0], [*, Options(depth=3)])
    """
    if getattr(cls, "__hash__", None) is None:
        raise TypeError(
            f"register_static: instances of {cls.__name__} have no hash; "
            "write @dataclass(frozen=True) or define __hash__"
        )
    add(
        Container(
            cls,
            flatten=lambda node: ((), node),
            unflatten=lambda aux, children: aux,
            keys=positions,
            show=lambda aux, texts: repr(aux),
        )
    )
    return cls
