# ruff: noqa: E501 (a row is a line)
"""Seldom used functions on facade and original, as in test_functions.py, and those without original."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch
from tests.torch.functions.test_functions import compare, rows

ft: Any = funcgrad.torch
TABLE = r"""
M,V | torch.addr(x,y[:3],y[1:])
A,B | torch.linalg.vecdot(x,y)
C | torch.linalg.tensorinv(x.reshape(24)[:16].reshape(4,2,2)+torch.eye(4,dtype=x.dtype).reshape(4,2,2)*5,ind=1)
C | torch.linalg.tensorsolve(x.reshape(24)[:16].reshape(4,2,2)+torch.eye(4,dtype=x.dtype).reshape(4,2,2)*5,x[0,0])
V | torch.linalg.vander(x,N=3)
M | torch.linalg.matrix_exp(x)
M | torch.matrix_exp(x*9)
M,B | torch.linalg.solve_triangular(x.tril()+3*torch.eye(3,dtype=x.dtype),y,upper=False)
M,B | torch.linalg.solve_triangular(x,y.T,upper=True,left=False,unitriangular=True)
M,B | torch.triangular_solve(y,x+3*torch.eye(3,dtype=x.dtype))[0] | other node
S,B | torch.cholesky_solve(y,torch.linalg.cholesky(x))
S | torch.cholesky_inverse(torch.linalg.cholesky(x))
M | torch.linalg.lu_factor(x)[0]
M | torch.linalg.lu_factor(x)[1]
A | torch.linalg.lu_factor(x)[0]
A | torch.linalg.lu(x)[2]
A | torch.linalg.lu(x.T)[1]
M | torch.linalg.lu(x)[0]
M | torch.lu_unpack(*torch.linalg.lu_factor(x))[1]
M,B | torch.linalg.lu_solve(*torch.linalg.lu_factor(x),y)
M,B | torch.lu_solve(y,*torch.linalg.lu_factor(x))
S | torch.linalg.cholesky_ex(x)[0]
S | torch.linalg.inv_ex(x)[0]
S,B | torch.linalg.solve_ex(x,y)[0]
B | torch.geqrf(x.T)[0].detach()
B | torch.geqrf(x.T)[1].detach()
B,V | torch.linalg.householder_product(x.T,y[:2])
M,V | torch.linalg.householder_product(x,y[:3])
S | torch.linalg.ldl_factor(x.detach())[0]
S | torch.linalg.ldl_factor(x.detach())[1]
S,B | torch.linalg.ldl_solve(*torch.linalg.ldl_factor(x.detach()),y.detach())
A | torch.svd(x)[1]
A | torch.frobenius_norm(x,dim=(0,1))
A | torch.nuclear_norm(x)
P | torch.special.bessel_j0(x.detach())
P | torch.special.bessel_j1(x.detach())
P | torch.special.bessel_y0(x.detach())
P | torch.special.bessel_y1(x.detach())
P | torch.special.modified_bessel_i0(x.detach())
P | torch.special.modified_bessel_i1(x.detach())
P | torch.special.modified_bessel_k0(x.detach())
P | torch.special.scaled_modified_bessel_k1(x.detach())
P | torch.special.airy_ai(x.detach())
A | torch.special.i0e(x)
A | torch.special.i1(x)
A | torch.special.i1e(x)
A | torch.special.erfcx(x)
A | torch.special.erfc(x)
A | torch.special.ndtr(x)
A | torch.special.log_ndtr(x)
P | torch.special.ndtri(x/5)
A | torch.special.spherical_bessel_j0(x.detach())
P,P | torch.special.gammainc(x.detach(),y)
P,P | torch.special.gammaincc(x.detach(),y)
P,P | torch.igamma(x.detach(),y)
P,P | torch.special.xlog1py(x,y)
P | torch.special.multigammaln(x+2,2)
P | torch.mvlgamma(x+2,3)
U | torch.special.chebyshev_polynomial_t(x.detach(),5)
U | torch.special.chebyshev_polynomial_u(x.detach(),4)
U | torch.special.chebyshev_polynomial_v(x.detach(),4)
U | torch.special.chebyshev_polynomial_w(x.detach(),4)
U | torch.special.shifted_chebyshev_polynomial_t(x.detach(),3)
U | torch.special.hermite_polynomial_h(x.detach(),4)
U | torch.special.hermite_polynomial_he(x.detach(),4)
U | torch.special.laguerre_polynomial_l(x.detach(),4)
U | torch.special.legendre_polynomial_p(x.detach(),4)
U | torch.special.legendre_polynomial_p(x.detach(),torch.arange(4))
A | x.as_strided((2,2),(4,1),1)
V | x.as_strided((3,2),(1,1))
V | x[1:].as_strided((2,2),(1,1))
A | torch.diag_embed(x)
A | torch.diag_embed(x,1,0,2)
A | torch.diagflat(x,-1)
A,V | torch.diagonal_scatter(x,y[:3])
C,V | torch.diagonal_scatter(x,y.expand(4,4)[:,:2]+0,0,0,1)
A,V | torch.select_scatter(x,y,0,1)
A,B | torch.slice_scatter(x,y[:,:2],1,1,3)
M | x.clone().fill_diagonal_(2.) | other node
A | torch.hsplit(x,2)[1] | other node
A | torch.vsplit(x,3)[1] | other node
C | torch.dsplit(x,2)[1] | other node
A | torch.split_with_sizes(x,[1,2])[1]
A | torch.unsafe_split(x,2)[0] | other node
V | torch.atleast_2d(x) | other node
V | torch.atleast_3d(x) | other node
A | torch.alias_copy(x)
A | torch.diagonal_copy(x)
A | torch.narrow_copy(x.detach(),1,1,2)
A | torch.permute_copy(x,(1,0))
A | torch.select_copy(x,0,1)
A | torch.slice_copy(x,1,1,3)
A | torch.split_copy(x,2)[0]
A | torch.squeeze_copy(x)
A | torch.t_copy(x)
A | torch.transpose_copy(x,0,1)
A | torch.unbind_copy(x)[1]
A | torch.unfold_copy(x,1,2,1)
A | torch.unsqueeze_copy(x,0)
A | torch.view_copy(x,(4,3))
V | torch.expand_copy(x,(2,4))
C | x.sum_to_size(1,4)
- | torch.unravel_index(torch.tensor([5,7]),(3,4))[1]
P | torch.float_power(x,2)
P,U | torch.float_power(x,y)
A | torch.frexp(x)[0]
A | torch.frexp(x)[1]
A | torch.isreal(x)
P,P | x.clone().xlogy_(y)
A | x.clone().i0_()
A,V | torch.put(x,torch.tensor([1,5,-1,2]),y)
A,V | torch.put(x,torch.tensor([1,1,5,2]),y,accumulate=True)
A,B | torch.index_reduce(x,0,torch.tensor([0,0,2]),y,'prod')
A,B | torch.index_reduce(x,0,torch.tensor([0,0,2]),y,'mean')
A,B | torch.index_reduce(x,0,torch.tensor([0,0,2]),y,'amax',include_self=False)
- | torch.unique_consecutive(torch.tensor([1,1,2,2,1]),return_counts=True)[1]
- | torch.unique_consecutive(torch.tensor([1,1,2,2,1]),return_inverse=True)[1]
- | torch.unique_consecutive(torch.tensor([[1,1],[1,1],[2,1]]),dim=0)
A | torch.histogram(x.detach(),4)[0]
A | torch.histogram(x.detach(),4,range=(-1.,1.))[1]
A | torch.histogramdd(x[:,:2].detach(),[2,3])[0]
A | torch.nonzero_static(x>0,size=3)
A | torch.nanmedian(x)
A | torch.nanmedian(x,1)[0]
A | torch.nanquantile(x,.3)
A | torch.nanquantile(x,.3,dim=1)
A | torch.norm_except_dim(x) | other node
- | torch.range(0,3)
A | torch.stft(x.reshape(12),4,2,window=torch.hann_window(4,dtype=x.dtype),return_complex=True).abs()
A | torch.stft(x.reshape(12),4,return_complex=True).real | other node
A | torch.istft(torch.stft(x.reshape(12),4,1,window=torch.hann_window(4,dtype=x.dtype),return_complex=True)*2,4,1,window=torch.hann_window(4,dtype=x.dtype)) | other node
- | torch.kaiser_window(5)
A | torch.fft.hfft2(torch.fft.ihfft2(x))
A | torch.fft.hfftn(torch.fft.ihfftn(x))
A | torch.fft.ihfft2(x,norm='ortho').abs()
A | torch.fill(x,2.)
A | torch.detach(x)
P | x.polygamma(1)
C | torch.addbmm(x[0,:2,:2],x[:,:2],x[:,:2].mT)
A | torch.pdist(x.detach())
P,P | torch.special.zeta(x.detach()+2,y.detach())
A | x.conj_physical()*x
A | torch.atleast_1d(x)*2
"""
ROWS = rows(TABLE)


@pytest.mark.parametrize(("operands", "expression", "note"), ROWS, ids=[row[1] for row in ROWS])
def test_agrees_with_the_original(operands: str, expression: str, note: str) -> None:
    original = pytest.importorskip("torch", reason="the original is not installed")
    if any(word in expression for word in ("special.", "ldl", "igamma")):
        pytest.importorskip("scipy", reason="SciPy is optional")
    compare(original, operands, expression, note)


DIFFERENTIABLE = {
    "zeta": lambda x: ft.special.zeta(x + 2, ft.tensor(1.5, dtype=ft.float64)),
    "bessel": lambda x: ft.special.bessel_j0(x) + ft.special.bessel_y1(x + 3),
    "gammainc": lambda x: ft.special.gammainc(ft.tensor(2.0, dtype=ft.float64), x.abs()),
    "chebyshev": lambda x: ft.special.chebyshev_polynomial_t(x, 5),
    "hermite": lambda x: ft.special.hermite_polynomial_he(x, 4),
    "pdist": lambda x: ft.pdist(x.reshape(3, 1).expand(3, 2) * ft.tensor([1.0, 2.0], dtype=ft.float64)),
    "as_strided_scatter": lambda x: ft.ones(4, dtype=ft.float64).as_strided_scatter(x, (3,), (1,), 1) * x[0],
    "scattered under": lambda x: x.as_strided_scatter(ft.ones(2, dtype=ft.float64), (2,), (2,)),
    "lu of several": lambda x: ft.linalg.lu(ft.stack([x, x + 1, x * x]).expand(2, 3, 3)).U,
}


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives_that_the_original_lacks(name: str) -> None:
    if name in ("zeta", "bessel", "gammainc"):
        pytest.importorskip("scipy", reason="SciPy is optional")
    x = ft.tensor([0.3, -0.7, 1.1], dtype=ft.float64, requires_grad=True)
    assert ft.autograd.gradcheck(DIFFERENTIABLE[name], (x,))


def test_as_strided_is_a_view_that_writes_through() -> None:
    x = ft.arange(6.0, requires_grad=True)
    y = x * 1
    v = y.as_strided((2, 2), (3, 1), 1)
    v.mul_(10)
    assert y.tolist() == [0, 10, 20, 3, 40, 50]
    assert v._base is y
    y.sum().backward()
    assert x.grad.tolist() == [1, 10, 10, 1, 10, 10]
    with pytest.raises(RuntimeError, match="out of bounds for storage"):
        y.as_strided((7,), (1,))
    with pytest.raises(RuntimeError, match="single memory location"):
        ft.zeros(4).as_strided((3, 2), (1, 1)).add_(1)


def test_memory_is_exchanged_by_dlpack() -> None:
    x = ft.ones(2)
    array = np.from_dlpack(x)
    x.add_(1)
    assert array.tolist() == [2, 2]
    assert ft.from_dlpack(np.arange(3.0)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("refused", "instead"), [("cuda", "to\\('cpu'\\)"), ("bfloat16", "float\\(\\)")])
def test_what_numpy_lacks_is_refused_by_name(refused: str, instead: str) -> None:
    with pytest.raises(RuntimeError, match=f"{refused}.*{instead}"):
        getattr(ft.ones(1), refused)()


VIEWS = {
    "view_as": lambda x: x.view_as(ft.ones(2, 2)),
    "reshape_as": lambda x: x.reshape_as(ft.ones(2, 2)),
    "expand_as": lambda x: x.expand_as(ft.ones(1, 4)),
    "expand": lambda x: x.expand(1, -1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_shaped_like_another_tensor_write_through(name: str) -> None:
    w = ft.ones(4, requires_grad=True)
    x = w * 1
    VIEWS[name](x).mul_(3)
    assert x.tolist() == [3, 3, 3, 3]
    x.sum().backward()
    assert w.grad.tolist() == [3, 3, 3, 3]


def test_ties_of_the_median_share_the_gradient() -> None:
    x = ft.tensor([1.0, 2.0, 2.0, 5.0], requires_grad=True)
    for median in (x.median, x.nanmedian):
        assert ft.autograd.grad(median(), x)[0].tolist() == [0, 0.5, 0.5, 0]


def test_variables_are_tensors() -> None:
    x = ft.ones(2)
    v = ft.autograd.Variable(x, requires_grad=True)
    assert v.requires_grad
    assert isinstance(x, ft.autograd.Variable)
    x.add_(1)
    assert v.tolist() == [2, 2]
