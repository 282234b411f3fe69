"""Tables of rows: against the original, and against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.layers import arrays, check_errors, check_layer

F: Any = ft.nn.functional


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


TABLES = [
    ("Embedding", {}, [[1, 2, 1], [4, 0, 3]]),
    ("Embedding", {"padding_idx": 1}, [[1, 2, 1], [4, 0, 3]]),
    ("Embedding", {"padding_idx": -1, "scale_grad_by_freq": True}, [[1, 2, 1], [4, 0, 3]]),
    ("Embedding", {"max_norm": 1.0}, [1, 2, 1]),
    ("Embedding", {"max_norm": 2.0, "norm_type": 1.0}, [1, 2, 1]),
    ("Embedding", {}, 3),
    ("EmbeddingBag", {}, [[1, 2, 1], [4, 0, 3]]),
    ("EmbeddingBag", {"mode": "sum", "padding_idx": 1}, [[1, 2, 1], [4, 0, 3]]),
    ("EmbeddingBag", {"mode": "mean", "padding_idx": 1}, [[1, 1, 1], [4, 0, 1]]),
    ("EmbeddingBag", {"mode": "max"}, [[1, 2, 1], [4, 0, 3]]),
]


@pytest.mark.parametrize(("kind", "settings", "indices"), TABLES)
def test_layers(torch, kind, settings, indices):
    second = kind == "Embedding"  # the original has no second derivative of bags
    for dtype in (np.int64, np.int32):
        check_layer(
            torch,
            lambda nn: getattr(nn, kind)(5, 3, **settings),
            [np.array(indices, dtype)],
            second=second and "scale_grad_by_freq" not in settings,
            tolerance=1e-6,
        )


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("last", [False, True])
def test_bags_between_offsets(torch, mode, last):
    inputs = [np.array([1, 2, 4, 4, 0]), np.array([0, 2, 2, 5][: 3 + last])]
    make = lambda nn: nn.EmbeddingBag(5, 3, mode=mode, include_last_offset=last)
    check_layer(torch, make, inputs, second=False, tolerance=1e-6)


def test_weighted_bags(torch):
    inputs = [np.array([[1, 2, 1], [4, 0, 3]]), *arrays((2, 3), dtype=np.float32)]
    check_layer(
        torch,
        lambda nn: nn.EmbeddingBag(5, 3, mode="sum", padding_idx=4),
        inputs,
        call=lambda m, i, w: m(i, per_sample_weights=w),
        second=False,
        tolerance=1e-6,
    )


def test_from_pretrained():
    table = ft.tensor(arrays((4, 2))[0])
    frozen, trained = (
        ft.nn.Embedding.from_pretrained(table, freeze=freeze, padding_idx=2) for freeze in (True, False)
    )
    assert (frozen.weight.requires_grad, trained.weight.requires_grad, frozen.padding_idx) == (False, True, 2)
    assert frozen(ft.tensor([3])).tolist() == table.tolist()[3:]
    assert not ft.nn.EmbeddingBag.from_pretrained(table).weight.requires_grad


def test_against_differences():
    indices = ft.tensor([[0, 2], [2, 2]])
    weight, scale = (ft.tensor(a, requires_grad=True) for a in arrays((3, 2), (2, 2)))
    for run in (
        lambda w: F.embedding(indices, w),
        lambda w: F.embedding_bag(indices, w, mode="mean"),
        lambda w: F.embedding_bag(indices, w, mode="max"),
    ):
        assert ft.autograd.gradcheck(run, weight, check_forward_ad=True)
        assert ft.autograd.gradgradcheck(run, weight)
    assert ft.autograd.gradcheck(
        lambda w, s: F.embedding_bag(indices, w, mode="sum", per_sample_weights=s), (weight, scale)
    )


@pytest.mark.parametrize("batched", [(0, None), (None, 0), (0, 0)])
def test_vmap(batched):
    weight, indices = arrays((3, 5, 2))[0], np.array([[0, 2], [2, 2], [4, 1]])
    operands = [ft.tensor(x if d == 0 else x[0]) for x, d in zip((weight, indices), batched, strict=True)]

    def total(w: Any, i: Any) -> Any:
        return (F.embedding(i, w, padding_idx=4) ** 2).sum()

    for run in (total, ft.func.grad(total)):
        found: Any = ft.func.vmap(run, in_dims=batched)(*operands)
        for k in range(3):
            one = run(*[x if d is None else x.unbind()[k] for x, d in zip(operands, batched, strict=True)])
            np.testing.assert_allclose(found[k].numpy(), one.numpy(), rtol=1e-12)


ERRORS = [
    lambda t: t.nn.functional.embedding(t.tensor([5]), t.zeros(5, 3)),
    lambda t: t.nn.functional.embedding(t.tensor([-1]), t.zeros(5, 3)),
    lambda t: t.nn.functional.embedding(t.tensor([1.0]), t.zeros(5, 3)),
    lambda t: t.nn.functional.embedding(t.tensor([1]), t.zeros(5, 3), padding_idx=9),
    lambda t: t.nn.functional.embedding(t.tensor([1]), t.zeros(5)),
    lambda t: t.nn.Embedding(5, 3, padding_idx=5),
    lambda t: t.nn.functional.embedding_bag(t.tensor([1, 2]), t.zeros(5, 3)),
    lambda t: t.nn.functional.embedding_bag(t.tensor([1, 2]), t.zeros(5, 3), t.tensor([1])),
    lambda t: t.nn.functional.embedding_bag(t.tensor([1, 2]), t.zeros(5, 3), t.tensor([0, 3])),
    lambda t: t.nn.functional.embedding_bag(t.tensor([[1, 2]]), t.zeros(5, 3), t.tensor([0])),
    lambda t: t.nn.functional.embedding_bag(t.tensor([[1, 2]]), t.zeros(5, 3), mode="some"),
    lambda t: t.nn.functional.embedding_bag(
        t.tensor([[1, 2]]), t.zeros(5, 3), per_sample_weights=t.ones(1, 2)
    ),
]


@pytest.mark.parametrize("run", ERRORS)
def test_errors(torch, run):
    check_errors(torch, run)


def test_the_gradient_is_dense_where_a_sparse_one_is_asked_for():
    table = ft.nn.Embedding(3, 2, sparse=True)
    table(ft.tensor([1, 1])).sum().backward()
    assert table.weight.grad.tolist() == [[0, 0], [2, 2], [0, 0]]
