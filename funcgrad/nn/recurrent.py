"""Recurrent layers: one step, and all steps of a sequence in one call.

Weights multiply from the right: x @ kernel + h @ recurrent + bias. The gates lie side by side in the last
axis of `kernel`, `recurrent` and `bias`: input, forget, cell, output for `lstm`; reset, update, new for
`gru`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.errors import ArgumentError
from funcgrad.nn.kernels.recurrent import KINDS, Kind, scan
from funcgrad.nn.operands import floats


def rnn_cell(
    x: Any, h: Any, kernel: Any, recurrent: Any, bias: Any = None, *, activation: str = "tanh"
) -> Any:
    """One step of a plain recurrent layer: activation(x @ kernel + h @ recurrent + bias).

    Args:
        x: (N, D). h: the state (N, H). kernel: (D, H). recurrent: (H, H). bias: (H,).
        activation: "tanh" or "relu".

    Returns:
        The next state, (N, H).

    Raises:
        ArgumentError: shapes that do not fit, or another activation.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.rnn_cell(np.ones((1, 2)), np.zeros((1, 1)), np.ones((2, 1)), np.ones((1, 1)), activation="relu")
    array([[2.]])
    """
    return _step("funcgrad.nn.rnn_cell", _plain("rnn_cell", activation), x, (h,), kernel, recurrent, bias)[0]


def lstm_cell(
    x: Any, state: tuple[Any, Any], kernel: Any, recurrent: Any, bias: Any = None
) -> tuple[Any, Any]:
    """One step of long short-term memory (Hochreiter and Schmidhuber, 1997).

    c' = sigmoid(f) c + sigmoid(i) tanh(g) and h' = sigmoid(o) tanh(c'), where i, f, g, o are the four parts
    of x @ kernel + h @ recurrent + bias.

    Args:
        x: (N, D). state: (h, c), each (N, H). kernel: (D, 4H). recurrent: (H, 4H). bias: (4H,).

    Returns:
        The next state (h, c).

    Raises:
        ArgumentError: shapes that do not fit.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> state = np.zeros((1, 1)), np.ones((1, 1))
    >>> h, c = nn.lstm_cell(np.ones((1, 2)), state, np.zeros((2, 4)), np.zeros((1, 4)))
    >>> h.round(4), c
    (array([[0.2311]]), array([[0.5]]))
    """
    h, c = _step("funcgrad.nn.lstm_cell", KINDS["lstm"], x, tuple(state), kernel, recurrent, bias)
    return h, c


def gru_cell(
    x: Any, h: Any, kernel: Any, recurrent: Any, bias: Any = None, recurrent_bias: Any = None
) -> Any:
    """One step of the gated recurrent unit (Cho and others, 2014), the reset gate multiplying the product.

    h' = (1 - z) n + z h with r = sigmoid(xr + hr), z = sigmoid(xz + hz), n = tanh(xn + r hn), where (xr, xz,
    xn) are the parts of x @ kernel + bias, and (hr, hz, hn) those of h @ recurrent + recurrent_bias.

    Args:
        x: (N, D). h: (N, H). kernel: (D, 3H). recurrent: (H, 3H). bias, recurrent_bias: (3H,).

    Returns:
        The next state, (N, H).

    Raises:
        ArgumentError: shapes that do not fit.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> nn.gru_cell(np.ones((1, 2)), np.ones((1, 1)), np.zeros((2, 3)), np.zeros((1, 3)))
    array([[0.5]])
    """
    return _step("funcgrad.nn.gru_cell", KINDS["gru"], x, (h,), kernel, recurrent, bias, recurrent_bias)[0]


def rnn(
    x: Any,
    h: Any,
    kernel: Any,
    recurrent: Any,
    bias: Any = None,
    *,
    activation: str = "tanh",
    reverse: bool = False,
) -> tuple[Any, Any]:
    """All steps of `rnn_cell` over a sequence x (T, N, D), from the state h (N, H), or None for zeros.

    Returns:
        The states of all steps (T, N, H), and the last one. With `reverse` the last element of x comes first.

    Raises:
        ArgumentError: shapes that do not fit, or another activation.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> out, last = nn.rnn(np.ones((3, 1, 1)), None, np.ones((1, 1)), np.ones((1, 1)), activation="relu")
    >>> out.ravel(), last.ravel()
    (array([1., 2., 3.]), array([3.]))
    """
    kind = _plain("rnn", activation)
    out, last = _sequence(
        "funcgrad.nn.rnn", kind, x, None if h is None else (h,), kernel, recurrent, bias, None, reverse
    )
    return out, last


def lstm(
    x: Any,
    state: tuple[Any, Any] | None,
    kernel: Any,
    recurrent: Any,
    bias: Any = None,
    *,
    reverse: bool = False,
) -> tuple[Any, tuple[Any, Any]]:
    """All steps of `lstm_cell` over x (T, N, D), from the state (h, c), each (N, H), or None for zeros.

    Returns:
        h of all steps (T, N, H), and the last (h, c). With `reverse` the last element of x comes first.

    Raises:
        ArgumentError: shapes that do not fit.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> out, (h, c) = nn.lstm(np.ones((5, 2, 3)), None, np.ones((3, 16)), np.ones((4, 16)))
    >>> out.shape, h.shape, bool(np.all(out[-1] == h))
    ((5, 2, 4), (2, 4), True)
    """
    out, h, c = _sequence("funcgrad.nn.lstm", KINDS["lstm"], x, state, kernel, recurrent, bias, None, reverse)
    return out, (h, c)


def gru(
    x: Any,
    h: Any,
    kernel: Any,
    recurrent: Any,
    bias: Any = None,
    recurrent_bias: Any = None,
    *,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """All steps of `gru_cell` over a sequence x (T, N, D), from the state h (N, H), or None for zeros.

    Returns:
        The states of all steps (T, N, H), and the last one. With `reverse` the last element of x comes first.

    Raises:
        ArgumentError: shapes that do not fit.

    >>> import numpy as np
    >>> from funcgrad import nn
    >>> out, last = nn.gru(np.ones((5, 2, 3)), None, np.ones((3, 12)), np.ones((4, 12)))
    >>> out.shape, last.shape
    ((5, 2, 4), (2, 4))
    """
    states = None if h is None else (h,)
    out, last = _sequence(
        "funcgrad.nn.gru", KINDS["gru"], x, states, kernel, recurrent, bias, recurrent_bias, reverse
    )
    return out, last


# ---- what they have in common ------------------------------------------------------------------------------
def _plain(name: str, activation: str) -> Kind:
    if activation not in ("tanh", "relu"):
        raise ArgumentError(f"funcgrad.nn.{name}: activation={activation!r}: write 'tanh' or 'relu'")
    return KINDS[activation]


def _sequence(
    who: str,
    kind: Kind,
    x: Any,
    states: Any,
    kernel: Any,
    recurrent: Any,
    bias: Any,
    recurrent_bias: Any,
    reverse: bool,
) -> list[Any]:
    """The outputs (T, N, H), then the last states."""
    if np.ndim(x) != 3 or not len(x):
        raise ArgumentError(f"{who}: x {np.shape(x)}: give (T, N, D), with at least one step")
    steps, examples, width = x.shape
    if states is None:
        zeros = np.zeros(
            (examples, np.shape(recurrent)[0]), recurrent.dtype if hasattr(recurrent, "dtype") else float
        )
        states = (zeros,) * kind.states
    rows = np.reshape(x, (steps * examples, width))
    out, *last = _run(
        who, kind, rows, tuple(states), kernel, recurrent, bias, recurrent_bias, (examples,) * steps, reverse
    )
    return [np.reshape(out, (steps, examples, out.shape[-1])), *last]


def _step(who: str, kind: Kind, x: Any, states: Any, kernel: Any, recurrent: Any, *biases: Any) -> list[Any]:
    """The next states."""
    bias, recurrent_bias = (*biases, None)[:2]
    return _run(who, kind, x, states, kernel, recurrent, bias, recurrent_bias, (len(x),), False)[1:]


def _run(
    who: str,
    kind: Kind,
    rows: Any,
    states: Any,
    kernel: Any,
    recurrent: Any,
    bias: Any,
    recurrent_bias: Any,
    sizes: tuple[int, ...],
    reverse: bool,
) -> list[Any]:
    rows, kernel, recurrent, bias, recurrent_bias, *states = floats(
        who, rows, kernel, recurrent, bias, recurrent_bias, *states
    )
    width = recurrent.shape[0] if recurrent.ndim == 2 else 0
    wanted = {
        "kernel": (kernel, (rows.shape[-1], kind.gates * width)),
        "recurrent": (recurrent, (width, kind.gates * width)),
        "bias": (bias, (kind.gates * width,)),
        "recurrent_bias": (recurrent_bias, (kind.gates * width,)),
        **{f"state {k}": (s, (sizes[0], width)) for k, s in enumerate(states)},
    }
    for name, (operand, shape) in wanted.items():
        if operand is not None and tuple(operand.shape) != shape:
            raise ArgumentError(f"{who}: {name} {operand.shape} for x {rows.shape} by step: give {shape}")
    return list(
        scan(kind, rows, tuple(states), kernel.T, recurrent.T, bias, recurrent_bias, None, sizes, reverse)
    )
