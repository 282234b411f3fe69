# ruff: noqa: E501 (programs are kept on few lines)
"""Arguments that are seldom given, out=, defaults: what programs for torch print, on both."""

from __future__ import annotations

import pytest

from tests.torch.semantics import Row, check, rows_of

TABLE = r"""
## 2 cross products run along the first dim of three
x = torch.arange(9.0).reshape(3, 3)
print(torch.cross(x, x.T.flip(0)), torch.linalg.cross(x, x.T.flip(0)))
print(torch.ones(3, 2).cross(torch.arange(6.0).reshape(3, 2)))
torch.linalg.cross(torch.ones(3, 2), torch.ones(3, 2))
=>
tensor([[ -6., -16., -26.],
        [ 12.,  32.,  52.],
        [ -6., -16., -26.]]) tensor([[ -2.,   4.,  -2.],
        [  8., -16.,   8.],
        [ 18., -36.,  18.]])
tensor([[ 2.,  2.],
        [-4., -4.],
        [ 2.,  2.]])
RuntimeError: linalg.cross: inputs dimension -1 must have length 3. Got 2 and 2
warns UserWarning

## 2 degrees of polynomials are whole
x, n = torch.tensor([0.3, 1.2, -1.5]), torch.tensor([2.7, 1.5, 0.3])
for name in "chebyshev_polynomial_t hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p".split():
    print(getattr(torch.special, name)(x, n))
=>
tensor([-0.8200,  1.2000,  1.0000])
tensor([-0.9100,  1.2000,  1.0000])
tensor([ 0.4450, -0.2000,  1.0000])
tensor([-0.3650,  1.2000,  1.0000])

## 2 cholesky_ex tells which minor fails
x = torch.tensor([[1.0, 0.0], [0.0, -1.0]])
print(torch.linalg.cholesky_ex(torch.stack([torch.eye(2), x, -x])).info)
=>
tensor([0, 2, 1], dtype=torch.int32)

## 2 least squares by driver
A, b = torch.ones(4, 2) + torch.arange(8.0).reshape(4, 2) ** 2, torch.arange(4.0)[:, None]
found = torch.linalg.lstsq(A, b)
print(found.solution, found.rank, found.residuals, torch.linalg.lstsq(A, b, driver="gelsd").singular_values)
=>
tensor([[-0.1689],
        [ 0.1853]]) tensor(2) tensor([]) tensor([70.4139,  2.4261])

## 2 sorted rows
x = torch.tensor([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])
print(torch.searchsorted(x, torch.tensor([[0.0, 3.0], [6.0, 7.0]]), right=True))
print(torch.take_along_dim(x, torch.tensor([[0, 1], [5, 2]])), torch.histogram(x).hist.sum())
=>
tensor([[0, 2],
        [3, 3]])
tensor([1., 3., 6., 5.]) tensor(6.)

## 2 out= of functions
x, y = torch.tensor([-1.0, 0.5]), torch.empty(2)
F = torch.nn.functional
for f in F.gelu, F.softplus, F.logsigmoid, F.hardshrink, F.softshrink:
    print(f(x, out=y) is y, y)
print(torch.fft.fftfreq(2, out=y), torch.isin(x, x, out=torch.empty(2, dtype=torch.bool)))
=>
True tensor([-0.1587,  0.3457])
True tensor([0.3133, 0.9741])
True tensor([-1.3133, -0.4741])
True tensor([-1.,  0.])
True tensor([-0.5000,  0.0000])
tensor([ 0.0000, -0.5000]) tensor([True, True])


## the names of arguments
v, A = torch.tensor([3.0, 1.0, 2.0]), torch.arange(9.0).reshape(3, 3)
print(torch.mm(A, mat2=A)[0], torch.mv(A, vec=v), torch.isnan(input=v), torch.det(input=torch.eye(2)), torch.pow(input=v, exponent=2))
print(torch.reshape(input=v, shape=(3, 1)).shape, v.expand(size=(2, 3)).shape, v.view(size=(1, 3)).shape, v.repeat(repeats=(2,)))
print(torch.flip(v, dims=(0,)), A.permute(dims=(1, 0))[0], torch.cat(tensors=[v, v], axis=0).shape, torch.index_copy(v, 0, torch.tensor([1]), source=v[:1]))
print(torch.diff(v, prepend=torch.zeros(1), append=torch.ones(1)), torch.searchsorted(v, torch.tensor([1.5]), sorter=torch.tensor([1, 2, 0])))
print(torch.bucketize(v, torch.tensor([1.5]), out_int32=True), torch.isin(v, torch.tensor([1.0]), invert=True), torch.cov(v, fweights=torch.tensor([1, 2, 1])))
print(v.split(split_size=2)[1], torch.hsplit(v, sections=3)[0], v.new_full(size=(1,), fill_value=4.0))
print(torch.slogdet(torch.eye(2)))
=>
tensor([15., 18., 21.]) tensor([ 5., 23., 41.]) tensor([False, False, False]) tensor(1.) tensor([9., 1., 4.])
torch.Size([3, 1]) torch.Size([2, 3]) torch.Size([1, 3]) tensor([3., 1., 2., 3., 1., 2.])
tensor([2., 1., 3.]) tensor([0., 3., 6.]) torch.Size([6]) tensor([3., 3., 2.])
tensor([ 3., -2.,  1., -1.]) tensor([1])
tensor([1, 0, 1], dtype=torch.int32) tensor([ True, False,  True]) tensor(0.9167)
tensor([2.]) tensor([3.]) tensor([4.])
torch.return_types.slogdet(
sign=tensor(1.),
logabsdet=tensor(0.))
"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_row(row: Row) -> None:
    check(row)
