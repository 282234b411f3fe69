"""Convolutions, declared to the engine: the form sum of y[o] * w[k] * x[o*stride + k*dilation] is linear in
each of x, w and y.

So there are three functions (`correlate` gives y, `spread` x, `weigh` w), each of which is the derivative of
the other two, to any order. They work on arrays whose channels lie last: a window is then a few runs of
memory, all windows of a batch are copied into the rows of a matrix, and one product of matrices does the
rest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from funcgrad.core.engine.batch import one_by_one
from funcgrad.core.engine.declare import custom, multilinear
from funcgrad.core.engine.primitive import Call, Primitive

Sizes = tuple[int, ...]
CHUNK = 1 << 19  # elements of the matrix of windows that is made at a time: what fits into the cache

LONG = (
    1 << 10
)  # padded elements of a channel: from here on, multiples of its line take less time than of windows


@dataclass(frozen=True)
class Geometry:
    """How the windows of a convolution lie in its input; one number for each spatial axis."""

    size: Sizes  # of the input, without padding
    kernel: Sizes
    stride: Sizes
    dilation: Sizes
    before: Sizes  # zeros in front of the input
    after: Sizes
    groups: int

    @cached_property
    def padded(self) -> Sizes:
        """The size of the input with its padding."""
        return tuple(map(sum, zip(self.before, self.size, self.after, strict=True)))

    @cached_property
    def reach(self) -> Sizes:
        """How many elements a window spans."""
        return tuple(d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation, strict=True))

    @cached_property
    def out(self) -> Sizes:
        """How many windows there are."""
        return tuple((n - r) // s + 1 for n, r, s in zip(self.padded, self.reach, self.stride, strict=True))

    @cached_property
    def inside(self) -> tuple[slice, ...]:
        """Where the input lies in itself with its padding (channels last)."""
        return (slice(None), *(slice(b, b + n) for b, n in zip(self.before, self.size, strict=True)))

    @cached_property
    def positions(self) -> list[tuple[Sizes, tuple[slice, ...]]]:
        """Each position in a window, and the slices of a padded input (channels last) for all windows."""
        places = []
        for k in itertools.product(*map(range, self.kernel)):
            steps = zip(k, self.dilation, self.stride, self.out, strict=True)
            places.append(
                (k, (slice(None), *(slice(i * d, i * d + s * (m - 1) + 1, s) for i, d, s, m in steps)))
            )
        return places

    @cached_property
    def turned(self) -> Geometry | None:
        """Where windows lie at every element: the correlation with the flipped kernel that spreads."""
        if any(s != 1 for s in self.stride):
            return None
        before = tuple(r - 1 - b for r, b in zip(self.reach, self.before, strict=True))
        after = tuple(r - 1 - a for r, a in zip(self.reach, self.after, strict=True))
        return None if min(*before, *after) < 0 else replace(self, size=self.out, before=before, after=after)

    @cached_property
    def is_pointwise(self) -> bool:
        """Is it one product of matrices for each example?"""
        lean = {*self.kernel, *self.stride, self.groups} == {1}
        return lean and not any(self.before) and not any(self.after)

    @cached_property
    def is_dense(self) -> bool:
        """Is there a window at every element, of which there are many more than windows that wrap around?"""
        return set(self.stride) == {1} and math.prod(self.padded) < 2 * math.prod(self.out)

    @cached_property
    def offsets(self) -> list[tuple[Sizes, int]]:
        """Each position in a window, and how far it is from the window's first on a line of the padded input."""
        steps = [math.prod(self.padded[i + 1 :]) for i in range(len(self.padded))]
        return [
            (k, sum(i * d * step for i, d, step in zip(k, self.dilation, steps, strict=True)))
            for k in itertools.product(*map(range, self.kernel))
        ]

    @property
    def places(self) -> int:
        """How many places on the line there are from the first window to the last."""
        return math.prod(self.padded) - self.offsets[-1][1]

    def grouped(self, more: int) -> Geometry:
        """With so many times as many groups."""
        return replace(self, groups=self.groups * more)


def channels_last(x: Any) -> Any:
    """(N, C, *S) as (N, *S, C), contiguous."""
    return np.ascontiguousarray(_last(x))


def channels_first(x: Any) -> Any:
    """(N, *S, C) as (N, C, *S), contiguous."""
    return np.ascontiguousarray(x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1)))


def _last(x: Any) -> Any:
    return x.transpose(0, *range(2, x.ndim), 1)  # np.moveaxis takes ten times as long


def _flat(x: Any) -> Any:
    return x.reshape(*x.shape[:2], math.prod(x.shape[2:]))


def padded_last(x: Any, geometry: Geometry) -> Any:
    """`x` with its channels last and its padding."""
    if not any(geometry.before) and not any(geometry.after):
        return channels_last(x)
    padded = np.zeros((x.shape[0], *geometry.padded, x.shape[1]), x.dtype)
    padded[geometry.inside] = _last(x)
    return padded


def windows(x: Any, geometry: Geometry) -> Any:
    """The windows of a contiguous padded input: a view (N, *out, *kernel, C)."""
    n, *inner, c = x.strides
    steps = [k * s for k, s in zip(geometry.stride, inner, strict=True)]
    strides = (n, *steps, *(k * s for k, s in zip(geometry.dilation, inner, strict=True)), c)
    return np.ndarray((x.shape[0], *geometry.out, *geometry.kernel, x.shape[-1]), x.dtype, x, 0, strides)


def _rows(x: Any, geometry: Geometry) -> Any:
    """The windows as rows of a matrix for each group: (groups, N*out, kernel*channels)."""
    views, groups = windows(x, geometry), geometry.groups
    if groups == 1:
        return views.reshape(1, x.shape[0] * math.prod(geometry.out), -1)
    split = views.reshape(*views.shape[:-1], groups, -1)
    return np.moveaxis(split, -2, 0).reshape(groups, x.shape[0] * math.prod(geometry.out), -1)


def _grouped(y: Any, groups: int) -> Any:
    """The channels of rows (N, ..., C), split into groups: (groups, N*..., C/groups)."""
    rows = y.reshape(-1, groups, y.shape[-1] // groups)
    return rows.reshape(1, *rows.shape[::2]) if groups == 1 else np.moveaxis(rows, 1, 0)


def _matrices(weight: Any, groups: int) -> Any:
    """A weight (O, C/groups, *kernel) as a matrix for each group: (groups, kernel*C/groups, O/groups)."""
    split = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    last = split.transpose(0, *range(3, split.ndim), 2, 1)
    return last.reshape(groups, -1, last.shape[-1])


def _chunks(n: int, geometry: Geometry, channels: int) -> Iterator[slice]:
    """The examples, so many at a time that their windows fit into the cache."""
    each = math.prod(geometry.out) * math.prod(geometry.kernel) * channels
    step = max(1, CHUNK // max(each, 1))
    return (slice(at, min(at + step, n)) for at in range(0, n, step))


def _is_depthwise(weight_shape: Sequence[int], groups: int) -> bool:
    return groups > 1 and weight_shape[0] == groups and weight_shape[1] == 1


def correlate(x: Any, weight: Any, geometry: Geometry) -> Any:
    """y (N, O, *out), from x (N, C, *size) and weight (O, C/groups, *kernel)."""
    if geometry.is_pointwise:
        return (weight.reshape(weight.shape[:2]) @ _flat(x)).reshape(len(x), len(weight), *geometry.size)
    depthwise = _is_depthwise(weight.shape, geometry.groups)
    if depthwise and geometry.is_dense and math.prod(geometry.padded) >= LONG:
        return _slid(x, weight, geometry)
    padded = padded_last(x, geometry)
    dtype = np.result_type(x, weight)
    if depthwise:
        y, part = (np.zeros((len(x), *geometry.out, len(weight)), dtype) for _ in range(2))
        for k, where in geometry.positions:
            line = np.tile(weight[(slice(None), 0, *k)], (geometry.out[-1], 1))  # long inner loops
            y += np.multiply(padded[where], line, out=part)
        return channels_first(y)
    matrices = _matrices(weight, geometry.groups)
    y = np.empty((len(x), math.prod(geometry.out), len(weight)), dtype)
    for chunk in _chunks(len(x), geometry, x.shape[1]):
        np.matmul(_rows(padded[chunk], geometry), matrices, out=_grouped(y[chunk], geometry.groups))
    return channels_first(y).reshape(len(x), len(weight), *geometry.out)


# ---- a kernel for each channel, a window at each element -----------------------------------------------------------
# On a line of padded elements (channels first) a window's element is so many places further: all places of a channel
# are a multiple of a slice of the line. Places whose windows wrap around an edge are computed too, and left out.
def _line(x: Any, geometry: Geometry, at: Sizes, dtype: Any) -> Any:
    """x (N, C, *S) as lines (N, C, length) of the padded grid, with x at `at` and zeros elsewhere."""
    lines = np.zeros((*x.shape[:2], *geometry.padded), dtype)
    lines[(..., *(slice(b, b + n) for b, n in zip(at, x.shape[2:], strict=True)))] = x
    return _flat(lines)


def _slid(x: Any, weight: Any, geometry: Geometry) -> Any:
    """`correlate`, an example at a time, which fits into the cache."""
    dtype, length = np.result_type(x, weight), geometry.places
    y = np.empty((len(x), len(weight), *geometry.out), dtype)
    line = np.empty((len(weight), math.prod(geometry.padded)), dtype)
    part = np.empty((len(weight), length), dtype)
    kept = (slice(None), *map(slice, geometry.out))
    for example, to in zip(x, y, strict=True):
        slid = _line(example[np.newaxis], geometry, geometry.before, dtype)[0]
        total = line[:, :length]
        total[...] = 0
        for k, offset in geometry.offsets:
            np.multiply(
                slid[:, offset : offset + length], weight[(slice(None), 0, *k)][:, np.newaxis], out=part
            )
            total += part
        to[...] = line.reshape(len(weight), *geometry.padded)[kept]
    return y


def _weighed(x: Any, y: Any, geometry: Geometry) -> Any:
    """`weigh`, as products of lines."""
    dtype, length = np.result_type(x, y), geometry.places
    lines = _line(x, geometry, geometry.before, dtype)
    others = _line(y, geometry, (0,) * len(geometry.out), dtype)[:, :, :length, np.newaxis]
    weight = np.empty((x.shape[1], 1, *geometry.kernel), dtype)
    for k, offset in geometry.offsets:
        products = lines[:, :, np.newaxis, offset : offset + length] @ others
        weight[(slice(None), 0, *k)] = products[..., 0, 0].sum(axis=0)
    return weight


def spread(y: Any, weight: Any, geometry: Geometry) -> Any:
    """x (N, C, *size), from y (N, O, *out) and weight: the transpose of `correlate`."""
    if geometry.turned is not None:
        return correlate(y, _flipped(weight, geometry.groups), geometry.turned)
    groups = geometry.groups
    x = np.zeros((len(y), *geometry.padded, weight.shape[1] * groups), np.result_type(y, weight))
    last = channels_last(y)
    if _is_depthwise(weight.shape, groups):
        for k, where in geometry.positions:
            x[where] += last * weight[(slice(None), 0, *k)]
        return channels_first(x[geometry.inside])
    split = weight.reshape(groups, len(weight) // groups, *weight.shape[1:])
    for chunk in _chunks(len(y), geometry, x.shape[-1]):
        rows, part = _grouped(last[chunk], groups), x[chunk]
        for k, where in geometry.positions:
            products = np.matmul(rows, np.ascontiguousarray(split[(..., *k)]))
            part[where] += np.moveaxis(products, 0, 1).reshape(len(part), *geometry.out, -1)
    return channels_first(x[geometry.inside])


def _flipped(weight: Any, groups: int) -> Any:
    """The weight with its channels exchanged and its kernel back to front."""
    split = weight.reshape(groups, len(weight) // groups, *weight.shape[1:])
    back = (slice(None, None, -1),) * (weight.ndim - 2)
    return split.swapaxes(1, 2)[(..., *back)].reshape(groups * weight.shape[1], -1, *weight.shape[2:])


def weigh(x: Any, y: Any, geometry: Geometry) -> Any:
    """weight (O, C/groups, *kernel), from x (N, C, *size) and y (N, O, *out)."""
    if geometry.is_pointwise:
        return (
            (_flat(y) @ _flat(x).swapaxes(1, 2)).sum(axis=0).reshape(y.shape[1], x.shape[1], *geometry.kernel)
        )
    if geometry.is_dense and geometry.groups > 1 and geometry.groups == x.shape[1] == y.shape[1]:
        return _weighed(x, y, geometry)
    padded, last, groups = padded_last(x, geometry), channels_last(y), geometry.groups
    dtype, shape = np.result_type(x, y), (y.shape[1], x.shape[1] // groups, *geometry.kernel)
    if _is_depthwise(shape, groups):
        weight, part = np.empty(shape, dtype), np.empty(last.shape, dtype)
        ones = np.ones(last.size // groups, dtype)
        for k, where in geometry.positions:
            weight[(slice(None), 0, *k)] = ones @ np.multiply(padded[where], last, out=part).reshape(
                -1, groups
            )
        return weight
    total = np.zeros((groups, math.prod(geometry.kernel) * shape[1], shape[0] // groups), dtype)
    for chunk in _chunks(len(x), geometry, x.shape[1]):
        total += _rows(padded[chunk], geometry).swapaxes(1, 2) @ _grouped(last[chunk], groups)
    split = total.reshape(groups, *geometry.kernel, shape[1], -1)
    rank = len(geometry.kernel)
    return np.ascontiguousarray(split.transpose(0, rank + 2, rank + 1, *range(1, rank + 1))).reshape(shape)


# ---- to the engine ---------------------------------------------------------------------------------------------------


def _folded(x: Any, is_batched: bool, size: int) -> Any:
    """(batch, N, C, ...) as (N, batch*C, ...)."""
    x = (
        np.moveaxis(x, 0, 1)
        if is_batched
        else np.broadcast_to(np.expand_dims(x, 1), (x.shape[0], size, *x.shape[1:]))
    )
    return x.reshape(x.shape[0], -1, *x.shape[3:])


def _unfolded(out: Any, size: int) -> Any:
    """(N, batch*C, ...) as (batch, N, C, ...)."""
    return np.moveaxis(out.reshape(out.shape[0], size, -1, *out.shape[2:]), 1, 0)


def _batched(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    """A batch of x (or y) is more examples; a batch of weights is more groups."""
    if not size:
        return one_by_one(primitive, call, batched, size)
    x, weight = call.operands
    geometry = call.params["geometry"]
    if not batched[1]:
        out = primitive(x.reshape(-1, *x.shape[2:]), weight, geometry)
        return out.reshape(size, -1, *out.shape[1:])
    weight = weight.reshape(-1, *weight.shape[2:])
    return _unfolded(primitive(_folded(x, batched[0], size), weight, geometry.grouped(size)), size)


def _batched_weigh(primitive: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
    if not size:
        return one_by_one(primitive, call, batched, size)
    geometry = call.params["geometry"]
    x, y = (_folded(each, b, size) for each, b in zip(call.operands, batched, strict=True))
    out = primitive(x, y, geometry.grouped(size))
    return out.reshape(size, -1, *out.shape[1:])


CORRELATE = multilinear(
    correlate,
    lambda ct, weight, geometry: SPREAD(ct, weight, geometry),
    lambda ct, x, geometry: WEIGH(x, ct, geometry),
    operands="x weight",
    batch=_batched,
    name="convolution",
)
SPREAD = multilinear(
    spread,
    lambda ct, weight, geometry: CORRELATE(ct, weight, geometry),
    lambda ct, y, geometry: WEIGH(ct, y, geometry),
    operands="y weight",
    batch=_batched,
    name="convolution_backward",
)
WEIGH = multilinear(
    weigh,
    lambda ct, y, geometry: SPREAD(y, ct, geometry),
    lambda ct, x, geometry: CORRELATE(x, ct, geometry),
    operands="x y",
    batch=_batched_weigh,
    name="convolution_backward",
)


# ---- with a bias -----------------------------------------------------------------------------------------------------


def _along_channels(bias: Any, ndim: int) -> Any:
    return bias.reshape(-1, *(1,) * (ndim - 2))


def _pushing(primitive: Primitive) -> Any:
    def push(t: dict[str, Any], x: Any, weight: Any, geometry: Geometry) -> Any:
        terms = [] if t["x"] is None else [primitive(t["x"], weight, geometry)]
        terms += [] if t["weight"] is None else [primitive(x, t["weight"], geometry)]
        bias = t.get("bias")
        return sum(terms, 0 if bias is None else _along_channels(bias, x.ndim))

    return push


def _batching(primitive: Primitive) -> Any:
    def batch(whole: Primitive, call: Call, batched: Sequence[bool], size: int) -> Any:
        if not size:
            return one_by_one(whole, call, batched, size)
        x, weight, *bias = call.operands
        out = (
            primitive.batch(primitive, Call([x, weight], call.layout[:2], call.params), batched[:2], size)
            if any(batched[:2])
            else primitive(x, weight, call.params["geometry"])
        )
        if not bias:
            return out
        ones = (1,) * (x.ndim - 2 - batched[0])
        return out + (bias[0].reshape(size, 1, -1, *ones) if batched[2] else bias[0].reshape(-1, *ones))

    return batch


def _with_bias(
    form: Primitive, pull_x: Primitive, pull_weight: Callable[[Any, Any, Geometry], Any]
) -> Primitive:
    """`form` of x and weight, plus a number for each channel, as one node.

    `pull_x(ct, weight, geometry)` and `pull_weight(ct, x, geometry)` pull back to the operands.
    """

    def convolution(x: Any, weight: Any, bias: Any = None, *, geometry: Geometry) -> Any:
        out = form.function(x, weight, geometry)
        return out if bias is None else np.add(out, _along_channels(bias, out.ndim), out=out)

    def pulls(ct: Any, x: Any, weight: Any, geometry: Geometry, wanted: tuple[str, ...]) -> tuple[Any, ...]:
        to_x = pull_x(ct, weight, geometry) if "x" in wanted else None
        to_weight = pull_weight(ct, x, geometry) if "weight" in wanted else None
        return to_x, to_weight, ct.sum(axis=(0, *range(2, ct.ndim))) if "bias" in wanted else None

    return custom(
        convolution,
        joint=pulls,
        push=_pushing(form),
        operands="x weight bias",
        batch=_batching(form),
        name="convolution",
    )


CONVOLVE = _with_bias(CORRELATE, SPREAD, lambda ct, x, geometry: WEIGH(x, ct, geometry))
CONVOLVE_TRANSPOSED = _with_bias(SPREAD, CORRELATE, WEIGH)
