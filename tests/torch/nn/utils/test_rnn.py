"""Sequences of different lengths: packed and padded as the original does it, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.layers import arrays, check_errors, check_same, flat, gradients

rnn: Any = ft.nn.utils.rnn


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


CALLS = [
    lambda r, x: r.pack_padded_sequence(x, [4, 2, 1]),
    lambda r, x: r.pack_padded_sequence(x, [1, 4, 2], enforce_sorted=False),
    lambda r, x: r.pack_padded_sequence(x, [3, 2, 2, 1], batch_first=True),
    lambda r, x: r.pad_packed_sequence(r.pack_padded_sequence(x, [4, 2, 1])),
    lambda r, x: r.pad_packed_sequence(
        r.pack_padded_sequence(x, [3, 3, 1]), padding_value=-1.0, total_length=6
    ),
    lambda r, x: r.pad_packed_sequence(
        r.pack_padded_sequence(x, [1, 4, 2], enforce_sorted=False), batch_first=True
    ),
    lambda r, x: r.pad_sequence([x[0], x[1, :2], x[2, :1]], padding_value=2.0),
    lambda r, x: r.pad_sequence([x[0, :1], x[1], x[2, :2]], batch_first=True, padding_side="left"),
    lambda r, x: r.pack_sequence([x[0, :1], x[1], x[2, :2]], enforce_sorted=False),
    lambda r, x: r.unpack_sequence(r.pack_sequence([x[0, :1], x[1], x[2, :2]], enforce_sorted=False)),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("shape", [(4, 3, 2), (4, 3)])
def test_values_and_gradients(torch, call, shape):
    found = []
    for library in (ft, torch):
        x = library.tensor(arrays(shape)[0], requires_grad=True)
        out = call(library.nn.utils.rnn, x)
        found.append((flat(out), gradients(library, out, [x], True)))
    for mine, other in zip(*found, strict=True):
        check_same(mine, other, 1e-9, "packing")


def test_node_names():
    x = ft.tensor(arrays((4, 3, 2))[0], requires_grad=True)
    packed = rnn.pack_padded_sequence(x, [4, 2, 1])
    assert type(packed).__name__ == "PackedSequence"
    assert (
        packed.data.float().dtype
        == ft.float32
        == packed.to(ft.float32).data.dtype
        == packed.float().data.dtype
    )
    assert packed.cpu() is packed
    assert not packed.is_cuda
    assert packed.double().data.dtype == ft.float64


def test_unpad_sequence():
    x = ft.tensor(arrays((4, 3, 2))[0])
    lengths = ft.tensor([2, 4, 1])
    for first in (False, True):
        padded = x.transpose(0, 1) if first else x
        parts = rnn.unpad_sequence(padded, lengths, batch_first=first)
        assert [p.tolist() for p in parts] == [
            [row[k] for row in x.tolist()[:n]] for k, n in enumerate((2, 4, 1))
        ]
    assert rnn.invert_permutation(ft.tensor([2, 0, 1])).tolist() == np.argsort([2, 0, 1]).tolist()


ERRORS = [
    lambda t: t.nn.utils.rnn.pack_padded_sequence(t.zeros(4, 3, 2), [1, 2, 3]),
    lambda t: t.nn.utils.rnn.pack_padded_sequence(t.zeros(4, 3, 2), [2, 1]),
    lambda t: t.nn.utils.rnn.pack_padded_sequence(t.zeros(4, 3, 2), [2, 1, 0]),
    lambda t: t.nn.utils.rnn.pad_packed_sequence(
        t.nn.utils.rnn.pack_padded_sequence(t.zeros(4, 2, 2), [4, 1]), total_length=3
    ),
    lambda t: t.nn.utils.rnn.pad_sequence([t.zeros(2), t.zeros(3)], padding_side="some"),
]


@pytest.mark.parametrize("run", ERRORS)
def test_errors(torch, run):
    check_errors(torch, run)
