"""Recurrent layers as functions on rows: all steps of one layer, in one direction."""

from __future__ import annotations

from typing import Any, NamedTuple

from funcgrad.nn.kernels.basic import AFFINE
from funcgrad.nn.kernels.recurrent import (
    GRU_SCAN,
    LSTM_SCAN,
    RELU_SCAN,
    TANH_SCAN,
    Cell,
    Sizes,
    by_steps,
    gru_cell,
    is_nested,
    lstm_cell,
    relu_cell,
    tanh_cell,
)
from funcgrad.torch.functions.ops import Op


class Kind(NamedTuple):
    """A kind of recurrent layer: the step, the call for all steps, how many gates and states it has, and its node."""

    cell: Cell
    scan: Any
    gates: int
    states: int
    bias_in_state: bool  # is b_hh multiplied by a gate, together with the state's part?
    node: str


KINDS = {
    "RNN_TANH": Kind(tanh_cell, TANH_SCAN, 1, 1, False, "StackBackward0"),
    "RNN_RELU": Kind(relu_cell, RELU_SCAN, 1, 1, False, "StackBackward0"),
    "LSTM": Kind(lstm_cell, LSTM_SCAN, 4, 2, False, "MkldnnRnnLayerBackward0"),
    "GRU": Kind(gru_cell, GRU_SCAN, 3, 1, True, "StackBackward0"),
}


def _layer(mode: str, input: Any, states: Any, weights: Any, sizes: Sizes, reverse: bool) -> Any:
    """The outputs of all steps, and the last states.

    `input` is (total, F) or (T, N, F), `states` a tuple of (N, H), `weights` w_ih, w_hh, b_ih, b_hh (or None), w_hr (or None).
    """
    kind = KINDS[mode]
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    rows = input.reshape(-1, input.shape[-1]) if input.ndim == 3 else input
    bias = b_ih if b_ih is None or kind.bias_in_state else b_ih + b_hh
    inputs = rows @ w_ih.T if bias is None else AFFINE(bias, rows, w_ih)
    within = [b_hh] if kind.bias_in_state else []
    if w_hr is not None:
        out, *last = by_steps(kind.cell, inputs, states, (w_hh, None, w_hr), sizes, reverse)
    elif is_nested((inputs, *states, w_hh, *within)):
        out, *last = by_steps(kind.cell, inputs, states, (w_hh, *within), sizes, reverse)
    else:
        out, *last = kind.scan(inputs, *states, w_hh, *within, sizes=sizes, reverse=reverse)
    if input.ndim == 3:
        out = out.reshape(*input.shape[:2], out.shape[-1])
    return (out, *last[: kind.states])


LAYERS = {mode: Op(mode.lower(), _layer, kind.node) for mode, kind in KINDS.items()}
CELLS = {
    "RNN_TANH": Op("rnn_tanh_cell", _layer, "TanhBackward0"),
    "RNN_RELU": Op("rnn_relu_cell", _layer, "ReluBackward0"),
    "LSTM": Op("lstm_cell", _layer, "MulBackward0"),
    "GRU": Op("gru_cell", _layer, "AddBackward0"),
}
