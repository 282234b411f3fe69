"""torch.vmap of functions that look at values (orders, indices, classes): as a loop over examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad.torch

torch: Any = funcgrad.torch
F, vmap, grad = torch.nn.functional, torch.func.vmap, torch.func.grad
F64, SIZE = torch.float64, 3
DRAWN = np.random.default_rng(0)


def draw(*shape: int) -> Any:
    return torch.tensor(DRAWN.standard_normal(shape))


def draw_below(n: int, *shape: int) -> Any:
    return torch.tensor(DRAWN.integers(0, n, shape))


X, Y, COLUMNS, ROWS, CLASSES = (
    draw(SIZE, 5, 2),
    draw(SIZE, 5, 2),
    draw_below(2, SIZE, 5, 2),
    draw_below(5, SIZE, 4),
    draw_below(2, SIZE, 5),
)
MASK, WEIGHT, SHARED = (
    draw(SIZE, 5, 2) > 0,
    torch.tensor([0.3, 0.7], dtype=F64),
    {"columns": COLUMNS[0], "classes": CLASSES[0]},
)


def zeros(*shape: int) -> Any:
    return torch.zeros(*shape, dtype=F64)


def written(x: Any, index: Any) -> Any:
    out = x.clone()
    out[index] = 0.0
    return out


# Each with the tensors of which it is given one example.
OF_ONE: dict[str, Callable[..., Any]] = {
    "sort": lambda x: x.sort(0).values,
    "sort descending": lambda x: x.sort(descending=True).values,
    "argsort": lambda x: x.argsort(0),
    "msort": torch.msort,
    "topk": lambda x: x.topk(2, 0).values,
    "topk indices": lambda x: x.topk(1).indices,
    "kthvalue": lambda x: x.kthvalue(2, 0).values,
    "median of all": torch.median,
    "median": lambda x: x.median(0).values,
    "nanmedian": lambda x: x.nanmedian(0).values,
    "mode": lambda x: x.mode(0).values,
    "max": lambda x: x.max(0).values,
    "max indices": lambda x: x.max(0).indices,
    "min": lambda x: x.min(1).values,
    "argmax of all": torch.argmax,
    "cummax": lambda x: x.cummax(0).values,
    "cummin": lambda x: x.cummin(-1).values,
    "logsumexp": lambda x: x.logsumexp(0),
    "renorm": lambda x: x.renorm(2, 0, 1.0),
    "count_nonzero": lambda x: (x > 0).count_nonzero(0),
    "searchsorted": lambda x: torch.searchsorted(torch.tensor([-1.0, 0.0, 1.0], dtype=F64), x),
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0], dtype=F64)),
    "isin": lambda x: torch.isin(x, X[0, 0]),
    "gather, one index": lambda x: x.gather(1, SHARED["columns"]),
    "scatter into zeros": lambda x: zeros(5, 2).scatter(1, SHARED["columns"], x),
    "scatter_ into zeros": lambda x: zeros(5, 2).scatter_(1, SHARED["columns"], x),
    "index_copy": lambda x: zeros(6, 2).index_copy(0, torch.tensor([0, 2, 4]), x[:3]),
    "nll_loss, one target": lambda x: F.nll_loss(x, SHARED["classes"]),
    "cross_entropy, one target": lambda x: F.cross_entropy(x, SHARED["classes"]),
    "cross_entropy of each": lambda x: F.cross_entropy(x, SHARED["classes"], reduction="none"),
    "cross_entropy, smoothed": lambda x: F.cross_entropy(
        x, SHARED["classes"], weight=WEIGHT, label_smoothing=0.1
    ),
}
OF_TWO: dict[str, tuple[Callable[..., Any], Any]] = {
    "gather": (lambda x, i: x.gather(1, i), COLUMNS),
    "gather from one": (lambda x, i: X[0].gather(1, i) + x, COLUMNS),
    "scatter": (lambda x, i: zeros(5, 2).scatter(1, i, x), COLUMNS),
    "scatter a number": (lambda x, i: x.scatter(1, i, 3.0), COLUMNS),
    "scatter_add": (lambda x, i: zeros(5, 2).scatter_add(1, i, x), COLUMNS),
    "scatter_add into a batch": (lambda x, y: y.scatter_add(1, SHARED["columns"], x), Y),
    "scatter_reduce": (lambda x, i: zeros(5, 2).scatter_reduce(1, i, x, "mean"), COLUMNS),
    "index_select": (lambda x, i: x.index_select(0, i), ROWS),
    "index_add": (lambda x, i: zeros(6, 2).index_add(0, i, x[:4]), ROWS),
    "index_fill": (lambda x, i: x.index_fill(0, i, 1.0), ROWS),
    "index_put": (lambda x, i: x.index_put((i,), torch.tensor(7.0, dtype=F64)), ROWS),
    "index_put, accumulated": (lambda x, i: x.index_put((i,), x[:4], accumulate=True), ROWS),
    "put": (lambda x, i: x.put(i, x[:2, 0].repeat(2)), ROWS),
    "x[i]": (lambda x, i: x[i], ROWS),
    "x[i] = 0": (written, ROWS),
    "take": (lambda x, i: x.take(i), ROWS),
    "take_along_dim": (lambda x, i: x.take_along_dim(i, 1), COLUMNS),
    "masked_fill": (lambda x, m: x.masked_fill(m, 0.0), MASK),
    "masked_scatter": (lambda x, m: x.masked_scatter(m, x + 1), MASK),
    "nll_loss": (F.nll_loss, CLASSES),
    "cross_entropy": (F.cross_entropy, CLASSES),
    "cross_entropy, ignoring": (lambda x, t: F.cross_entropy(x, t, ignore_index=1), CLASSES),
    "cross_entropy, weighted": (lambda x, t: F.cross_entropy(x, t, weight=WEIGHT, reduction="sum"), CLASSES),
    "cross_entropy of one": (lambda x, t: F.cross_entropy(x[0], t[0]), CLASSES),
    "multi_margin_loss": (F.multi_margin_loss, CLASSES),
}
CASES = {
    **{name: (f, (X,)) for name, f in OF_ONE.items()},
    **{name: (f, (X, y)) for name, (f, y) in OF_TWO.items()},
}


@pytest.mark.parametrize("name", CASES)
def test_a_batch_is_a_loop(name: str) -> None:
    f, args = CASES[name]
    loop = torch.stack([f(*[x[k] for x in args]) for k in range(SIZE)])
    batch = vmap(f)(*args)
    assert batch.shape == loop.shape
    np.testing.assert_allclose(batch.numpy(), loop.numpy())
    if not loop.is_floating_point():
        return
    weight = draw(*loop.shape[1:])

    def loss(*xs: Any) -> Any:
        return (f(*xs) * weight).sum()

    slopes = torch.stack([grad(loss)(*[x[k] for x in args]) for k in range(SIZE)]).numpy()
    np.testing.assert_allclose(vmap(grad(loss))(*args).numpy(), slopes)
    np.testing.assert_allclose(grad(lambda *xs: (vmap(f)(*xs) * weight).sum())(*args).numpy(), slopes)
    pushed = torch.func.jacfwd(lambda x: loss(x, *[y[0] for y in args[1:]]))(args[0][0])
    np.testing.assert_allclose(pushed.numpy(), slopes[0])


@pytest.mark.parametrize("f", [torch.nonzero, torch.unique, lambda x: torch.masked_select(x, x > 0)])
def test_results_whose_shape_depends_on_values_are_refused(f: Any) -> None:
    with pytest.raises(RuntimeError, match="outside of vmap"):
        vmap(f)(X)
