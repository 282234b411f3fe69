"""Values that go to one place, beside a loop over the elements: values, slopes, batches."""

import numpy as np
import pytest

import funcgrad.torch as torch

COMBINE = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "amax": -np.inf, "amin": np.inf}


def looped(x, dim, index, src, reduce, include_self):
    """One element after the other."""
    out, counts = x.copy(), np.zeros(x.shape, int)
    for at in np.ndindex(index.shape):
        place = (*at[:dim], index[at], *at[dim + 1 :])
        if not counts[place] and not include_self:
            out[place] = NEUTRAL[reduce]
        out[place] = COMBINE[reduce](out[place], src[at])
        counts[place] += 1
    counts[counts > 0] += include_self
    return out / np.maximum(counts, 1) if reduce == "mean" else out


@pytest.fixture
def samples():
    rng = np.random.default_rng(7)
    return rng.normal(size=(4, 5)), rng.integers(0, 4, (7, 3)), rng.normal(size=(8, 4))


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", COMBINE)
class TestScatterReduce:
    def test_values(self, samples, reduce, include_self):
        x, index, src = samples
        for dim, (a, i, s) in enumerate([(x, index, src), (x.T.copy(), index.T.copy(), src.T.copy())]):
            given = [torch.tensor(v) for v in (a, i, s)]
            expected = looped(a, dim, i, s, reduce, include_self)
            for grad in (False, True):
                operand = given[0].clone().requires_grad_(grad)
                out = operand.scatter_reduce(dim, given[1], given[2], reduce, include_self=include_self)
                np.testing.assert_allclose(out.detach().numpy(), expected, rtol=1e-12)

    def test_slopes(self, samples, reduce, include_self):
        x, index, src = (torch.tensor(v) for v in samples)

        def run(x, src):
            return x.scatter_reduce(0, index, src, reduce, include_self=include_self)

        operands = (x.requires_grad_(), src.requires_grad_())
        assert torch.autograd.gradcheck(run, operands, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(run, operands)

    def test_batches(self, samples, reduce, include_self):
        x, index, src = (torch.tensor(np.stack([v, v[::-1]])) for v in samples)

        def run(x, index, src):
            return x.scatter_reduce(0, index, src, reduce, include_self=include_self)

        def slope(x, index, src):
            return torch.func.grad(lambda s: (run(x, index, s) ** 2).sum())(src)

        for function in (run, slope):
            expected = torch.stack([function(*each) for each in zip(x, index, src)])
            for in_dims in ((0, 0, 0), (0, None, 0), (None, 0, 0), (None, 0, None)):
                given = [v if d == 0 else v[0] for v, d in zip((x, index, src), in_dims)]
                out = torch.func.vmap(function, in_dims)(*given)
                np.testing.assert_allclose(out[0].numpy(), expected[0].numpy(), rtol=1e-10, atol=1e-12)
                if in_dims == (0, 0, 0):
                    np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-10, atol=1e-12)


def test_ties_share_the_slope():
    x = torch.tensor([2.0, 0.0], requires_grad=True)
    src = torch.tensor([2.0, 1.0, 2.0, 5.0], requires_grad=True)
    x.scatter_reduce(0, torch.tensor([0, 0, 0, 1]), src, "amax").backward(torch.tensor([3.0, 1.0]))
    np.testing.assert_allclose(x.grad.numpy(), [1, 0])
    np.testing.assert_allclose(src.grad.numpy(), [1, 0, 1, 1])


@pytest.mark.parametrize("reduce", COMBINE)
def test_whole_numbers_stay_whole(reduce):
    x, index, src = torch.tensor([10, 7]), torch.tensor([0, 0, 0]), torch.tensor([2, 5, -3])
    expected = {"sum": 14, "mean": 3, "prod": -300, "amax": 10, "amin": -3}[reduce]
    assert x.scatter_reduce(0, index, src, reduce).tolist() == [expected, 7]
    assert x.scatter_reduce(0, index, src, reduce).dtype == torch.int64


def test_what_is_no_reduction_is_refused():
    with pytest.raises(RuntimeError, match="sum, prod, mean, amax or amin, got median"):
        torch.ones(2).scatter_reduce(0, torch.tensor([0]), torch.ones(1), "median")


def test_places_that_are_not_there():
    for x in (torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)):
        for reduce in ("sum", "amax"):
            with pytest.raises(IndexError, match="out of bounds"):
                x.scatter_reduce(1, torch.tensor([[2]]), torch.ones(1, 1), reduce)


@pytest.mark.parametrize("dim", [0, 1])
def test_scatter_add_of_many(dim):
    rng = np.random.default_rng(3)
    index, src = rng.integers(0, 300, (300, 300)), rng.normal(size=(300, 300))
    expected = np.zeros((300, 300))
    rows, columns = np.indices(index.shape)
    np.add.at(expected, (index, columns) if dim == 0 else (rows, index), src)
    out = torch.zeros(300, 300, dtype=torch.float64).scatter_add(dim, torch.tensor(index), torch.tensor(src))
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-10, atol=1e-12)
