"""The layers of a transformer as modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.torch.nn import functional
from funcgrad.torch.nn.attention import MultiheadAttention
from funcgrad.torch.nn.dropout import Dropout
from funcgrad.torch.nn.linear import Linear
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.normalization import LayerNorm
from funcgrad.torch.tensors.tensor import Tensor


def _activation(given: str | Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    if callable(given):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(
            f"activation should be relu/gelu, not {given}: write one of these, or give a function"
        )
    return getattr(functional, given)


class _Layer(Module):
    """What both have in common: attention to itself, two linear layers, `norms` normalizations, and dropout."""

    norms = 0

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        attention = {
            "dropout": dropout,
            "batch_first": batch_first,
            "bias": bias,
            "device": device,
            "dtype": dtype,
        }
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        if self.norms == 3:
            self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, device=device, dtype=dtype)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, device=device, dtype=dtype)
        self.norm_first = norm_first
        for k in range(1, self.norms + 1):
            self.add_module(
                f"norm{k}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
            )
        for k in range(1, self.norms + 1):
            self.add_module(f"dropout{k}", Dropout(dropout))
        self.activation = _activation(activation)

    def _attended(self, x: Tensor, mask: Any, padding: Any, is_causal: bool) -> Tensor:
        out, _ = self.self_attn(
            x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False, is_causal=is_causal
        )
        return self.dropout1(out)

    def _fed_forward(self, x: Tensor) -> Tensor:
        last = self._modules[f"dropout{self.norms}"]
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Attention to itself, then two linear layers; each is added to what it got, and normalized (before, if
    `norm_first`).

    >>> import funcgrad.torch as torch
    >>> torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)(torch.zeros(4, 5, 8)).shape
    torch.Size([4, 5, 8])
    """

    norms = 2

    def forward(
        self, src: Tensor, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Tensor:
        """The transformed (L, N, d_model), or (N, L, d_model) if batch_first; masks as in MultiheadAttention."""
        x: Any = src
        if self.norm_first:
            x = x + self._attended(self.norm1(x), src_mask, src_key_padding_mask, is_causal)
            return x + self._fed_forward(self.norm2(x))
        x = self.norm1(x + self._attended(x, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(x + self._fed_forward(x))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, two linear layers; each added to its input and normalized."""

    norms = 3

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The transformed `tgt`, with the outputs of an encoder as `memory`; masks as in MultiheadAttention."""
        x: Any = tgt
        to_self = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        to_memory = (memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            x = x + self._attended(self.norm1(x), *to_self)
            x = x + self._remembered(self.norm2(x), *to_memory)
            return x + self._fed_forward(self.norm3(x))
        x = self.norm1(x + self._attended(x, *to_self))
        x = self.norm2(x + self._remembered(x, *to_memory))
        return self.norm3(x + self._fed_forward(x))

    def _remembered(self, x: Tensor, memory: Tensor, mask: Any, padding: Any, is_causal: bool) -> Tensor:
        out, _ = self.multihead_attn(
            x,
            memory,
            memory,
            attn_mask=mask,
            key_padding_mask=padding,
            need_weights=False,
            is_causal=is_causal,
        )
        return self.dropout2(out)
