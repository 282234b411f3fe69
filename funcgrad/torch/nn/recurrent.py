"""Recurrent layers as modules."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.torch.functions import creation
from funcgrad.torch.functions.join import cat, stack
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn import functional
from funcgrad.torch.nn.functional.recurrent import KINDS, LAYERS
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.nn.utils.rnn import PackedSequence
from funcgrad.torch.random import sampling
from funcgrad.torch.tensors.tensor import Tensor


class RNNBase(Module):
    """Layers one above the other, each of which goes through the steps of a sequence (in both directions if
    `bidirectional`).

    Inputs are (T, N, input_size), (N, T, input_size) if `batch_first`, (T, input_size), or a PackedSequence.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers = num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_settings(dropout)
        self._names: list[list[str | None]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: 1 + bidirectional]:
                self._add_layer(layer, suffix, device, dtype)
        self.reset_parameters()

    def _check_settings(self, dropout: Any) -> None:
        if isinstance(dropout, bool) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and self.num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
                f"greater than 1, but got dropout={dropout} and num_layers={self.num_layers}",
                stacklevel=4,
            )
        for name in ("hidden_size", "num_layers"):
            found = getattr(self, name)
            if not isinstance(found, int):
                raise TypeError(f"{name} should be of type int, got: {type(found).__name__}")
            if found <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.proj_size and self.mode != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")

    def _add_layer(self, layer: int, suffix: str, device: Any, dtype: Any) -> None:
        """The parameters of one layer in one direction, under PyTorch's names."""
        rows, out = KINDS[self.mode].gates * self.hidden_size, self.proj_size or self.hidden_size
        inside = self.input_size if layer == 0 else out * (1 + self.bidirectional)
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, inside), "weight_hh": (rows, out)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        for name, shape in shapes.items():
            made = Parameter(creation.empty(*shape, device=device, dtype=dtype))
            setattr(self, f"{name}_l{layer}{suffix}", made)
        kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        self._names.append([f"{kind}_l{layer}{suffix}" if kind in shapes else None for kind in kinds])

    def reset_parameters(self) -> None:
        """Uniform in ±1/sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        with no_grad():
            for p in self.parameters():
                sampling.uniform_(p, -bound, bound)

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters, in a list for each layer and direction."""
        return [[getattr(self, name) for name in names if name is not None] for names in self._names]

    def flatten_parameters(self) -> None:
        """Nothing to do: the parameters are used where they lie."""

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of the last layer, and the last states of all layers."""
        hx = tuple(hx) if isinstance(hx, list) else hx
        if isinstance(input, PackedSequence):
            sizes = tuple(np.asarray(concrete(input.batch_sizes.value)).tolist())
            hx = self._states(input.data, sizes[0], hx, input.sorted_indices)
            out, last = self._layers(input.data, sizes, hx)
            back = input.unsorted_indices
            last = last if back is None else [s.index_select(1, back) for s in last]
            return input._replace(data=out), self._packed_states(last)
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D instead"
            )
        is_batched = input.ndim == 3
        axis = 0 if self.batch_first else 1
        x = input if is_batched else input.unsqueeze(axis)
        x = x.transpose(0, 1) if self.batch_first else x
        states = self._states(x, x.shape[1], self._with_batch(hx, is_batched), None)
        out, last = self._layers(x, (x.shape[1],) * x.shape[0], states)
        out = out.transpose(0, 1) if self.batch_first else out
        if is_batched:
            return out, self._packed_states(last)
        return out.squeeze(axis), self._packed_states([s.squeeze(1) for s in last])

    def _with_batch(self, hx: Any, is_batched: bool) -> Any:
        """The given states with an axis for the batch."""
        if hx is None:
            return None
        states = hx if isinstance(hx, tuple) else (hx,)
        wanted = 3 if is_batched else 2
        for s in states:
            if s.ndim != wanted:
                kind = "batched 3-D" if is_batched else "unbatched 2-D"
                raise RuntimeError(
                    f"For {kind} input, hx should also be {wanted}-D but got {s.ndim}-D tensor"
                )
        states = states if is_batched else tuple(s.unsqueeze(1) for s in states)
        return states if isinstance(hx, tuple) else states[0]

    def _states(self, x: Tensor, count: int, hx: Any, order: Tensor | None) -> tuple[Tensor, ...]:
        """The first states (num_layers * directions, N, H), checked; zeros if none are given."""
        weight = getattr(self, str(self._names[0][0]))
        if x.value.dtype != weight.value.dtype:
            raise ValueError(
                f"RNN input dtype ({x.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({x.dtype})"
            )
        if x.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {x.shape[-1]}"
            )
        widths = (self.proj_size or self.hidden_size, self.hidden_size)[: KINDS[self.mode].states]
        shapes = [(self.num_layers * (1 + self.bidirectional), count, width) for width in widths]
        if hx is None:
            return tuple(creation.zeros(shape, dtype=x.dtype) for shape in shapes)
        states = hx if isinstance(hx, tuple) else (hx,)
        for k, (s, shape) in enumerate(zip(states, shapes, strict=True)):
            if tuple(s.shape) != shape:
                which = "hidden" if len(shapes) == 1 else f"hidden[{k}]"
                raise RuntimeError(f"Expected {which} size {shape}, got {list(s.shape)}")
        return states if order is None else tuple(s.index_select(1, order) for s in states)

    def _layers(
        self, x: Tensor, sizes: tuple[int, ...], states: tuple[Tensor, ...]
    ) -> tuple[Tensor, list[Tensor]]:
        """All layers: the last one's outputs, and the last states of all."""
        if not sizes:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        run, directions = LAYERS[self.mode], 1 + self.bidirectional
        last: list[tuple[Tensor, ...]] = []
        by_layer = [s.unbind(0) for s in states]
        for layer in range(self.num_layers):
            outs = []
            for direction in range(directions):
                k = layer * directions + direction
                weights = tuple(None if name is None else getattr(self, name) for name in self._names[k])
                out, *new = run(self.mode, x, tuple(s[k] for s in by_layer), weights, sizes, direction == 1)
                outs.append(out)
                last.append(tuple(new))
            x = outs[0] if directions == 1 else cat(outs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                x = functional.dropout(x, self.dropout, True)
        return x, [stack(list(each)) for each in zip(*last, strict=True)]

    def _packed_states(self, last: list[Tensor]) -> Any:
        return tuple(last) if len(last) > 1 else last[0]

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        settings = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        given = {name: getattr(self, name) for name in settings}
        return shown + "".join(
            f", {name}={value}" for name, value in given.items() if value != settings[name]
        )


class RNN(RNNBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu with nonlinearity="relu"."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        **options: Any,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(
            mode, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, **options
        )
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory, with gates in the order input, forget, cell, output. States are (h, c).

    >>> import funcgrad.torch as torch
    >>> out, (h, c) = torch.nn.LSTM(2, 3)(torch.ones(5, 1, 2))
    >>> out.shape, h.shape
    (torch.Size([5, 1, 3]), torch.Size([1, 1, 3]))
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__("LSTM", *args, **options)


class GRU(RNNBase):
    """The gated recurrent unit, with gates in the order reset, update, new."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__("GRU", *args, **options)
