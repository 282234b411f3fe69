"""Functions with derivatives of their own, differentiated twice."""

import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return grad_out * 2 * x


class Sinh(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        expx, expnegx = torch.exp(x), torch.exp(-x)
        ctx.save_for_backward(expx, expnegx)
        return (expx - expnegx) / 2, expx, expnegx

    @staticmethod
    def backward(ctx, grad_out, grad_expx, grad_expnegx):
        expx, expnegx = ctx.saved_tensors
        return grad_out * (expx + expnegx) / 2 + grad_expx * expx - grad_expnegx * expnegx


class SquareBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, grad_out, x):
        ctx.save_for_backward(grad_out, x)
        return grad_out * 2 * x

    @staticmethod
    def backward(ctx, grad):
        grad_out, x = ctx.saved_tensors
        return grad * 2 * x, grad * 2 * grad_out


x = torch.tensor([0.5, -1.5], dtype=torch.double, requires_grad=True)
sinh = lambda x: Sinh.apply(x)[0]
for f in (Square.apply, sinh):
    print(torch.autograd.gradcheck(f, x), torch.autograd.gradgradcheck(f, x))
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    print(first.detach(), torch.autograd.grad(first.sum(), x))
print(
    torch.autograd.gradcheck(SquareBackward.apply, (torch.ones(2, dtype=torch.double, requires_grad=True), x))
)
