# ruff: noqa: E501 (programs are kept on few lines)
"""Construction, dtypes, flags, leaves, promotion: what programs print on facade and original."""

from __future__ import annotations

import pytest

import funcgrad.torch as ft
from tests.torch.semantics import Row, check, outcome, rows_of

TABLE = r"""
## 2.1 float
print(torch.tensor(1.0).dtype, torch.tensor([1.0]).dtype)
=>
torch.float32 torch.float32

## 2.1 int
print(torch.tensor(1).dtype)
=>
torch.int64

## 2.1 bool
print(torch.tensor(True).dtype)
=>
torch.bool

## 2.1 complex
print(torch.tensor(1j).dtype)
=>
torch.complex64

## 2.1 ints and floats
print(torch.tensor([1, 2.5]).dtype)
=>
torch.float32

## 2.1 NumPy arrays keep their dtype
import numpy as np
print(torch.tensor(np.float64(1)).dtype, torch.tensor(np.ones(2)).dtype, torch.tensor(np.ones(2, np.int16)).dtype)
=>
torch.float64 torch.float64 torch.int16

## 2.1 tensor copies
import numpy as np
a = np.ones(2); t = torch.tensor(a); a[0] = 5
print(t)
=>
tensor([1., 1.], dtype=torch.float64)

## 2.1 of a tensor: warns and detaches
x = torch.ones(2, requires_grad=True)
y = torch.tensor(x)
print(y.requires_grad, y)
=>
False tensor([1., 1.])
warns UserWarning

## 2.1 ragged
torch.tensor([[1, 2], [3]])
=>
ValueError: expected sequence of ...

## 2.1 requires_grad of integers
torch.tensor([1, 2], requires_grad=True)
=>
RuntimeError: Only Tensors of floating point and complex dtype can require gradients

## 2.1 Tensor of data
print(torch.Tensor([1, 2]).dtype, torch.Tensor([1, 2]))
=>
torch.float32 tensor([1., 2.])

## 2.1 Tensor of a shape
print(torch.Tensor(2, 3).shape)
=>
torch.Size([2, 3])

## 2.1 full of an int
print(torch.full((2,), 1).dtype, torch.full((2,), 1.0).dtype, torch.full((2,), True).dtype)
=>
torch.int64 torch.float32 torch.bool

## 2.1 arange
print(torch.arange(3).dtype, torch.arange(3.0).dtype, torch.arange(1, 2, 0.25))
=>
torch.int64 torch.float32 tensor([1.0000, 1.2500, 1.5000, 1.7500])

## 2.1 set_default_dtype
torch.set_default_dtype(torch.float64)
print(torch.tensor(1.0).dtype, torch.ones(1), torch.tensor(1j).dtype, torch.get_default_dtype())
torch.set_default_dtype(torch.float32)
=>
torch.float64 tensor([1.]) torch.complex128 torch.float64

## 2.1 from_numpy shares memory
import numpy as np
a = np.ones(2); t = torch.from_numpy(a); a[0] = 5; t[1] = 7
print(t, a)
=>
tensor([5., 7.], dtype=torch.float64) [5. 7.]

## 2.1 from_numpy of a number
import numpy as np
torch.from_numpy(np.float64(1))
=>
TypeError: expected np.ndarray (got ...

## 2.1 from_numpy of a list
torch.from_numpy([1.0])
=>
TypeError: expected np.ndarray (got list)

## 2.1 from_numpy of negative strides
import numpy as np
torch.from_numpy(np.ones(3)[::-1])
=>
ValueError: At least one stride in the given numpy array is negative, and tensors with negative ...

## 2.1 from_numpy of strings
import numpy as np
torch.from_numpy(np.array(["a"]))
=>
TypeError: can't convert np.ndarray of type ...

## 2.1 as_tensor shares
import numpy as np
a = np.ones(2); t = torch.as_tensor(a); a[0] = 5
x = torch.ones(2)
print(t, torch.as_tensor(x) is x, torch.as_tensor([1.0]), torch.as_tensor(a, dtype=torch.float32).dtype)
=>
tensor([5., 1.], dtype=torch.float64) True tensor([1.]) torch.float32

## 2.1 manual_seed gives the generator
g = torch.manual_seed(0)
print(type(g).__name__, g is torch.default_generator, g.initial_seed())
=>
Generator True 0

## 2.1 factories
print(torch.zeros(2), torch.ones((1, 2)), torch.full((2,), 0.5), torch.empty(2, 3).shape, torch.eye(2), torch.linspace(0, 1, 3))
=>
tensor([0., 0.]) tensor([[1., 1.]]) tensor([0.5000, 0.5000]) torch.Size([2, 3]) tensor([[1., 0.],
        [0., 1.]]) tensor([0.0000, 0.5000, 1.0000])

## 2.1 factories like
x = torch.ones(2, dtype=torch.float64)
print(torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, 3), torch.empty_like(x).shape, torch.rand_like(x).dtype)
=>
tensor([0., 0.], dtype=torch.float64) tensor([1., 1.], dtype=torch.float64) tensor([3., 3.], dtype=torch.float64) torch.Size([2]) torch.float64

## 2.1 random factories
torch.manual_seed(1)
print(torch.rand(2).shape, torch.randn(2, 3).shape, torch.randint(0, 9, (2,)).dtype, torch.randperm(4).shape)
print(torch.normal(0.0, 1.0, (2,)).shape, torch.bernoulli(torch.full((3,), 1.0)), torch.multinomial(torch.tensor([0.0, 1.0]), 1))
g = torch.Generator(); g.manual_seed(3)
print(torch.rand(1, generator=g).shape)
=>
torch.Size([2]) torch.Size([2, 3]) torch.int64 torch.Size([4])
torch.Size([2]) tensor([1., 1., 1.]) tensor([1])
torch.Size([1])

## 2.1 stack, cat, where
x = torch.arange(2.0)
print(torch.stack([x, x]), torch.cat([x, x]), torch.where(x > 0, x, -1.0))
=>
tensor([[0., 1.],
        [0., 1.]]) tensor([0., 1., 0., 1.]) tensor([-1.,  1.])

## 2.2 requires_grad_ returns the tensor
x = torch.ones(2)
print(x.requires_grad_() is x, x.requires_grad)
=>
True True

## 2.2 requires_grad_ of a result
x = torch.ones(2, requires_grad=True)
y = x * 2
print(y.requires_grad_(True) is y)
y.requires_grad_(False)
=>
True
RuntimeError: you can only change requires_grad flags of leaf variables. If you want to use a ...

## 2.2 requires_grad of a result can't be set
y = torch.ones(2, requires_grad=True) * 2
y.requires_grad = False
=>
RuntimeError: you can only change requires_grad flags of leaf variables. If you want to use a ...

## 2.2 is_leaf
x = torch.ones(2, requires_grad=True)
print(x.is_leaf, (x * 2).is_leaf, torch.ones(2).is_leaf, (torch.ones(2) * 2).is_leaf, x.detach().is_leaf)
=>
True False True True True

## 2.2 requires_grad set later
x = torch.ones(2)
y = x * 2
x.requires_grad_()
print(y.requires_grad)
=>
False

## 2.2 detach shares storage and counter
x = torch.ones(2, requires_grad=True)
y = x * 2
d = y.detach()
d.add_(1)
print(y, y._version, d._version, d.requires_grad, d.data_ptr() == y.data_ptr())
=>
tensor([3., 3.], grad_fn=<MulBackward0>) 1 1 False True

## 2.2 data has its own counter
y = torch.ones(2, requires_grad=True) * 2
y.data.add_(1)
print(y._version, y)
=>
0 tensor([3., 3.], grad_fn=<MulBackward0>)

## 2.2 detach_ makes a leaf
y = torch.ones(2, requires_grad=True) * 2
print(y.detach_() is y, y.is_leaf, y.requires_grad)
=>
True True False

## 2.2 detach_ of a view
(torch.ones(2, requires_grad=True) * 2)[0].detach_()
=>
RuntimeError: Can't detach views in-place. Use detach() instead. If you are using ...

## 2.2 data may change the shape
x = torch.ones(2)
x.data = torch.zeros(3)
print(x)
=>
tensor([0., 0., 0.])

## 2.2 grad of a wrong type
x = torch.ones(2, requires_grad=True)
x.grad = 1.0
=>
TypeError: assigned grad expected to be a Tensor or None but got grad of type float

## 2.2 grad of a wrong size
x = torch.ones(2, requires_grad=True)
x.grad = torch.ones(3)
=>
RuntimeError: attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please ...

## 2.2 grad of a wrong dtype
x = torch.ones(2, requires_grad=True)
x.grad = torch.ones(2, dtype=torch.float64)
=>
RuntimeError: attempting to assign a gradient with dtype ...

## 2.2 grad of itself
x = torch.ones(2, requires_grad=True)
x.grad = x
=>
RuntimeError: can't assign Variable as its own grad

## 2.2 grad deleted
x = torch.ones(2, requires_grad=True)
x.sum().backward()
del x.grad
print(x.grad)
=>
None

## 2.2 grad of a result
y = torch.ones(2, requires_grad=True) * 2
print(y.grad)
=>
None
warns UserWarning

## 2.2 grad_dtype
x = torch.ones(2, requires_grad=True)
print(x.grad_dtype)
=>
torch.float32

## 2.2 each grad has the dtype of its leaf
x = torch.ones(2, requires_grad=True)
y = torch.ones(2, dtype=torch.float64, requires_grad=True)
(x * y).sum().backward()
print(x.grad.dtype, y.grad.dtype)
=>
torch.float32 torch.float64

## 2.10 broadcast gradients are summed
x = torch.ones(4, 1, 3, requires_grad=True)
y = torch.ones(1, 5, 1, requires_grad=True)
(x * y).sum().backward()
print(x.grad.shape, y.grad.shape, x.grad[0, 0], y.grad[0, 0])
=>
torch.Size([4, 1, 3]) torch.Size([1, 5, 1]) tensor([5., 5., 5.]) tensor([12.])

## 2.10 sizes that do not fit
torch.ones(3) + torch.ones(2)
=>
RuntimeError: The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0

## 2.10 matmul sizes
torch.ones(2, 3) @ torch.ones(2, 3)
=>
RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)

## 2.10 matmul dtypes
torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.float64)
=>
RuntimeError: expected m1 and m2 to have the same dtype, but got: ...

## 2.10 dot dtypes
torch.dot(torch.ones(2), torch.ones(2, dtype=torch.float64))
=>
RuntimeError: ...

## 2.10 three classes
f32, f64 = torch.ones(2), torch.tensor(2.0, dtype=torch.float64)
i32, i64, f16 = torch.ones(2, dtype=torch.int32), torch.ones(2, dtype=torch.int64), torch.ones(2, dtype=torch.float16)
print((f32 * f64).dtype, (f64 * torch.tensor(1.0)).dtype, (i32 * 2.5).dtype, (i64 * f16).dtype, (i64 / i64).dtype, i32.sum().dtype)
print((f32 * torch.tensor(1j)).dtype, (i32 * torch.tensor(2.0)).dtype, (torch.tensor(True) + 1).dtype)
=>
torch.float32 torch.float64 torch.float32 torch.float16 torch.float32 torch.int64
torch.complex64 torch.float32 torch.int64

## 2.10 bool and bytes
print(torch.tensor([True]) + torch.tensor([True]), torch.tensor([1], dtype=torch.uint8) - 3)
=>
tensor([True]) tensor([254], dtype=torch.uint8)

## 2.10 integers to negative powers
torch.tensor([2]) ** -1
=>
RuntimeError: Integers to negative integer powers are not allowed.

## 2.10 mean of integers
torch.tensor([1, 2]).mean()
=>
RuntimeError: mean(): could not infer output dtype. Input dtype must be either a floating point or ...

## 2.10 NumPy scalars and 0-d arrays
import numpy as np
print((torch.ones(2) * np.float64(2)).dtype)
=>
torch.float32

## 2.10 in-place results are cast
x = torch.ones(2)
x.mul_(torch.ones(2, dtype=torch.float64))
print(x.dtype)
torch.tensor([1, 2]).add_(1.5)
=>
torch.float32
RuntimeError: result type Float can't be cast to the desired output type Long

## 2.10 division and remainder
x = torch.tensor([-7.0, 7.0])
print(x // 2, x % 3, torch.fmod(x, 3), torch.tensor([0.5, 1.5, 2.5]).round())
=>
tensor([-4.,  3.]) tensor([2., 1.]) tensor([-1.,  1.]) tensor([0., 2., 2.])

## 2.10 median, std, max
x = torch.tensor([4.0, 1.0, 3.0, 2.0])
print(x.median(), x.std(), x.max(0))
=>
tensor(2.) tensor(1.2910) torch.return_types.max(
values=tensor(4.),
indices=tensor(0))

## 2.10 steps below zero
torch.ones(3)[::-1]
=>
ValueError: step must be greater than zero

## 2.10 length of a number
len(torch.tensor(1.0))
=>
TypeError: len() of a 0-d tensor

## 2.10 iteration of a number
list(torch.tensor(1.0))
=>
TypeError: iteration over a 0-d tensor

## 2.10 truth of many
bool(torch.ones(2))
=>
RuntimeError: Boolean value of Tensor with more than one value is ambiguous

## 2.10 in a list
torch.ones(2) in [torch.zeros(2)]
=>
RuntimeError: Boolean value of Tensor with more than one value is ambiguous

## 2.10 keywords
x = torch.ones(2)
print(torch.add(x, x, alpha=3), torch.addcmul(x, x, x, value=2), torch.addmm(torch.ones(1, 1), torch.ones(1, 2), torch.ones(2, 1), beta=5))
print(torch.ones(2, 2).sum(axis=0), torch.ones(2, 2).sum(dim=1, keepdim=True), torch.ones(2, 2).amax(dim=(0, 1)))
=>
tensor([4., 4.]) tensor([3., 3.]) tensor([[7.]])
tensor([2., 2.]) tensor([[2.],
        [2.]]) tensor(1.)

## 2.10 compared with None
print(torch.ones(2) == None, torch.ones(2) != None)
=>
False True

## 2.10 nothing to do gives the tensor itself
x = torch.ones(2, 2)
print(x.float() is x, x.contiguous() is x, x.to(torch.float32) is x, x.to("cpu") is x, x.view(2, 2) is x)
=>
True True True True False

## 2.10 complex
z = torch.tensor(1 + 2j, requires_grad=True)
(z * z).real.backward()
print(z.grad)
w = torch.tensor(3 + 4j, requires_grad=True)
w.abs().backward()
print(w.grad)
x = torch.tensor(2.0, requires_grad=True)
(x * torch.tensor(1j)).imag.backward()
print(x.grad)
=>
tensor(2.-4.j)
tensor(0.6000+0.8000j)
tensor(1.)

## 2.10 complex, longer
z = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
y = (z.exp() * z.conj()).sin()
y.real.sum().backward()
print(z.grad)
print(torch.autograd.grad((z * z.conj()).sum().real, z), torch.autograd.grad(torch.view_as_real(z * 1j).sum(), z))
=>
tensor([-3.7421e+02-7.3923e+01j,  7.1208e+16+4.4413e+18j])
(tensor([2.+4.j, 6.-2.j]),) (tensor([1.-1.j, 1.-1.j]),)

## 2.10 complex, a given gradient
z = torch.tensor([1 + 2j], requires_grad=True)
(z * (2 + 1j)).backward(torch.tensor([1j]))
print(z.grad)
=>
tensor([1.+2.j])
"""


LAZY = {
    "conv1d": "torch.conv1d(x, x, None, 1)",
    "layer_norm": "torch.layer_norm(x, (4,))",
    "threshold": "torch.threshold(x, 0.5, 2.0)",
}


@pytest.mark.parametrize("name", LAZY)
def test_functions_of_nn_that_torch_has_too(name: str) -> None:
    code = f"x = torch.arange(4.0).reshape(1, 1, 4)\nprint({LAZY[name]})"
    check(Row(name, code, outcome(ft, code), better=False))


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_row(row: Row) -> None:
    check(row)
