"""Functions with a fast way for common cases, against the plain way: orders, sums, distances, ..."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import funcgrad.torch
from funcgrad.torch.random import generator

torch: Any = funcgrad.torch


@given(
    arrays(np.float32, (3, 17), elements=st.sampled_from([-2.0, 0.0, 1.0, 1.5, np.nan, np.inf])),
    st.integers(1, 16),
    st.booleans(),
)
def test_topk_is_the_beginning_of_sort(x: Any, k: int, largest: bool) -> None:
    t = torch.from_numpy(x)
    found, whole = t.topk(k, largest=largest), t.sort(descending=largest, stable=True)
    np.testing.assert_array_equal(found.values.numpy(), whole.values[:, :k].numpy())
    assert found.indices.tolist() == whole.indices[:, :k].tolist()
    columns = t.T.topk(k, 0, largest=largest)
    assert columns.indices.T.tolist() == found.indices.tolist()


@pytest.mark.parametrize("with_scipy", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_sums_of_rows(with_scipy: bool, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if not with_scipy:
        monkeypatch.setitem(__import__("sys").modules, "scipy.sparse", None)
    drawn = np.random.default_rng(0)
    index, v, x = (
        drawn.integers(-5, 5, 40),
        drawn.integers(-9, 9, (40, 20)).astype(dtype),
        np.ones((5, 20), dtype),
    )
    expected = x.copy()
    np.add.at(expected, index, v)
    t = [torch.from_numpy(a) for a in (x, index % 5, v)]
    assert t[0].index_add(0, t[1], t[2]).tolist() == expected.tolist()
    assert t[0].scatter_add(0, t[1][:, None].expand(40, 20), t[2]).tolist() == expected.tolist()
    with pytest.raises(IndexError):
        t[0].index_add(0, torch.full((40,), 5), t[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_distances_of_points_that_are_near_each_other(dtype: Any, shift: float) -> None:
    drawn = np.random.default_rng(0)
    x = drawn.standard_normal((2, 30, 4)).astype(dtype) + dtype(shift)
    y = np.concatenate(
        [x[:, :10], x[:, 10:20] + dtype(1e-2), drawn.standard_normal((2, 5, 4)).astype(dtype)], 1
    )
    leaves = [torch.from_numpy(a).requires_grad_() for a in (x, y)]
    found = torch.cdist(*leaves)
    gap = x[:, :, None].astype(float) - y[:, None].astype(float)
    exact = np.linalg.norm(gap, axis=-1)
    np.testing.assert_allclose(found.detach().numpy(), exact, rtol=2e-5 if dtype is np.float32 else 1e-11)
    weight = drawn.standard_normal(exact.shape)
    gradients = torch.autograd.grad((found * torch.from_numpy(weight.astype(dtype))).sum(), leaves)
    parts = (weight / np.where(exact == 0, 1, exact))[..., None] * gap
    for slope, expected in zip(gradients, (parts.sum(2), -parts.sum(1)), strict=True):
        np.testing.assert_allclose(slope.numpy(), expected, atol=2e-3 if dtype is np.float32 else 1e-9)


def test_second_derivatives_of_distances() -> None:
    x, y = (
        torch.tensor(np.random.default_rng(k).standard_normal((3, 2)), requires_grad=True) for k in (0, 1)
    )
    assert torch.autograd.gradcheck(torch.cdist, (x, y), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(torch.cdist, (x, y))


@pytest.mark.parametrize("n", [1, 2, 3, 17, 600, 5000])
def test_exchanges_of_places(n: int) -> None:
    drawn = np.random.default_rng(n)
    partners = np.arange(n - 1) + drawn.integers(0, np.arange(n, 1, -1)) if n > 1 else np.zeros(0, np.int64)
    expected = list(range(n))
    for i, k in enumerate(partners.tolist()):
        expected[i], expected[k] = expected[k], expected[i]
    assert generator.swapped(n, partners).tolist() == expected
    assert generator._swapped_at_once(n, partners).tolist() == expected


def test_batches_of_tensors_are_those_of_items() -> None:
    data = torch.utils.data
    x, y = torch.arange(40.0).reshape(20, 2), torch.arange(20)
    pairs = [(x[i], y[i]) for i in range(20)]
    for dataset in (data.TensorDataset(x, y), data.Subset(data.TensorDataset(x, y), range(19, -1, -1))):
        items = pairs if isinstance(dataset, data.TensorDataset) else pairs[::-1]
        for batch, expected in zip(data.DataLoader(dataset, 3), data.DataLoader(items, 3), strict=True):
            assert [b.tolist() for b in batch] == [e.tolist() for e in expected]


@pytest.mark.parametrize("name", ["cov", "corrcoef"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_statistics_keep_the_dtype(name: str, dtype: Any) -> None:
    x = torch.arange(6.0, dtype=dtype).reshape(2, 3)
    assert getattr(torch, name)(x).dtype == dtype
    assert torch.quantile(x, 0.3).dtype == torch.nanquantile(x, 0.3).dtype == dtype


def test_grad_takes_only_inputs_in_its_place() -> None:
    x = torch.ones(2, requires_grad=True)
    assert torch.autograd.grad((x * 2).sum(), x, None, None, False, True, True)[0].tolist() == [2, 2]


@pytest.mark.parametrize(
    "shape", [(40, 900, 3), (3, 20_000, 2), (300, 2, 17), (0, 4, 3), (4, 0, 3), (4, 5, 0)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_gaps(shape: tuple[int, int, int], dtype: Any) -> None:
    n, m, d = shape
    drawn = np.random.default_rng(0)
    x, y = drawn.normal(size=(n, d)).astype(dtype), drawn.normal(size=(m, d)).astype(dtype)
    found = torch.cdist(torch.from_numpy(x), torch.from_numpy(y), p=1).numpy()
    assert found.dtype == dtype
    wanted = np.sum(np.abs(x[:, None].astype(np.float64) - y), axis=-1)
    np.testing.assert_allclose(found, wanted, rtol=d * float(np.finfo(dtype).eps))
