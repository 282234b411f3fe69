"""Cotangents as the gradients that users see; stand-ins for freed saved values; the running sweep."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NoReturn

import numpy as np

from funcgrad.core.engine.cotangent import dense
from funcgrad.nn.kernels.embedding import SparseRows
from funcgrad.torch.graph import modes
from funcgrad.torch.tensors.tensor import from_operand

SECOND_TIME = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
    "tensors after calling backward."
)


class _Freed:
    """Takes the place of what a node had saved: whoever asks for it learns that it is gone."""

    def _refuse(self, *_: Any) -> NoReturn:
        raise RuntimeError(SECOND_TIME)

    __iter__ = __getitem__ = __contains__ = __len__ = _refuse

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(name) if name.startswith("__") else RuntimeError(SECOND_TIME)


FREED = _Freed()


def to_user(ct: Any) -> Any:
    """A cotangent as the gradient that PyTorch shows: a tensor (sparse, of rows), conjugated if complex."""
    if type(ct) is SparseRows:
        from funcgrad.torch.sparse import of_rows

        return of_rows(ct)
    ct = dense(ct)
    if not hasattr(ct, "dtype"):
        ct = np.asarray(ct)
    return from_operand(ct.conj() if ct.dtype.kind == "c" else ct)


def from_user(gradient: Any, create_graph: bool) -> Any:
    """The cotangent for a gradient that a user gave."""
    gradient = gradient.to_dense() if gradient.is_sparse else gradient
    with modes.set_grad_enabled(create_graph):
        ct = gradient.__operand__()
    return ct.conj() if ct.dtype.kind == "c" else ct


CURRENT: ContextVar[Any] = ContextVar("current_sweep", default=None)
CAPTURING: ContextVar[bool] = ContextVar(
    "capturing", default=False
)  # is it for chosen inputs (autograd.grad)?


def current_sweep() -> Any:
    """The visitor of the sweep that is running in this context."""
    return CURRENT.get()
