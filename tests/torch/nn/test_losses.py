"""Losses against the original, with all reductions and options; derivatives in all modes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from tests.torch.nn.directions import check_directions
from tests.torch.nn.layers import arrays, check_errors, check_layer

X, Y, Z = arrays((3, 4), (3, 4), (3, 4), seed=5)
P, Q = 1 / (1 + np.exp(-X)), 1 / (1 + np.exp(-Y))
SIGNS = np.sign(Y)
CLASSES, CLASSES_2D = np.array([1, 3, 0]), np.array([[0, 2], [1, -100], [3, 3]])
K3, K4, K5 = arrays((3, 4, 2), (3, 4, 2, 1), (3, 4, 2, 1, 1), seed=6)
SOFT = np.exp(Y) / np.exp(Y).sum(1, keepdims=True)
WEIGHT = np.array([0.5, 2.0, 0.0, 1.5])
LISTS = np.array([[0, 1, -1, 2], [1, -1, 0, 0], [2, 3, 0, -1]])

# name, settings (arrays among them become tensors), inputs, the positions of inputs that are no variables
LOSSES: list[tuple[str, dict[str, Any], list[np.ndarray]]] = [
    ("L1Loss", {}, [X, Y]),
    ("MSELoss", {}, [X, Y]),
    ("SmoothL1Loss", {}, [X, Y]),
    ("SmoothL1Loss", {"beta": 0.3}, [X, Y]),
    ("SmoothL1Loss", {"beta": 0.0}, [X, Y]),
    ("HuberLoss", {"delta": 0.7}, [X, Y]),
    ("CrossEntropyLoss", {}, [X, CLASSES]),
    ("CrossEntropyLoss", {}, [X[0], np.array(2)]),
    ("CrossEntropyLoss", {"weight": WEIGHT, "ignore_index": 3}, [X, CLASSES]),
    ("CrossEntropyLoss", {"weight": WEIGHT, "label_smoothing": 0.2, "ignore_index": 3}, [X, CLASSES]),
    ("CrossEntropyLoss", {"label_smoothing": 0.2}, [K3, CLASSES_2D]),
    ("CrossEntropyLoss", {}, [K3, CLASSES_2D]),
    ("CrossEntropyLoss", {"weight": WEIGHT}, [K4, CLASSES_2D[..., None]]),
    ("CrossEntropyLoss", {}, [K5, CLASSES_2D[..., None, None]]),
    ("CrossEntropyLoss", {}, [X, SOFT]),
    ("CrossEntropyLoss", {"weight": WEIGHT, "label_smoothing": 0.2}, [X, SOFT]),
    ("CrossEntropyLoss", {}, [K3, np.abs(K3)]),
    ("CrossEntropyLoss", {}, [X[0], SOFT[0]]),
    ("NLLLoss", {}, [X, CLASSES]),
    ("NLLLoss", {"weight": WEIGHT, "ignore_index": 1}, [X, CLASSES]),
    ("NLLLoss", {}, [X[0], np.array(2)]),
    ("NLLLoss", {}, [K3, CLASSES_2D]),
    ("NLLLoss", {}, [K4, CLASSES_2D[..., None]]),
    ("BCELoss", {}, [P, Q]),
    ("BCELoss", {"weight": WEIGHT}, [P, Q]),
    ("BCEWithLogitsLoss", {}, [X, Q]),
    ("BCEWithLogitsLoss", {"weight": WEIGHT, "pos_weight": WEIGHT}, [X, Q]),
    ("BCEWithLogitsLoss", {"pos_weight": WEIGHT}, [X, Q]),
    ("KLDivLoss", {}, [X, Q]),
    ("KLDivLoss", {"log_target": True}, [X, Y]),
    ("PoissonNLLLoss", {}, [X, Q]),
    ("PoissonNLLLoss", {"log_input": False, "full": True}, [P, 3 * Q]),
    ("GaussianNLLLoss", {}, [X, Y, Q]),
    ("GaussianNLLLoss", {"full": True, "eps": 0.5}, [X, Y, Q[:, :1]]),
    ("GaussianNLLLoss", {}, [X, Y, Q[:, 0]]),
    ("HingeEmbeddingLoss", {"margin": 0.8}, [X, SIGNS.astype(int)]),
    ("SoftMarginLoss", {}, [X, SIGNS]),
    ("MarginRankingLoss", {"margin": 0.3}, [X, Y, np.sign(Z).astype(int)]),
    ("MultiMarginLoss", {}, [X, CLASSES]),
    ("MultiMarginLoss", {"p": 2, "margin": 0.7, "weight": WEIGHT}, [X, CLASSES]),
    ("MultiMarginLoss", {}, [X[0], np.array([2])]),
    ("MultiLabelMarginLoss", {}, [X, LISTS]),
    ("MultiLabelMarginLoss", {}, [X[0], LISTS[0]]),
    ("MultiLabelSoftMarginLoss", {}, [X, np.array(Y > 0, int)]),
    ("MultiLabelSoftMarginLoss", {"weight": WEIGHT}, [X, np.array(Y > 0, int)]),
    ("CosineEmbeddingLoss", {"margin": 0.1}, [X, Y, np.array([1, -1, 1])]),
    ("TripletMarginLoss", {}, [X, Y, Z]),
    ("TripletMarginLoss", {"p": 1.0, "margin": 3.0, "swap": True}, [X, Y, Z]),
    ("TripletMarginWithDistanceLoss", {"swap": True}, [X, Y, Z]),
]
# What the original does not differentiate (twice), or the facade names otherwise.
ONCE = ("MultiMarginLoss", "MultiLabelMarginLoss", "L1Loss")
CONSTANT_TARGET = ("SoftMarginLoss",)
IDS = [f"{name}-{k}" for k, (name, *_) in enumerate(LOSSES)]


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the original is not installed")


def made(library: Any, name: str, settings: dict[str, Any], reduction: str) -> Any:
    given = {k: library.tensor(v) if isinstance(v, np.ndarray) else v for k, v in settings.items()}
    return getattr(library.nn, name)(**given, reduction=reduction)


def call(name: str) -> Callable[..., Any]:
    def run(loss: Any, x: Any, target: Any, *rest: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return loss(x, target.detach() if name in CONSTANT_TARGET else target, *rest)

    return run


@pytest.mark.parametrize(("name", "settings", "inputs"), LOSSES, ids=IDS)
def test_as_the_original(torch: Any, name: str, settings: dict[str, Any], inputs: list[np.ndarray]) -> None:
    for reduction in ("none", "mean", "sum", *["batchmean"] * (name == "KLDivLoss")):
        libraries = {id(ft.nn): ft, id(torch.nn): torch}
        make = lambda nn: made(libraries[id(nn)], name, settings, reduction)
        check_layer(
            torch,
            make,
            inputs,
            call=call(name),
            second=name not in ONCE and settings.get("beta") != 0 and settings.get("p") != 1,
        )


@pytest.mark.parametrize(("name", "settings", "inputs"), LOSSES, ids=IDS)
def test_derivatives(name: str, settings: dict[str, Any], inputs: list[np.ndarray]) -> None:
    loss = made(ft, name, settings, "mean").double()
    x, *rest = [ft.tensor(x) for x in inputs]
    check_directions(lambda x: call(name)(loss, x, *rest), x.numpy())


@pytest.mark.parametrize(
    "name", ["MSELoss", "CrossEntropyLoss", "NLLLoss", "BCEWithLogitsLoss", "SmoothL1Loss", "KLDivLoss"]
)
def test_gradients_of_each_example(name: str) -> None:
    loss = getattr(ft.nn, name)(reduction="sum")
    target = ft.tensor(CLASSES if name in ("CrossEntropyLoss", "NLLLoss") else Q)
    each = ft.func.vmap(ft.func.grad(loss))(ft.tensor(X), target)
    np.testing.assert_allclose(each.numpy(), ft.func.grad(loss)(ft.tensor(X), target).numpy(), rtol=1e-12)
    shared = ft.func.vmap(ft.func.grad(loss), in_dims=(0, None))(ft.tensor(X), target[0])
    np.testing.assert_allclose(shared[0].numpy(), each[0].numpy(), rtol=1e-12)


def test_examples_that_differ_in_one_operand_alone() -> None:
    F, x = ft.nn.functional, ft.tensor(X)
    targets = ft.tensor(np.stack([CLASSES, CLASSES[::-1].copy()]))
    each = ft.func.vmap(lambda t: ft.func.grad(lambda x: F.cross_entropy(x, t))(x))(targets)
    np.testing.assert_allclose(
        each[1].numpy(), ft.func.grad(lambda x: F.cross_entropy(x, targets[1]))(x).numpy()
    )
    each = ft.func.vmap(lambda y: ft.func.grad(lambda x: F.mse_loss(x, y))(x))(ft.tensor(np.stack([Y, Z])))
    np.testing.assert_allclose(each[1].numpy(), 2 * (X - Z) / X.size)


def test_single_precision_and_extremes(torch: Any) -> None:
    x = np.array([[1e4, -1e4, 0.0], [3.0, -np.inf, 1.0], [0.0, 0.0, 0.0]], np.float32)
    found, expected = [], []
    for library, into in ((ft, found), (torch, expected)):
        F, t = library.nn.functional, library.tensor(x, requires_grad=True)
        target = library.tensor([0, 2, 1])
        loss = F.cross_entropy(t, target, reduction="none")
        logits = F.binary_cross_entropy_with_logits(t[0], library.tensor([0.0, 1.0, 0.5]), reduction="none")
        empty = F.cross_entropy(t, library.full((3,), -100))
        certain = F.binary_cross_entropy(
            library.tensor([0.0, 1.0]), library.tensor([1.0, 0.0]), reduction="none"
        )
        none = F.mse_loss(library.zeros(0), library.zeros(0))
        (loss.sum() + logits.sum()).backward()
        into += [v.detach().numpy() for v in (loss, logits, empty, certain, none, t.grad)]
        assert str(loss.dtype) == "torch.float32"
    for f, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(f, e, rtol=1e-6)


def test_distances(torch: Any) -> None:
    for run in (
        lambda t, x, y: t.nn.functional.cosine_similarity(x, y),
        lambda t, x, y: t.nn.functional.cosine_similarity(x * 0, y, eps=0.1),
        lambda t, x, y: t.nn.CosineSimilarity(dim=0)(x, y),
        lambda t, x, y: t.nn.PairwiseDistance(p=3.0, keepdim=True)(x, y),
        lambda t, x, y: t.nn.functional.normalize(x, p=1.0, dim=0),
        lambda t, x, y: t.nn.functional.normalize(x * 1e-14),
        lambda t, x, y: t.nn.functional.pdist(x),
    ):
        check_layer(
            torch,
            lambda nn: nn.Identity(),
            [X, Y],
            call=lambda layer, x, y: run(_library(x), x, y),
            second=False,
        )


def _library(x: Any) -> Any:
    import torch

    return torch if isinstance(x, torch.Tensor) else ft


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("row", [False, True])
def test_ctc(torch: Any, reduction: str, row: bool) -> None:
    (scores,) = arrays((7, 3, 5), seed=3)
    labels, lengths = np.array([[1, 2, 2], [3, 0, 0], [4, 4, 0]]), np.array([3, 1, 2])
    targets = np.concatenate([t[:k] for t, k in zip(labels, lengths)]) if row else labels
    check_layer(
        torch,
        lambda nn: nn.CTCLoss(reduction=reduction),
        [scores, targets, np.array([7, 5, 6]), lengths],
        second=False,
        # without it the original's gradient is another
        call=lambda loss, x, *rest: loss(x.log_softmax(2), *rest),
    )


def test_ctc_is_differentiated() -> None:
    args = ft.tensor([[1, 1], [2, 0]]), ft.tensor([5, 4]), ft.tensor([2, 1])
    f = ft.nn.functional
    check_directions(lambda x: f.ctc_loss(x.log_softmax(2), *args, reduction="none"), arrays((5, 2, 3))[0])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ctc_gives_the_gradient_in_logits_at_log_probabilities_too(torch: Any, reduction: str) -> None:
    log_probs = np.log(np.random.default_rng(0).dirichlet(np.ones(4), (6, 2)))
    gradients = []
    for lib in (ft, torch):
        x = lib.tensor(log_probs, requires_grad=True)
        args = lib.tensor([[1, 1], [2, 3]]), lib.tensor([6, 4]), lib.tensor([2, 1])
        lib.nn.functional.ctc_loss(x, *args, reduction=reduction).sum().backward()
        gradients.append(x.grad.numpy())
    np.testing.assert_allclose(*gradients, rtol=1e-10, atol=1e-12)


def test_ctc_of_impossible_targets(torch: Any) -> None:
    log_probs = np.log(np.full((2, 1, 3), 1 / 3))
    for zero in (False, True):
        inputs = [log_probs, np.array([[1, 1]]), np.array([2]), np.array([2])]
        found, expected = [
            lib.nn.CTCLoss(zero_infinity=zero)(*[lib.tensor(x) for x in inputs]).item() for lib in (ft, torch)
        ]
        assert found == expected


TEXTS = """
F = torch.nn.functional
import warnings
def attempt(f):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            print(f())
        except Exception as error:
            print(type(error).__name__, str(error))
        print([str(w.message) for w in caught])
o, i = torch.ones, torch.tensor
for loss in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
    attempt(lambda: loss(o(3), o(3, 1))); attempt(lambda: loss(o(3), o(4))); attempt(lambda: loss(o(3), o(3), reduction="x"))
attempt(lambda: F.huber_loss(o(3), o(3), delta=0.0)); attempt(lambda: F.smooth_l1_loss(o(3), o(3), beta=-1.0))
attempt(lambda: F.mse_loss(o(3), o(3), size_average=False)); attempt(lambda: torch.nn.L1Loss(reduce=False)(o(3), o(3)))
attempt(lambda: F.mse_loss(o(2), o(2) * 3, weight=i([1.0, 3.0])))
attempt(lambda: F.huber_loss(o(2), o(2) * 3, weight=i([1.0, 3.0])))
for loss in (F.cross_entropy, F.nll_loss):
    attempt(lambda: loss(o(2, 3), i([1, 5]))); attempt(lambda: loss(o(2, 3), i([1, 2, 0])))
    attempt(lambda: loss(o(2, 3), i([-1, 1])))
    attempt(lambda: loss(o(2, 3), i([1.0, 0.0]))); attempt(lambda: loss(o(2, 3), i([1, 1]), weight=o(4)))
    attempt(lambda: loss(o(2, 3, 2), i([[1, 1, 1], [1, 1, 1]])))
attempt(lambda: F.cross_entropy(o(2, 3), o(2, 4))); attempt(lambda: F.cross_entropy(o(2, 3), i([1, 1]), label_smoothing=2.0))
attempt(lambda: F.cross_entropy(o(2, 3).long(), i([1, 1]))); attempt(lambda: F.cross_entropy(o(2, 3), o(2, 3), ignore_index=1))
attempt(lambda: F.binary_cross_entropy(o(3), o(3, 1))); attempt(lambda: F.binary_cross_entropy(o(3) * 2, o(3)))
attempt(lambda: F.binary_cross_entropy_with_logits(o(3), o(3, 1))); attempt(lambda: F.kl_div(o(3), o(3)))
attempt(lambda: F.gaussian_nll_loss(o(3), o(3), -o(3))); attempt(lambda: F.gaussian_nll_loss(o(3, 2), o(3, 2), o(2)))
attempt(lambda: F.gaussian_nll_loss(o(3), o(3), 1.5)); attempt(lambda: F.gaussian_nll_loss(o(3), o(3), o(3), reduction="x"))
attempt(lambda: F.margin_ranking_loss(o(3), o(3, 1), o(3))); attempt(lambda: F.multi_margin_loss(o(3, 2), i([0, 1])))
attempt(lambda: F.multi_margin_loss(o(3, 2), i([0, 1, 1]), p=3)); attempt(lambda: F.multilabel_margin_loss(o(3, 2), i([0, 1])))
attempt(lambda: F.cosine_embedding_loss(o(3, 2), o(3, 2), o(3, 1)))
attempt(lambda: F.triplet_margin_loss(o(3, 2), o(3), o(3, 2)))
attempt(lambda: F.triplet_margin_loss(o(3, 2), o(3, 2), o(3, 2), margin=-1))
attempt(lambda: torch.nn.TripletMarginLoss(margin=-1))
attempt(lambda: torch.nn.MultiMarginLoss(p=3)); attempt(lambda: torch.nn.MultiMarginLoss(weight=o(2, 2)))
attempt(lambda: F.one_hot(i([1, 5]), 3)); attempt(lambda: F.one_hot(i([-1, 5]))); attempt(lambda: F.one_hot(o(2)))
attempt(lambda: F.one_hot(i(2)))
attempt(lambda: F.one_hot(i([[0, 1], [2, 0]]), 4)); attempt(lambda: F.one_hot(torch.zeros(0, dtype=torch.long)))
attempt(lambda: F.cosine_similarity(o(3).long(), o(3).long(), dim=0))
print(torch.nn.BCEWithLogitsLoss(weight=o(2), pos_weight=o(2)).state_dict(), torch.nn.CrossEntropyLoss(weight=o(2)))
"""


def test_texts(same: Any) -> None:
    same(TEXTS)


def test_a_target_out_of_range_is_refused(torch: Any) -> None:
    check_errors(torch, lambda t: t.nn.functional.multi_margin_loss(t.ones(3, 2), t.tensor([0, 1, 3])))
