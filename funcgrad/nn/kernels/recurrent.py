"""Recurrent layers, declared to the engine: all steps are one call, pulled through time by hand.

A layer gets its inputs already multiplied by the weights of the input (one product for all steps), as rows
(total, gates*H): the rows of step 0, then those of step 1, and so on; `sizes` says how many sequences take
part in each step. So sequences of the same length and packed ones are the same to it. States are (N, H); a
sequence that takes no part in a step keeps its state.

The pull works on plain arrays. Where it is to be differentiated itself, the steps are run again one by one
(`by_steps`), in calls that the engine knows; the same code serves forward mode and vmap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.engine.declare import custom
from funcgrad.core.engine.reverse import ReverseTracer
from funcgrad.core.engine.trace import Tracer
from funcgrad.nn.kernels.basic import AFFINE, RELU, SIGMOID
from funcgrad.transforms.derivatives import vjp

Sizes = tuple[int, ...]
States = tuple[Any, ...]
Cell = Callable[..., States]


def spans(sizes: Sizes, reverse: bool) -> list[tuple[slice, int]]:
    """The rows of each step, in the order in which steps are taken, and how many they are."""
    stops = np.cumsum(sizes).tolist()
    steps = [(slice(stop - n, stop), n) for stop, n in zip(stops, sizes, strict=True)]
    return steps[::-1] if reverse else steps


# ---- one step --------------------------------------------------------------------------------------------------------


def _parts(gates: Any, count: int) -> list[Any]:
    width = gates.shape[-1] // count
    return [gates[..., k * width : (k + 1) * width] for k in range(count)]


def tanh_cell(inputs: Any, states: States, w_hh: Any, b_hh: Any = None) -> States:
    """A step of the plain recurrent layer."""
    return (np.tanh(_plus(inputs + states[0] @ w_hh.T, b_hh)),)


def relu_cell(inputs: Any, states: States, w_hh: Any, b_hh: Any = None) -> States:
    """The same, with max(x, 0) in the place of tanh."""
    return (RELU(_plus(inputs + states[0] @ w_hh.T, b_hh)),)


def lstm_cell(inputs: Any, states: States, w_hh: Any, b_hh: Any = None, w_hr: Any = None) -> States:
    """A step of long short-term memory; gates: input, forget, cell, output. `w_hr` projects the output."""
    h, c = states
    i, f, g, o = _parts(_plus(inputs + h @ w_hh.T, b_hh), 4)
    c = SIGMOID(f) * c + SIGMOID(i) * np.tanh(g)
    h = SIGMOID(o) * np.tanh(c)
    return (h if w_hr is None else h @ w_hr.T), c


def gru_cell(inputs: Any, states: States, w_hh: Any, b_hh: Any = None) -> States:
    """A step of the gated recurrent unit; gates in the order reset, update, new."""
    h = states[0]
    (xr, xz, xn), (hr, hz, hn) = _parts(inputs, 3), _parts(_plus(h @ w_hh.T, b_hh), 3)
    z = SIGMOID(xz + hz)
    n = np.tanh(xn + SIGMOID(xr + hr) * hn)
    return (n + z * (h - n),)


def _plus(x: Any, bias: Any) -> Any:
    return x if bias is None else x + bias


def by_steps(
    cell: Cell, inputs: Any, states: States, weights: Sequence[Any], sizes: Sizes, reverse: bool
) -> States:
    """All steps, one by one: the outputs (total, H), and the last states."""
    outs = []
    for rows, n in spans(sizes, reverse):
        whole = n == states[0].shape[0]
        new = cell(inputs[rows], states if whole else tuple(s[:n] for s in states), *weights)
        outs.append(new[0])
        states = (
            new if whole else tuple(np.concatenate([s, old[n:]]) for s, old in zip(new, states, strict=True))
        )
    return (np.concatenate(outs[::-1] if reverse else outs), *states)


def is_nested(operands: Sequence[Any]) -> bool:
    """Is there more to do with these operands than one reverse sweep over plain arrays?"""
    return any(
        isinstance(x, Tracer) and (not isinstance(x, ReverseTracer) or isinstance(x._value, Tracer))
        for x in operands
    )


def _pulled_by_steps(
    cell: Cell, ct: list[Any], operands: list[Any], names: Sequence[str], wanted: Any, **how: Any
) -> list[Any]:
    """The cotangents of operands (inputs, states..., weights...), by a sweep over the steps."""
    count = len([name for name in names if name in ("h", "c")])
    places = [k for k, name in enumerate(names) if name in wanted]

    def function(*chosen: Any) -> States:
        args = list(operands)
        for k, x in zip(places, chosen, strict=True):
            args[k] = x
        return by_steps(cell, args[0], tuple(args[1 : 1 + count]), args[1 + count :], **how)

    _, pull = vjp(function, *(operands[k] for k in places))
    parts = dict(zip(places, pull(tuple(ct[: 1 + count])), strict=True))
    return [parts.get(k) for k in range(len(names))]


def _is_traced(ct: list[Any], *operands: Any) -> bool:
    return any(isinstance(x, Tracer) for x in (*ct, *operands))


def _own(ct: Any, like: Any) -> Any:
    """A cotangent that may be written into."""
    return np.zeros_like(like) if ct is None else np.array(ct)


# ---- plain -----------------------------------------------------------------------------------------------------------


def _plain(activation: Any) -> Any:
    def scan(inputs: Any, h: Any, w_hh: Any, sizes: Sizes, reverse: bool) -> Any:
        out, before, matrix, h = np.empty_like(inputs), np.empty_like(inputs), w_hh.T, h.copy()
        for rows, n in spans(sizes, reverse):
            before[rows] = h[:n]
            new = np.matmul(h[:n], matrix, out=out[rows])
            new += inputs[rows]
            h[:n] = activation(new, out=new)
        return out, h, before

    return scan


def _plain_pull(cell: Cell, slope: Any) -> Any:
    def pull(
        ct: Any, inputs: Any, h: Any, w_hh: Any, sizes: Sizes, reverse: bool, out: Any, wanted: Any
    ) -> Any:
        if _is_traced(ct, inputs, h, w_hh):
            names = ("inputs", "h", "w_hh")
            return _pulled_by_steps(cell, ct, [inputs, h, w_hh], names, wanted, sizes=sizes, reverse=reverse)
        outs, last, before = out
        slopes, moved, dh = slope(outs), np.empty_like(outs), _own(ct[1], last)
        for rows, n in reversed(spans(sizes, reverse)):
            if ct[0] is not None:
                dh[:n] += ct[0][rows]
            np.multiply(dh[:n], slopes[rows], out=moved[rows])
            np.matmul(moved[rows], w_hh, out=dh[:n])
        return moved, dh, moved.T @ before if "w_hh" in wanted else None

    return pull


TANH_SCAN = custom(
    _plain(np.tanh),
    joint=_plain_pull(tanh_cell, lambda out: 1 - out * out),
    operands="inputs h w_hh",
    name="rnn_tanh",
)
RELU_SCAN = custom(
    _plain(lambda x, out: np.maximum(x, 0, out=out)),
    joint=_plain_pull(relu_cell, lambda out: (out > 0).astype(out.dtype)),
    operands="inputs h w_hh",
    name="rnn_relu",
)

# ---- long short-term memory ------------------------------------------------------------------------------------------


def lstm_scan(inputs: Any, h: Any, c: Any, w_hh: Any, sizes: Sizes, reverse: bool) -> Any:
    """All steps; then what the pull needs: gates, tanh(c), and the states before each step.

    sigmoid(x) is (tanh(x/2) + 1) / 2, so that one tanh serves all gates.
    """
    width, dtype = h.shape[1], inputs.dtype
    scale = np.repeat(np.array([0.5, 0.5, 1, 0.5], dtype), width)
    shift, matrix = 1 - scale, np.ascontiguousarray((w_hh * scale[:, None]).T)
    shift[2 * width : 3 * width] = 0
    gates, h, c = inputs * scale, h.copy(), c.copy()
    out, squashed, before_h, before_c = (np.empty((len(inputs), width), dtype) for _ in range(4))
    for rows, n in spans(sizes, reverse):
        hn, cn, g = h[:n], c[:n], gates[rows]
        before_h[rows], before_c[rows] = hn, cn
        g += hn @ matrix
        np.tanh(g, out=g)
        g *= scale
        g += shift
        cn *= g[:, width : 2 * width]
        cn += g[:, :width] * g[:, 2 * width : 3 * width]
        np.multiply(g[:, 3 * width :], np.tanh(cn, out=squashed[rows]), out=hn)
        out[rows] = hn
    return out, h, c, gates, squashed, before_h, before_c


def _lstm_pull(
    ct: Any, inputs: Any, h: Any, c: Any, w_hh: Any, sizes: Sizes, reverse: bool, out: Any, wanted: Any
) -> Sequence[Any]:
    if _is_traced(ct, inputs, h, c, w_hh):
        names = ("inputs", "h", "c", "w_hh")
        return _pulled_by_steps(
            lstm_cell, ct, [inputs, h, c, w_hh], names, wanted, sizes=sizes, reverse=reverse
        )
    _, last_h, last_c, gates, squashed, before_h, before_c = out
    i, f, g, o = _parts(gates, 4)
    slopes = np.empty((len(gates), 4, h.shape[1]), gates.dtype)  # what each gate's cotangent is a multiple of
    np.multiply(g, i * (1 - i), out=slopes[:, 0])
    np.multiply(before_c, f * (1 - f), out=slopes[:, 1])
    np.multiply(i, 1 - g * g, out=slopes[:, 2])
    np.multiply(squashed, o * (1 - o), out=slopes[:, 3])
    into_c, forget = o * (1 - squashed * squashed), np.ascontiguousarray(f)
    dh, dc = _own(ct[1], last_h), _own(ct[2], last_c)
    for rows, n in reversed(spans(sizes, reverse)):
        dhn, dcn, moved = dh[:n], dc[:n], slopes[rows]
        if ct[0] is not None:
            dhn += ct[0][rows]
        dcn += dhn * into_c[rows]
        moved[:, :3] *= dcn[:, None]
        moved[:, 3] *= dhn
        dcn *= forget[rows]
        np.matmul(moved.reshape(n, -1), w_hh, out=dhn)
    moved = slopes.reshape(len(gates), -1)
    return moved, dh, dc, moved.T @ before_h if "w_hh" in wanted else None


LSTM_SCAN = custom(lstm_scan, joint=_lstm_pull, operands="inputs h c w_hh", name="lstm")

# ---- gated recurrent unit --------------------------------------------------------------------------------------------


def gru_scan(inputs: Any, h: Any, w_hh: Any, b_hh: Any = None, *, sizes: Sizes, reverse: bool) -> Any:
    """All steps; then what the pull needs: gates, the last gate's part of the state, states before."""
    width, dtype = h.shape[1], inputs.dtype
    matrix, h = np.ascontiguousarray(w_hh.T), h.copy()
    gates, (out, part, before) = inputs.copy(), (np.empty((len(inputs), width), dtype) for _ in range(3))
    for rows, n in spans(sizes, reverse):
        hn, g = h[:n], gates[rows]
        before[rows] = hn
        hidden = hn @ matrix
        if b_hh is not None:
            hidden += b_hh
        part[rows] = hidden[:, 2 * width :]
        both, new = g[:, : 2 * width], g[:, 2 * width :]
        both += hidden[:, : 2 * width]
        both *= 0.5  # sigmoid(x) is (tanh(x/2) + 1) / 2
        np.tanh(both, out=both)
        both += 1
        both *= 0.5
        new += both[:, :width] * part[rows]
        np.tanh(new, out=new)
        hn -= new
        hn *= both[:, width:]
        hn += new
        out[rows] = hn
    return out, h, gates, part, before


def _gru_pull(
    ct: Any,
    inputs: Any,
    h: Any,
    w_hh: Any,
    sizes: Sizes,
    reverse: bool,
    out: Any,
    wanted: Any,
    b_hh: Any = None,
) -> Sequence[Any]:
    if _is_traced(ct, inputs, h, w_hh, b_hh):
        operands, names = [inputs, h, w_hh, b_hh], ("inputs", "h", "w_hh", "b_hh")
        return _pulled_by_steps(gru_cell, ct, operands, names, wanted, sizes=sizes, reverse=reverse)
    _, last, gates, part, before = out
    r, z, new = _parts(gates, 3)
    slopes = np.empty((len(gates), 3, h.shape[1]), gates.dtype)  # what each gate's cotangent is a multiple of
    into_new = (1 - z) * (1 - new * new)
    np.multiply(into_new, part * (r * (1 - r)), out=slopes[:, 0])
    np.multiply(before - new, z * (1 - z), out=slopes[:, 1])
    np.multiply(into_new, r, out=slopes[:, 2])
    dh, keep = _own(ct[1], last), np.ascontiguousarray(z)
    for rows, n in reversed(spans(sizes, reverse)):
        dhn, moved = dh[:n], slopes[rows]
        if ct[0] is not None:
            dhn += ct[0][rows]
        into_new[rows] *= dhn
        moved *= dhn[:, None]
        dhn *= keep[rows]
        dhn += moved.reshape(n, -1) @ w_hh
    moved = slopes.reshape(len(gates), -1)
    to_inputs = np.concatenate([moved[:, : 2 * h.shape[1]], into_new], axis=1)
    return (
        to_inputs,
        dh,
        moved.T @ before if "w_hh" in wanted else None,
        moved.sum(axis=0) if "b_hh" in wanted else None,
    )


GRU_SCAN = custom(gru_scan, joint=_gru_pull, operands="inputs h w_hh b_hh", name="gru")

# ---- kinds of layers -------------------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """A kind of recurrent layer: one step, all steps in one call, and how many gates and states it has."""

    cell: Cell
    scan: Any
    gates: int
    states: int
    bias_in_state: bool = False  # is the state's bias multiplied by a gate, together with the state's part?


KINDS = {
    "tanh": Kind(tanh_cell, TANH_SCAN, 1, 1),
    "relu": Kind(relu_cell, RELU_SCAN, 1, 1),
    "lstm": Kind(lstm_cell, LSTM_SCAN, 4, 2),
    "gru": Kind(gru_cell, GRU_SCAN, 3, 1, True),
}


def scan(
    kind: Kind,
    rows: Any,
    states: States,
    w_ih: Any,
    w_hh: Any,
    bias: Any,
    b_hh: Any,
    w_hr: Any,
    sizes: Sizes,
    reverse: bool,
) -> States:
    """All steps of a layer: the outputs (total, H), and the last states.

    `rows` (total, D), weights (gates*H, D or H); `bias` is added to what the input gives, `b_hh` to what the
    state gives.
    """
    inputs = rows @ w_ih.T if bias is None else AFFINE(bias, rows, w_ih)
    within = [b_hh] if kind.bias_in_state else []
    if w_hr is not None:
        return by_steps(kind.cell, inputs, states, (w_hh, None, w_hr), sizes, reverse)
    if is_nested((inputs, *states, w_hh, *within)):
        return by_steps(kind.cell, inputs, states, (w_hh, *within), sizes, reverse)
    return tuple(kind.scan(inputs, *states, w_hh, *within, sizes=sizes, reverse=reverse)[: 1 + kind.states])
