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


def sparsely(lib, optimizer, settings):
    """Three steps of a table with sparse gradients: the last gradient and the table, or the error."""
    net = lib.nn.Embedding(5, 3, padding_idx=0, sparse=True)
    net.weight.data.copy_(lib.arange(15.0).reshape(5, 3))
    steps = getattr(lib.optim, optimizer)(net.parameters(), **settings)
    try:
        for _ in range(3):
            steps.zero_grad()
            ((net(lib.tensor([[1, 1, 2], [0, 4, 1]])) ** 2).sum() + net(lib.tensor([3])).sum()).backward()
            steps.step()
    except RuntimeError as error:
        return str(error)
    gradient = net.weight.grad.coalesce()
    assert gradient.is_sparse
    assert (gradient.sparse_dim(), gradient.dense_dim()) == (1, 1)
    return [x.detach().tolist() for x in (gradient.indices(), gradient.values(), net.weight)]


@pytest.mark.filterwarnings("ignore:Sparse invariant")
def test_sparse_gradients(torch):
    takes = [("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adagrad", {"lr": 0.1})]
    for name, settings in [*takes, ("SparseAdam", {"lr": 0.1})]:
        for x, y in zip(sparsely(ft, name, settings), sparsely(torch, name, settings)):
            np.testing.assert_allclose(x, y, rtol=1e-5, err_msg=name)
    for name in (
        "Adam",
        "AdamW",
        "RMSprop",
        "NAdam",
        "RAdam",
        "Adadelta",
        "Adamax",
        "Rprop",
        "ASGD",
        "Adafactor",
    ):
        assert sparsely(ft, name, {}) == sparsely(torch, name, {})
    dense = ft.ones(2, requires_grad=True)
    dense.sum().backward()
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients"):
        ft.optim.SparseAdam([dense]).step()


def test_sparse_gradients_among_others():
    make = lambda sparse, kind=ft.nn.Embedding, **settings: kind(4, 2, sparse=sparse, **settings)
    for kind, settings in [(ft.nn.Embedding, {}), (ft.nn.EmbeddingBag, {"mode": "mean"})]:
        gradients = []
        for sparse in (False, True):
            net = make(sparse, kind, **settings)
            net.weight.data.fill_(2.0)
            seen = []
            net.weight.register_hook(lambda g, seen=seen: seen.append(g.is_sparse))
            for _ in range(2):
                (net(ft.tensor([[1, 1], [3, 0]])) ** 2).sum().backward()
            gradient = net.weight.grad
            assert gradient.is_sparse is seen[0] is sparse
            norm = ft.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            gradients.append((norm.item(), (net.weight.grad.to_dense() if sparse else gradient).tolist()))
            (net(ft.tensor([[2]])).sum() + net.weight.sum()).backward()  # a dense part makes it dense
            assert not net.weight.grad.is_sparse
        np.testing.assert_allclose(*[norm for norm, _ in gradients], rtol=1e-6)
        np.testing.assert_allclose(*[gradient for _, gradient in gradients], rtol=1e-6)
