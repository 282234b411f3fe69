"""Recurrent layers as functions on rows: all steps of one layer, in one direction."""

from __future__ import annotations

from typing import Any

from funcgrad.nn.kernels import recurrent as kernels
from funcgrad.nn.kernels.recurrent import Sizes, scan
from funcgrad.torch.functions.ops import Op

KINDS = {
    f"RNN_{name.upper()}" if name in ("tanh", "relu") else name.upper(): kind
    for name, kind in kernels.KINDS.items()
}
_NODES = {"LSTM": "MkldnnRnnLayerBackward0"}


def _layer(mode: str, input: Any, states: Any, weights: Any, sizes: Sizes, reverse: bool) -> Any:
    """The outputs of all steps, and the last states.

    `input` is (total, F) or (T, N, F), `states` a tuple of (N, H), `weights` w_ih, w_hh, b_ih, b_hh (or
    None), w_hr (or None).
    """
    kind = KINDS[mode]
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    rows = input.reshape(-1, input.shape[-1]) if input.ndim == 3 else input
    bias = b_ih if b_ih is None or kind.bias_in_state else b_ih + b_hh
    out, *last = scan(kind, rows, states, w_ih, w_hh, bias, b_hh, w_hr, sizes, reverse)
    if input.ndim == 3:
        out = out.reshape(*input.shape[:2], out.shape[-1])
    return (out, *last)


LAYERS = {mode: Op(mode.lower(), _layer, _NODES.get(mode, "StackBackward0")) for mode in KINDS}
CELLS = {
    "RNN_TANH": Op("rnn_tanh_cell", _layer, "TanhBackward0"),
    "RNN_RELU": Op("rnn_relu_cell", _layer, "ReluBackward0"),
    "LSTM": Op("lstm_cell", _layer, "MulBackward0"),
    "GRU": Op("gru_cell", _layer, "AddBackward0"),
}
