"""Classes that name their own fields: dataclasses and attrs classes are containers as they stand.

The fields that the constructor takes are the children, but for settings: what is declared with
`metadata={"static": True}`, and texts, functions, classes and enums, which nothing is differentiated in. A
node is built by calling the class, so that what its constructor derives of the fields is derived anew.
"""

from collections.abc import Callable, Sequence
from enum import Enum
from functools import wraps
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from funcgrad.tree.containers import CONTAINERS, NAMEDTUPLE, RESULT, Container, show_fields
from funcgrad.tree.keys import Attr

SETTINGS = (str, bytes, type, Enum, FunctionType, BuiltinFunctionType)


class Record(NamedTuple):
    """A node but for its children: its class, the names of the children, and the settings by name."""

    cls: type
    names: tuple[str, ...]
    settings: tuple[tuple[str, Any], ...]


class Field(NamedTuple):
    """A field that the constructor takes: the attribute, the argument's name, whether declared static."""

    name: str
    argument: str
    is_static: bool


FieldsOf = Callable[[Any], list[Field] | None]


def remembered(fields_of: FieldsOf) -> FieldsOf:
    """`fields_of`, asked once of each class, as long as there is the class."""
    known: WeakKeyDictionary[type, list[Field] | None] = WeakKeyDictionary()

    @wraps(fields_of)
    def of(cls: Any) -> list[Field] | None:
        try:
            return known[cls]
        except KeyError:
            fields = known[cls] = fields_of(cls)
            return fields

    return of


@remembered
def fields_of_dataclass(cls: Any) -> list[Field] | None:
    """The fields of a dataclass; None if its constructor is not made of them (its own, or one with more)."""
    declared = cls.__dataclass_fields__.values()
    if not cls.__dataclass_params__.init or any(f._field_type.name == "_FIELD_INITVAR" for f in declared):
        return None
    kept = [f for f in declared if f.init and f._field_type.name == "_FIELD"]
    return [Field(f.name, f.name, bool(f.metadata.get("static", False))) for f in kept]


@remembered
def fields_of_attrs(cls: Any) -> list[Field] | None:
    """The fields of an attrs class; None if it has a constructor of its own."""
    if "__attrs_init__" in vars(cls):
        return None
    kept = [a for a in cls.__attrs_attrs__ if a.init]
    return [Field(a.name, a.alias or a.name.lstrip("_"), bool(a.metadata.get("static", False))) for a in kept]


def is_record(cls: type, mark: str) -> bool:
    """Does `cls` carry the mark of its maker, and is it no kind of array?"""
    return hasattr(cls, mark) and not hasattr(cls, "__array_function__") and not hasattr(cls, "__array__")


def build(aux: Record, children: list[Any]) -> Any:
    """A node of these children, by its constructor.

    Trees also hold what is no array: axes, dtypes, rows of a Hessian. Where the constructor can't work with
    such, the node is made without it, of the fields alone.
    """
    arguments = {**dict(zip(aux.names, children)), **dict(aux.settings)}
    try:
        return aux.cls(**arguments)
    except Exception:
        if all(map(is_data, children)):
            raise
    node = object.__new__(aux.cls)
    fields = (
        fields_of_dataclass(aux.cls)
        if is_record(aux.cls, "__dataclass_fields__")
        else fields_of_attrs(aux.cls)
    )
    for field in fields or ():
        object.__setattr__(node, field.name, arguments[field.argument])
    return node


def is_data(x: Any) -> bool:
    """Is `x` a number or an array, or a container of such?"""
    container = container_for(type(x))
    if container is None:
        return hasattr(x, "dtype") or isinstance(x, (int, float, complex))
    return all(map(is_data, container.flatten(x)[0])) and record_for(type(x)) is None


def record_container(cls: type, fields_of: FieldsOf) -> Container:
    """One entry for all classes of a maker, as for named tuples: classes come and go."""

    def flatten(node: Any) -> tuple[Sequence[Any], Any]:
        children, names, settings = [], [], []
        for field in fields_of(type(node)) or ():
            value = getattr(node, field.name)
            if field.is_static or isinstance(value, SETTINGS):
                settings.append((field.argument, value))
            else:
                children.append(value)
                names.append(field.argument)
        return children, Record(type(node), tuple(names), tuple(settings))

    def show(aux: Record, texts: Sequence[str]) -> str:
        names, values = (
            [*aux.names, *(name for name, _ in aux.settings)],
            [repr(value) for _, value in aux.settings],
        )
        return show_fields(aux.cls.__name__, names, [*texts, *values])

    return Container(
        cls=cls,
        flatten=flatten,
        unflatten=build,
        keys=lambda aux, count: [Attr(name) for name in aux.names],
        show=show,
        class_of=lambda aux: aux.cls,
    )


class Dataclass:
    """Stands for all dataclasses."""


class Attrs:
    """Stands for all attrs classes."""


# What is a leaf, without a question: most leaves are of these classes.
LEAVES = frozenset([float, int, bool, complex, str, np.ndarray, np.float64, np.float32])

DATACLASS = record_container(Dataclass, fields_of_dataclass)
ATTRS = record_container(Attrs, fields_of_attrs)


def record_for(cls: type) -> Container | None:
    """The container of a dataclass or attrs class; None for others, or if not buildable from its fields."""
    if is_record(cls, "__dataclass_fields__"):
        return DATACLASS if fields_of_dataclass(cls) is not None else None
    if is_record(cls, "__attrs_attrs__"):
        return ATTRS if fields_of_attrs(cls) is not None else None
    return None


def container_for(cls: type) -> Container | None:
    """What is known of the class `cls`; None if its instances are leaves."""
    container = CONTAINERS.get(cls)
    if container is not None or cls in LEAVES:
        return container
    if issubclass(cls, tuple):
        if not hasattr(cls, "_fields"):
            return None
        return NAMEDTUPLE if hasattr(cls, "_make") else RESULT
    return record_for(cls)
