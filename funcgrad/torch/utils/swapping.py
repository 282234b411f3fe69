"""swap_tensors: two tensors exchange what they are, under the names that they have."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.tensors.tensor import Leaf, Tensor


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange two tensors: content, class, gradient and place in the graph. Every reference to the one is to
    the other then.

    >>> import funcgrad.torch as torch
    >>> x, y = torch.zeros(2), torch.nn.Parameter(torch.ones(2))
    >>> torch.utils.swap_tensors(x, y)
    >>> type(x).__name__, y
    ('Parameter', tensor([0., 0.]))
    """
    parts = [_parts(t) for t in (t1, t2)]
    for t, other in ((t1, parts[1]), (t2, parts[0])):
        _become(t, *other)


def _parts(t: Any) -> tuple[Any, ...]:
    found = type(t), t.value, t.node, t.grad_, t.link, dict(t.__dict__)
    if t.link is not None:
        t.link.storage.drop(t)
    return found


def _become(t: Any, kind: type, value: Any, node: Any, grad: Any, link: Any, more: dict[str, Any]) -> None:
    t.__class__ = kind
    t.value, t.node, t.grad_, t.link = value, node, grad, link
    t.__dict__.clear()
    t.__dict__.update(more)
    if link is not None:
        link.storage.add(t)
    if node is not None and type(node.saved) is Leaf:
        node.saved = Leaf(t)
