"""Functions on the facade and the original: dtype, shape, value, node's name, two derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft

_RNG = np.random.default_rng(0)
_A, _M = _RNG.normal(size=(3, 4)), _RNG.normal(size=(3, 3))
OPERANDS = {
    "A": _A, "B": _RNG.normal(size=(3, 4)), "P": np.abs(_A) + 0.5, "S": _M @ _M.T + 3 * np.eye(3), "V": _RNG.normal(size=4),
    "U": _RNG.uniform(-0.9, 0.9, size=(3, 4)), "C": _RNG.normal(size=(2, 3, 4)), "M": _M,
}  # fmt: skip
# operands (- for none) | expression | "other node" where the original shows the node of an operation that it
# is made of
TABLE = r"""
A,B | x+y
A | x.add(2,alpha=3)
A,B | torch.sub(x,y,alpha=2)
A | 1-x
A,P | x/y
P | 2/x
A,P | torch.div(x,y,rounding_mode='trunc') | other node
P | x**2.5
P,U | x**y
U | 2**x
A,P | x%y
A,P | torch.fmod(x,y)
A,P | x//y
A | -x
A,B | torch.atan2(x,y)
A,B | torch.hypot(x,y)
A,B | torch.maximum(x,y)
A,B | torch.minimum(x,y)
A,B | torch.max(x,y)
A,B | torch.logaddexp(x,y)
A | x.exp()
A | torch.expm1(x)
P | x.log()
P | x.log2()
P | x.log10()
P | x.log1p()
P | x.sqrt()
P | x.rsqrt()
A | x.sin()+x.cos()+x.tan()
A | x.sinh()+x.cosh()+x.tanh()
U | x.asin()+x.acos()+x.atan()+x.asinh()+x.atanh()
P | (x+1).acosh()
A | x.sigmoid()
A | x.relu()
A | x.abs()
A | x.square()
A | x.sign()*x
A | x.floor()+x.ceil()*x+x.round()*x+x.trunc()+x.frac()
P | x.reciprocal()
A | torch.sinc(x)
P | torch.logit(x/4)
A | x.clamp(-.5,.5)
A,B | torch.clamp(x,min=y)
A | x.clamp(max=.3)
A,B | torch.where(x>0,x,y)
A | torch.where(x>0,x,0.)
A | x.masked_fill(x>0,3.)
A,B | torch.lerp(x,y,.3)
A,B,P | torch.addcmul(x,y,z,value=2)
A,B,P | torch.addcdiv(x,y,z,value=2)
A | x.sum()
A | x.sum(0)
A | x.sum(dim=1,keepdim=True)
C | x.sum((0,2))
A | x.sum(axis=0)
A | x.mean()
A | x.mean(1)
A | x.prod()
A | x.prod(1)
A | x.amax(1)
A | x.max()
A | x.max(1).values
A | x.max(1)[1]
A | x.min(0,keepdim=True)[0]
A | x.median()
A | x.median(1).values
A | x.std()
A | x.std(1)
A | x.var(0,unbiased=False)
A | torch.var(x,1,correction=0)
A | torch.var_mean(x)[0] | other node
A | x.norm()
A | x.norm(1,dim=1)
A | torch.norm(x,dim=0)
A | x.norm(float('inf'))
A | torch.logsumexp(x,1)
A | x.logsumexp((0,1))
A | x.softmax(1)
A | torch.log_softmax(x,0)
A | x.cumsum(1)
A | x.cumprod(0)
A | torch.cummax(x,1)[0]
A | torch.cummin(x,1)[0]
A | torch.logcumsumexp(x,1)
A | x.sort(1)[0]
A | x.sort(1,descending=True)[0]
A | x.argsort(1)
A | x.topk(2,1)[0]
A | x.topk(2,1,largest=False)[0]
A | torch.kthvalue(x,2,1)[0]
A | x.argmax(1)
A | x.argmax()
A | torch.quantile(x,.3) | other node
A | torch.quantile(x,.3,dim=1) | other node
A | (x>0).any(1)
A | (x>-9).all()
A | torch.count_nonzero(x)
A | x.reshape(4,3)
A | x.view(2,-1)
C | x.flatten(1)
A | x.unflatten(1,(2,2))
C | x.transpose(0,2)
C | x.permute(2,0,1)
A | x.T
A | x.t()
C | x.mT
A | x.unsqueeze(1).squeeze(1)
A | x[None].squeeze()
A | x[0].expand(3,4)
V | torch.broadcast_to(x,(2,4))
A | x.repeat(2,1)
A | torch.tile(x,(2,))
A | x.repeat_interleave(2,1)
A | x.flip(0,1)
A | x.roll(1,0)
A | torch.roll(x,(1,2),(0,1))
A | torch.rot90(x)
M | x.tril()
M | x.triu(1)
M | torch.diag(x)
V | torch.diag(x)
M | x.diagonal()
M | x.trace()
V | x.unfold(0,2,1)
C | torch.movedim(x,0,2)
A,B | torch.cat([x,y],1)
A,B | torch.stack([x,y],1)
A,B | torch.hstack([x,y])
A,B | torch.vstack([x,y])
A | x.split(2,1)[1]
A | torch.split(x,[1,3],1)[1]
A | x.chunk(2,1)[0]
A | x.unbind(1)[2]
A | torch.tensor_split(x,3,1)[1] | other node
A,M | torch.block_diag(x,y)
V | torch.meshgrid(x,x,indexing='ij')[1] | other node
A | x[1]
A | x[:,1]
A | x[...,1:3]
A | x[[0,2]]
A | x[x>0]
A | x[torch.tensor([0,1]),torch.tensor([1,2])]
A | x[None,:,0]
A | x[::2]
A | x.select(1,2)
A | x.narrow(1,1,2)
A | x.gather(1,torch.tensor([[0,1],[2,2],[3,0]]))
A | x.index_select(1,torch.tensor([0,0,2]))
A | torch.take(x,torch.tensor([0,5,7]))
A | torch.take_along_dim(x,torch.tensor([[0],[1],[2]]),1)
A | x.masked_select(x>0)
A,B | x.scatter(1,torch.tensor([[0,1],[2,1],[3,0]]),y)
A,B | x.scatter_add(1,torch.tensor([[0,0],[2,2],[3,0]]),y)
A,B | x.scatter_reduce(1,torch.tensor([[0,0],[2,2],[3,0]]),y,'sum')
A,B | x.scatter_reduce(1,torch.tensor([[0,0],[2,2],[3,0]]),y,'mean')
A,B | x.scatter_reduce(1,torch.tensor([[0,0],[2,2],[3,0]]),y,'prod')
A,B | x.scatter_reduce(1,torch.tensor([[0,0],[2,2],[3,0]]),y,'amax')
A,B | x.index_add(0,torch.tensor([0,0,2]),y,alpha=2)
A | x.index_fill(1,torch.tensor([0]),5.)
A,V | x.index_put((torch.tensor([0,1,2,0]),torch.tensor([0,1,2,3])),y)
A,V | x.index_put((torch.tensor([0,0,2,0]),torch.tensor([0,0,2,3])),y,accumulate=True)
A,B | x.masked_scatter(x>0,y)
A,M | (y@x)
A,V | x@y
V | x@x
V | torch.dot(x,x)
C | torch.bmm(x,x.mT)
C,M | y@x | other node
M,A,B | torch.addmm(x,y,z.T,beta=2,alpha=3)
V | torch.outer(x,x)
A,B | torch.einsum('ij,kj->ik',x,y)
C | torch.einsum('bij,bkj->bik',x,x)
M | torch.einsum('ii->i',x) | other node
A,B | torch.tensordot(x,y,dims=([1],[1]))
M | torch.kron(x,x)
M | torch.linalg.cross(x,x+1)
V | torch.inner(x,x)
S | torch.linalg.inv(x)
M | torch.linalg.det(x)
M | x.det()
S | torch.linalg.slogdet(x)[1]
S | torch.logdet(x) | other node
S,M | torch.linalg.solve(x,y)
S | torch.linalg.cholesky(x)
S | torch.linalg.eigh(x)[0]
S | torch.linalg.eigvalsh(x)
A | torch.linalg.svd(x,full_matrices=False)[1]
A | torch.linalg.svdvals(x)
M | torch.linalg.qr(x)[1].abs()
A | torch.linalg.pinv(x)
M | torch.linalg.matrix_power(x,3) | other node
A | torch.linalg.matrix_norm(x) | other node
A | torch.linalg.vector_norm(x)
A | torch.linalg.norm(x)
A,M | torch.linalg.multi_dot([y,x,x.T]) | other node
V | torch.fft.fft(x).abs()
V | torch.fft.rfft(x).abs()
V | torch.fft.irfft(torch.fft.rfft(x)*2)
V | torch.fft.ifft(x).real | other node
A | torch.fft.fft2(x).abs()
V | torch.fft.fftshift(x)
P,P | torch.xlogy(x,y)
P | torch.special.entr(x) | other node
A | torch.special.expit(x)
A | torch.i0(x)
A,B | torch.dist(x,y)
A | x.clone()
A | x.float().double()
A | x.to(torch.float32)
A | torch.nan_to_num(x)
A,B | torch.copysign(x,y)
A,B | torch.heaviside(x,y)
A | torch.isnan(x)
A | torch.isclose(x,x)
A,B | (x==y)
A,B | x<y
A,B | torch.logical_and(x>0,y>0)
A | ~(x>0)
- | torch.bincount(torch.tensor([0,1,1]))
- | torch.arange(0,1,.25)
- | torch.linspace(0,1,5)
- | torch.full((2,),3)
- | torch.eye(2,3)
A | torch.zeros_like(x)
- | torch.tril_indices(3,3)
V | torch.searchsorted(torch.tensor([0.,1.],dtype=torch.float64),x)
A,V | x+y
A | x.unsqueeze(2)*x.unsqueeze(1)
A | torch.nansum(x)
A | torch.diff(x)
A,B | torch.cdist(x,y)
A | torch.cov(x)
A | torch.histc(x,4,-1,1)
A | torch.unique(torch.tensor([1,3,1]))
A | torch.erf(x)
U | torch.erfinv(x)
P | torch.lgamma(x)
P | torch.digamma(x)
A | torch.mode(torch.tensor([1,2,2]))[0]
A | torch.aminmax(x)[0] | other node
V | torch.trapezoid(x) | other node
V | torch.cumulative_trapezoid(x)
V | torch.vander(x)
A | torch.renorm(x,2,0,1.)
C | torch.baddbmm(x@x.mT,x,x.mT)
A | torch.msort(x)
V | torch.complex(x,x*2).abs()
V | torch.view_as_real(torch.complex(x,x))
- | torch.triu_indices(2,2)
V | torch.cartesian_prod(x,x)
V | torch.combinations(x) | other node
- | torch.logspace(0,1,3)
V | torch.gradient(x)[0] | other node
- | torch.isin(torch.tensor([1,2]),torch.tensor([2]))
A | torch.deg2rad(x)
C | torch.swapaxes(x,0,1)
A | x.ravel()
"""


def rows(table: str) -> list[tuple[str, ...]]:
    """The rows of a table as (operands, expression, note)."""
    return [
        tuple(part.strip() for part in f"{line} | ".split(" | ")[:3]) for line in table.strip().splitlines()
    ]


ROWS = rows(TABLE)


def _results(torch: Any, operands: str, expression: str) -> tuple[Any, str | None, list[Any]]:
    """The value, the name of its node, and the derivatives that exist: first, then second."""
    xs = [torch.tensor(OPERANDS[name], requires_grad=True) for name in operands.split(",") if name != "-"]
    out = eval(expression, {"torch": torch, **dict(zip("xyz", xs, strict=False))})
    if not out.requires_grad:
        return out, None, []
    weights = torch.tensor(np.cos(np.arange(out.numel())).reshape(tuple(out.shape))).to(out.dtype)
    first = torch.autograd.grad((out * weights).sum(), xs, create_graph=True, allow_unused=True)
    total = sum((g * g).sum() for g in first if g is not None)
    second = (
        torch.autograd.grad(total, xs, allow_unused=True)
        if getattr(total, "requires_grad", False)
        else [None] * len(xs)
    )
    return out, out.grad_fn.name(), [*first, *second]


def _array(x: Any) -> Any:
    return (x.detach() + 0).numpy() if x.dtype.is_floating_point else x.numpy()


@pytest.mark.parametrize(("operands", "expression", "note"), ROWS, ids=[row[1] for row in ROWS])
def test_agrees_with_the_original(operands: str, expression: str, note: str) -> None:
    original = pytest.importorskip("torch", reason="the original is not installed")
    compare(original, operands, expression, note)


def compare(original: Any, operands: str, expression: str, note: str) -> None:
    """Fail where the expression differs on the facade and on the original."""
    found, name, derivatives = _results(ft, operands, expression)
    try:
        expected, expected_name, expected_derivatives = _results(original, operands, expression)
    except (RuntimeError, NotImplementedError):
        pytest.skip("the original does not differentiate this")
    assert str(found.dtype) == str(expected.dtype)
    np.testing.assert_allclose(_array(found), _array(expected), rtol=1e-6, atol=1e-9)
    if not note:
        assert name == expected_name
    for ours, theirs in zip(derivatives, expected_derivatives, strict=False):
        given = [0.0 if d is None else _array(d) for d in (ours, theirs)]
        np.testing.assert_allclose(*given, rtol=1e-5, atol=1e-7)
