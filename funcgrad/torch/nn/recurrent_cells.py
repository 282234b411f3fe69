"""One step of a recurrent layer, as modules."""

from __future__ import annotations

import math
from typing import Any

from funcgrad.torch.functions import creation
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn.functional.recurrent import CELLS, KINDS
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.random import sampling
from funcgrad.torch.tensors.tensor import Tensor


class RNNCellBase(Module):
    """What cells share: inputs (N, input_size) or (input_size), states (N, hidden_size) or (hidden_size)."""

    mode = ""
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        *,
        mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias, self.mode = input_size, hidden_size, bias, mode
        rows = KINDS[mode].gates * hidden_size
        self.weight_ih = Parameter(creation.empty(rows, input_size, device=device, dtype=dtype))
        self.weight_hh = Parameter(creation.empty(rows, hidden_size, device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(
                name, Parameter(creation.empty(rows, device=device, dtype=dtype)) if bias else None
            )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform in ±1/sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        with no_grad():
            for p in self.parameters():
                sampling.uniform_(p, -bound, bound)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """The next state; (h, c) of an LSTMCell."""
        who = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(f"{who}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        states = () if hx is None else hx if isinstance(hx, (tuple, list)) else (hx,)
        for k, s in enumerate(states):
            if s.ndim not in (1, 2):
                name = "hidden" if len(states) == 1 else f"hx[{k}]"
                raise ValueError(f"{who}: Expected {name} to be 1D or 2D, got {s.ndim}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {input.shape[-1]} expected {self.input_size}"
            )
        single = input.ndim == 1
        x: Any = input.unsqueeze(0) if single else input
        if hx is None:
            states = (creation.zeros(len(x), self.hidden_size, dtype=x.dtype),) * KINDS[self.mode].states
        elif single:
            states = tuple(s.unsqueeze(0) for s in states)
        self._check_states(states, len(x))
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None)
        _, *new = CELLS[self.mode](self.mode, x, tuple(states), weights, (len(x),), False)
        new = [s.squeeze(0) for s in new] if single else new
        return new[0] if len(new) == 1 else tuple(new)

    def _check_states(self, states: Any, count: int) -> None:
        for k, s in enumerate(states):
            if s.shape[0] != count:
                raise RuntimeError(
                    f"Input batch size {count} doesn't match hidden{k} batch size {s.shape[0]}"
                )
            if s.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{k} has inconsistent hidden_size: got {s.shape[1]}, expected {self.hidden_size}"
                )

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(RNNCellBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu with nonlinearity="relu"."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}: write 'tanh' or 'relu'")
        super().__init__(
            input_size, hidden_size, bias, mode=f"RNN_{nonlinearity.upper()}", device=device, dtype=dtype
        )
        self.nonlinearity = nonlinearity

    def extra_repr(self) -> str:
        return super().extra_repr() + (
            "" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}"
        )


class LSTMCell(RNNCellBase):
    """A step of long short-term memory; gates: input, forget, cell, output. States are (h, c)."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, mode="LSTM", device=device, dtype=dtype)


class GRUCell(RNNCellBase):
    """A step of the gated recurrent unit, with gates in the order reset, update, new."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, mode="GRU", device=device, dtype=dtype)
