"""Attention as a module."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.torch.functions import creation
from funcgrad.torch.nn import init
from funcgrad.torch.nn.functional.attention import MULTI_HEAD, Heads, kept
from funcgrad.torch.nn.linear import Linear
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensors.tensor import Tensor, make_tensor


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear, under the name that PyTorch's attention has for it."""


class MultiheadAttention(Module):
    """Attention of `num_heads` heads between projections of query, key and value, and a projection of the
    result.

    Inputs are (L, N, E), (N, L, E) if `batch_first`, or (L, E); `kdim` and `vdim` are the widths of key and
    value, if they differ. Returns (output, weights); the weights (N, L, S) are the means over all heads.

    >>> import funcgrad.torch as torch
    >>> x = torch.zeros(5, 2, 8)
    >>> out, weights = torch.nn.MultiheadAttention(8, 2)(x, x, x)
    >>> out.shape, weights.shape
    (torch.Size([5, 2, 8]), torch.Size([2, 5, 5]))
    """

    in_proj_weight: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.batch_first = batch_first
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.head_dim, self.add_zero_attn = embed_dim // num_heads, add_zero_attn
        assert self.head_dim * num_heads == embed_dim, "embed_dim must be divisible by num_heads"
        same = self._qkv_same_embed_dim
        shapes = {
            "q_proj_weight": None if same else (embed_dim, embed_dim),
            "k_proj_weight": None if same else (embed_dim, self.kdim),
            "v_proj_weight": None if same else (embed_dim, self.vdim),
            "in_proj_weight": (3 * embed_dim, embed_dim) if same else None,
            "in_proj_bias": (3 * embed_dim,) if bias else None,
        }
        self._add(shapes, device, dtype)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        more = (1, 1, embed_dim) if add_bias_kv else None
        self._add({"bias_k": more, "bias_v": more}, device, dtype)
        self._reset_parameters()

    def _add(self, shapes: dict[str, Any], device: Any, dtype: Any) -> None:
        for name, shape in shapes.items():
            self.register_parameter(
                name, None if shape is None else Parameter(creation.empty(*shape, device=device, dtype=dtype))
            )

    def _reset_parameters(self) -> None:
        for p in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if p is not None:
                init.xavier_uniform_(p)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)  # type: ignore[arg-type]
        for p in (self.bias_k, self.bias_v):
            if p is not None:
                init.xavier_normal_(p)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The output, and the weights if `need_weights` (of each head, unless `average_attn_weights`).

        `attn_mask` (L, S) or (N*heads, L, S) and `key_padding_mask` (N, S) say what to leave out (booleans)
        or are added (numbers). Raises AssertionError or RuntimeError for shapes that do not fit.
        """
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        self._check(query, key, value, attn_mask, key_padding_mask)
        same, single = key is query and value is query, query.ndim == 2
        axis = 0 if self.batch_first else 1
        if single:
            query, key, value = (x.unsqueeze(axis) for x in (query, key, value))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        masks = (attn_mask, key_padding_mask)
        found, keep = self._run(query, None if same else key, None if same else value, masks, need_weights)
        out, weights = found if need_weights else (found, None)
        if weights is not None:
            weights = weights if keep is None else weights * keep
            weights = weights.mean(1) if average_attn_weights else weights
            weights = weights.squeeze(0) if single else weights
        return out.squeeze(axis) if single else out, weights

    def _run(
        self, query: Any, key: Any, value: Any, masks: Any, need_weights: bool
    ) -> tuple[Any, Tensor | None]:
        """The output (with the weights, if wanted), and what dropout multiplied the weights by."""
        axis = 0 if self.batch_first else 1
        batch, steps = query.shape[axis], query.shape[1 - axis]
        seen = (query if key is None else key).shape[1 - axis]
        more = int(self.bias_k is not None) + self.add_zero_attn
        dtype, keep = query.value.dtype, None
        mask = self._mask(masks[0], masks[1], batch, steps, seen, more, dtype)
        if self.training and self.dropout:
            keep = kept((batch, self.num_heads, steps, seen + more), self.dropout, dtype)
        separate = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        weights = separate if self.in_proj_weight is None else (self.in_proj_weight,)
        extra, end = (self.bias_k, self.bias_v), (self.out_proj.weight, self.out_proj.bias)
        heads = Heads(self.num_heads, axis, self.add_zero_attn, need_weights)
        return MULTI_HEAD(query, key, value, weights, self.in_proj_bias, extra, end, mask, keep, heads), keep

    def _check(
        self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Any, key_padding_mask: Any
    ) -> None:
        if query.ndim not in (2, 3):
            raise AssertionError(
                f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor"
            )
        given = f"For {'batched' if query.ndim == 3 else 'unbatched'} ({query.ndim}-D) `query`, expected"
        assert key.ndim == value.ndim == query.ndim, (
            f"{given} `key` and `value` to be {query.ndim}-D but found {key.ndim}-D and {value.ndim}-D tensors respectively"
        )
        if key_padding_mask is not None:
            assert key_padding_mask.ndim == query.ndim - 1, (
                f"{given} `key_padding_mask` to be `None` or {query.ndim - 1}-D but found {key_padding_mask.ndim}-D tensor "
                "instead"
            )
        for name, x, width in (
            ("query", query, self.embed_dim),
            ("key", key, self.kdim),
            ("value", value, self.vdim),
        ):
            if x.shape[-1] != width:
                raise AssertionError(
                    f"was expecting embedding dimension of {width} for {name}, but got {x.shape[-1]}"
                )
        for name, x in (("attn_mask", attn_mask), ("key_padding_mask", key_padding_mask)):
            if x is not None and x.value.dtype.kind not in "bf":
                raise AssertionError(
                    f"only bool and floating types of {name} are supported, but got {x.dtype}"
                )

    def _mask(
        self, attn_mask: Any, key_padding_mask: Any, batch: int, steps: int, seen: int, more: int, dtype: Any
    ) -> Tensor | None:
        """Both masks as numbers to add, (N or 1, heads or 1, L or 1, S): 0 for keys appended."""
        parts = []
        if attn_mask is not None:
            shapes = {2: (steps, seen), 3: (batch * self.num_heads, steps, seen)}
            if tuple(attn_mask.shape) != shapes.get(attn_mask.ndim):
                raise RuntimeError(
                    f"The shape of the {attn_mask.ndim}D attn_mask is {attn_mask.shape}, but should be "
                    f"{shapes.get(attn_mask.ndim, shapes[2])}."
                )
            lead = (1, 1) if attn_mask.ndim == 2 else (batch, self.num_heads)
            parts.append(_added(attn_mask, dtype).reshape(*lead, steps, seen))
        if key_padding_mask is not None:
            for axis, n in enumerate((batch, seen)):
                found = key_padding_mask.shape[axis]
                assert found == n, f"Expected key_padded_mask.shape[{axis}] to be {n}, but got {found}"
            parts.append(_added(key_padding_mask, dtype).reshape(batch, 1, 1, seen))
        if not parts:
            return None
        mask = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        if more:
            from funcgrad.torch.nn.functional.padding import pad

            mask = pad(mask, (0, more))
        return mask


def _added(mask: Tensor, dtype: Any) -> Any:
    """A mask as numbers: -inf where a mask of booleans is true."""
    if mask.value.dtype.kind == "b":
        return make_tensor(np.where(mask.value, np.array(-np.inf, dtype), np.zeros((), dtype)))
    return mask
