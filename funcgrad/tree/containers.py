"""The classes of container: how each is taken apart, put together, addressed and written."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from types import NoneType, SimpleNamespace
from typing import Any, NamedTuple

from funcgrad.tree.keys import Attr, Entry, Index, Key


class Container(NamedTuple):
    """What there is to know of one class of container.

    `aux` is what a node holds beside its children (keys of a dict, class of a named tuple). Two nodes match
    if container, aux and number of children do, so it must have `==`, and a hash if structures are to be
    hashed.
    """

    cls: type
    flatten: Callable[[Any], tuple[Sequence[Any], Any]]  # node -> (children, aux)
    unflatten: Callable[[Any, list[Any]], Any]  # (aux, children) -> node; the list is its own to keep
    keys: Callable[[Any, int], Sequence[Entry]]  # (aux, number of children) -> one step of a path per child
    show: Callable[[Any, Sequence[str]], str]  # (aux, texts of the children) -> text of the node
    # aux -> the class of the node, where one entry serves several
    class_of: Callable[[Any], type] | None = None


CONTAINERS: dict[type, Container] = {}


def positions(aux: Any, count: int) -> list[Entry]:
    """The children by number."""
    return [Index(i) for i in range(count)]


def show_items(keys: Sequence[Any], texts: Sequence[str]) -> str:
    """The children as the items of a dict."""
    return "{" + ", ".join([f"{key!r}: {text}" for key, text in zip(keys, texts)]) + "}"


def show_fields(name: str, fields: Sequence[str], texts: Sequence[str]) -> str:
    """The children as the arguments of a call."""
    return f"{name}({', '.join([f'{field}={text}' for field, text in zip(fields, texts)])})"


class Keys(tuple[Any, ...]):
    """Sorted keys of a dict that had them in another order (`given`), in which it is put together again."""

    given: tuple[Any, ...]


def sorted_keys(node: dict[Any, Any]) -> tuple[Any, ...]:
    """The keys in the order of the leaves: sorted, so that equal dicts have equal structures."""
    try:
        unsorted = tuple(node)
        keys = tuple(sorted(unsorted))
        if keys != unsorted:
            keys = Keys(keys)
            keys.given = unsorted
        return keys
    except TypeError as error:
        one_of_each = {type(key): key for key in node}.values()
        samples = ", ".join([f"{key!r} ({type(key).__name__})" for key in one_of_each])
        raise ValueError(
            f"a {type(node).__name__} in a pytree has its keys sorted, and these cannot be compared: {samples}. "
            "Write keys of one sortable type, or an OrderedDict, which keeps its order"
        ) from error


def flatten_dict(node: dict[Any, Any]) -> tuple[list[Any], Any]:
    """Values in the order of the sorted keys; aux: the keys."""
    keys = sorted_keys(node)
    return [node[key] for key in keys], keys


def flatten_defaultdict(node: defaultdict[Any, Any]) -> tuple[list[Any], Any]:
    """Values in the order of the sorted keys; aux: the factory and the keys."""
    keys = sorted_keys(node)
    return [node[key] for key in keys], (node.default_factory, keys)


def in_given_order(keys: tuple[Any, ...], children: Sequence[Any]) -> dict[Any, Any]:
    """A dict of these children, in the order that the flattened one had."""
    mapping = dict(zip(keys, children))
    return {key: mapping[key] for key in keys.given} if type(keys) is Keys else mapping


LIST = Container(
    cls=list,
    flatten=lambda node: (node, None),
    unflatten=lambda aux, children: children,
    keys=positions,
    show=lambda aux, texts: "[" + ", ".join(texts) + "]",
)
TUPLE = Container(
    cls=tuple,
    flatten=lambda node: (node, None),
    unflatten=lambda aux, children: tuple(children),
    keys=positions,
    show=lambda aux, texts: f"({texts[0]},)" if len(texts) == 1 else "(" + ", ".join(texts) + ")",
)
DICT = Container(
    cls=dict,
    flatten=flatten_dict,
    unflatten=in_given_order,
    keys=lambda aux, count: [Key(key) for key in aux],
    show=show_items,
)
ORDEREDDICT = Container(
    cls=OrderedDict,
    flatten=lambda node: (tuple(node.values()), tuple(node)),
    unflatten=lambda aux, children: OrderedDict(zip(aux, children)),
    keys=lambda aux, count: [Key(key) for key in aux],
    show=lambda aux, texts: f"OrderedDict({show_items(aux, texts)})",
)
DEFAULTDICT = Container(
    cls=defaultdict,
    flatten=flatten_defaultdict,
    unflatten=lambda aux, children: defaultdict(aux[0], in_given_order(aux[1], children)),
    keys=lambda aux, count: [Key(key) for key in aux[1]],
    show=lambda aux, texts: f"defaultdict({aux[0]!r}, {show_items(aux[1], texts)})",
)
NONE = Container(
    cls=NoneType,
    flatten=lambda node: ((), None),
    unflatten=lambda aux, children: None,
    keys=positions,
    show=lambda aux, texts: "None",
)
# One entry for all named tuples, with their class as aux: classes come and go, and a table would keep each
# one alive. `_make` builds subclasses too, whatever their `__new__` wants.
NAMEDTUPLE = Container(
    cls=tuple,
    flatten=lambda node: (node, type(node)),
    unflatten=lambda aux, children: aux._make(children),
    keys=lambda aux, count: [Attr(field) for field in aux._fields],
    show=lambda aux, texts: show_fields(aux.__name__, aux._fields, texts),
    class_of=lambda aux: aux,
)


class Further(tuple[Any, ...]):
    """Class, and names of the further attributes, of a result that is a tuple with attributes beside its items.

    Attributes that are no arrays or numbers are `kept`, and don't tell two structures apart.
    """

    kept: dict[str, Any]


def _is_numeric(value: Any) -> bool:
    return not isinstance(value, type) and getattr(getattr(value, "dtype", None), "kind", "") in tuple(
        "fciub"
    )


def flatten_result(node: Any) -> tuple[Sequence[Any], Further]:
    """The items, then the attributes that are arrays or numbers."""
    named = {name: value for name, value in vars(node).items() if _is_numeric(value)}
    aux = Further((type(node), *named))
    aux.kept = {name: value for name, value in vars(node).items() if name not in named}
    return (*node, *named.values()), aux


def unflatten_result(aux: Further, children: list[Any]) -> Any:
    """A result of the same class; its own `__new__` may want more than there is."""
    cls, *names = aux
    count = len(children) - len(names)
    result = tuple.__new__(cls, children[:count])
    vars(result).update(aux.kept)
    vars(result).update(zip(names, children[count:]))
    return result


def _names_of_result(aux: Further, count: int) -> list[str]:
    return [*aux[0]._fields[: count - len(aux) + 1], *aux[1:]]


# Results of SciPy's, such as that of linregress: tuples with names, and with more than their items.
RESULT = Container(
    cls=tuple,
    flatten=flatten_result,
    unflatten=unflatten_result,
    keys=lambda aux, count: [Attr(name) for name in _names_of_result(aux, count)],
    show=lambda aux, texts: show_fields(aux[0].__name__, _names_of_result(aux, len(texts)), texts),
    class_of=lambda aux: aux[0],
)
NAMESPACE = Container(
    cls=SimpleNamespace,
    flatten=lambda node: flatten_dict(vars(node)),
    unflatten=lambda aux, children: SimpleNamespace(**in_given_order(aux, children)),
    keys=lambda aux, count: [Attr(name) for name in aux],
    show=lambda aux, texts: show_fields("namespace", aux, texts),
)

CONTAINERS.update(
    {container.cls: container for container in (LIST, TUPLE, DICT, ORDEREDDICT, DEFAULTDICT, NONE, NAMESPACE)}
)
