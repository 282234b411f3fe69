"""Tables of rows as modules."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.functions import creation
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn import functional, init
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensors.tensor import Tensor


class _Table(Module):
    """What both have in common: the table, and what is shown of the settings."""

    weight: Parameter
    padding_idx: int | None

    def _fill(
        self,
        rows: int,
        width: int,
        padding_idx: int | None,
        weight: Tensor | None,
        freeze: bool,
        device: Any,
        dtype: Any,
    ) -> None:
        self.num_embeddings, self.embedding_dim = rows, width
        if padding_idx is not None:
            assert -rows <= padding_idx < rows, "Padding_idx must be within num_embeddings"
            padding_idx %= rows
        self.padding_idx = padding_idx
        if weight is None:
            self.weight = Parameter(
                creation.empty(rows, width, device=device, dtype=dtype), requires_grad=not freeze
            )
            self.reset_parameters()
        else:
            assert tuple(weight.shape) == (rows, width), (
                "Shape of weight does not match num_embeddings and embedding_dim"
            )
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Normal; zeros in the row `padding_idx`."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx] = 0

    def _shown(self, **settings: Any) -> str:
        given = [f"{name}={value!r}" for name, (value, default) in settings.items() if value != default]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *given])


class Embedding(_Table):
    """The rows of a table (num_embeddings, embedding_dim) at integers.

    >>> import funcgrad.torch as torch
    >>> torch.nn.Embedding(10, 3)(torch.tensor([[1, 2, 4, 5]])).shape
    torch.Size([1, 4, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self._fill(num_embeddings, embedding_dim, padding_idx, _weight, _freeze, device, dtype)

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None, **settings: Any
    ) -> Embedding:
        """A module with this table; with `freeze` it is not trained."""
        assert embeddings.ndim == 2, "Embeddings parameter is expected to be 2-dimensional"
        return cls(*embeddings.shape, padding_idx=padding_idx, _weight=embeddings, _freeze=freeze, **settings)

    def forward(self, input: Tensor) -> Tensor:
        """The rows at `input` (...): (..., embedding_dim)."""
        settings = (self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse)
        return functional.embedding(input, self.weight, *settings)

    def extra_repr(self) -> str:
        return self._shown(
            padding_idx=(self.padding_idx, None),
            max_norm=(self.max_norm, None),
            norm_type=(self.norm_type, 2),
            scale_grad_by_freq=(self.scale_grad_by_freq, False),
            sparse=(self.sparse, False),
        )


class EmbeddingBag(_Table):
    """The sums, means or largest of bags of rows of a table (num_embeddings, embedding_dim)."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.max_norm, self.norm_type, self.mode = max_norm, norm_type, mode
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        self.include_last_offset = include_last_offset
        self._fill(num_embeddings, embedding_dim, padding_idx, _weight, False, device, dtype)

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, **settings: Any) -> EmbeddingBag:
        """A module with this table; with `freeze` it is not trained."""
        assert embeddings.ndim == 2, "Embeddings parameter is expected to be 2-dimensional"
        rows, width = embeddings.shape
        made = cls(rows, width, _weight=embeddings, **settings)
        made.weight.requires_grad_(not freeze)
        return made

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """One row for each bag: (B, embedding_dim)."""
        return functional.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        shown = self._shown(
            max_norm=(self.max_norm, None),
            norm_type=(self.norm_type, 2),
            scale_grad_by_freq=(self.scale_grad_by_freq, False),
        )
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{shown}, mode={self.mode!r}{padding}"
