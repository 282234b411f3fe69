# ruff: noqa: E501 (programs are kept on few lines)
"""NumPy, printing, copies, the random stream: what programs print on facade and original."""

from __future__ import annotations

import pytest

from tests.torch.semantics import Row, check, rows_of

TABLE = r"""
## 2.11 numpy of a tensor that requires grad
torch.ones(2, requires_grad=True).numpy()
=>
RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.

## 2.11 numpy otherwise
import numpy as np
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    print(x.numpy(), np.asarray(x))
print(x.numpy(force=True), x.detach().numpy())
=>
[1. 1.] [1. 1.]
[1. 1.] [1. 1.]

## 2.11 asarray
import numpy as np
np.asarray(torch.ones(2, requires_grad=True))
=>
RuntimeError: Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.

## 2.11 item
print(torch.tensor([[3]]).item(), torch.tensor(2.5).item(), torch.tensor(True).item())
torch.ones(2).item()
=>
3 2.5 True
RuntimeError: a Tensor with 2 elements cannot be converted to Scalar

## 2.11 Python numbers
print(float(torch.tensor(2)), int(torch.tensor(2.5)), bool(torch.tensor(0.0)), [1, 2, 3][torch.tensor(1)], complex(torch.tensor(1.0)))
=>
2.0 2 False 2 (1+0j)

## 2.11 float of a tensor that requires grad
print(float(torch.tensor(2.0, requires_grad=True)))
=>
2.0
warns UserWarning

## 2.11 repr: dtypes and flags
x = torch.ones(2)
print(x, x.double(), x.long(), x.int(), x > 0, x.half(), x.requires_grad_(), x * 2, x.sum())
=>
tensor([1., 1.], requires_grad=True) tensor([1., 1.], dtype=torch.float64) tensor([1, 1]) tensor([1, 1], dtype=torch.int32) tensor([True, True]) tensor([1., 1.], dtype=torch.float16) tensor([1., 1.], requires_grad=True) tensor([2., 2.], grad_fn=<MulBackward0>) tensor(2., grad_fn=<SumBackward0>)

## 2.11 repr: numbers
for v in ([1.0, 2.0], [0.5, 1000.0], [0.5, 500.0], [1000.0, 10000.0], [1e-5, 1.0], [1e9, 1.0], [float("nan"), 1.5], [float("inf"), 1.0], [0.0, -1.5]):
    print(torch.tensor(v))
=>
tensor([1., 2.])
tensor([5.0000e-01, 1.0000e+03])
tensor([  0.5000, 500.0000])
tensor([ 1000., 10000.])
tensor([1.0000e-05, 1.0000e+00])
tensor([1.0000e+09, 1.0000e+00])
tensor([   nan, 1.5000])
tensor([inf, 1.])
tensor([ 0.0000, -1.5000])

## 2.11 repr: empty
print(torch.tensor([]), torch.ones(2, 0), torch.tensor([], dtype=torch.int64), torch.ones(0, 3, dtype=torch.float64))
=>
tensor([]) tensor([], size=(2, 0)) tensor([], dtype=torch.int64) tensor([], size=(0, 3), dtype=torch.float64)

## 2.11 repr: complex
print(torch.tensor([1 + 2j, 0.5j]), torch.tensor(1.5 + 2j, dtype=torch.complex128))
=>
tensor([1.+2.0000j, 0.+0.5000j]) tensor(1.5000+2.j, dtype=torch.complex128)

## 2.11 repr: blocks, long ones
print(torch.arange(8.0).reshape(2, 2, 2))
print(torch.arange(2000))
print(torch.arange(40.0) / 7)
print(torch.ones(30, 50))
=>
tensor([[[0., 1.],
         [2., 3.]],

        [[4., 5.],
         [6., 7.]]])
tensor([   0,    1,    2,  ..., 1997, 1998, 1999])
tensor([0.0000, 0.1429, 0.2857, 0.4286, 0.5714, 0.7143, 0.8571, 1.0000, 1.1429,
        1.2857, 1.4286, 1.5714, 1.7143, 1.8571, 2.0000, 2.1429, 2.2857, 2.4286,
        2.5714, 2.7143, 2.8571, 3.0000, 3.1429, 3.2857, 3.4286, 3.5714, 3.7143,
        3.8571, 4.0000, 4.1429, 4.2857, 4.4286, 4.5714, 4.7143, 4.8571, 5.0000,
        5.1429, 5.2857, 5.4286, 5.5714])
tensor([[1., 1., 1.,  ..., 1., 1., 1.],
        [1., 1., 1.,  ..., 1., 1., 1.],
        [1., 1., 1.,  ..., 1., 1., 1.],
        ...,
        [1., 1., 1.,  ..., 1., 1., 1.],
        [1., 1., 1.,  ..., 1., 1., 1.],
        [1., 1., 1.,  ..., 1., 1., 1.]])

## 2.11 repr: others
print(torch.ones(2, 3).shape, torch.device("cpu"), repr(torch.device("cpu")), torch.float32)
print(torch.nn.Parameter(torch.ones(1)))
=>
torch.Size([2, 3]) cpu device(type='cpu') torch.float32
Parameter containing:
tensor([1.], requires_grad=True)

## 2.11 set_printoptions
torch.set_printoptions(precision=2)
print(torch.tensor([1 / 3]))
torch.set_printoptions(sci_mode=True)
print(torch.tensor([1 / 3]))
torch.set_printoptions(profile="short")
print(torch.tensor([1 / 3]), torch.arange(2000))
torch.set_printoptions(profile="default", sci_mode=None)
print(torch.tensor([1 / 3]))
=>
tensor([0.33])
tensor([3.33e-01])
tensor([0.33]) tensor([   0,    1,  ..., 1998, 1999])
tensor([0.3333])

## 2.11 deepcopy
import copy
x = torch.ones(2, requires_grad=True)
x.sum().backward()
y = copy.deepcopy(x)
print(y, y.grad, y is x, copy.copy(x * 2))
copy.deepcopy(x * 2)
=>
tensor([1., 1.], requires_grad=True) tensor([1., 1.]) False tensor([2., 2.], requires_grad=True)
RuntimeError: Only Tensors created explicitly by the user (graph leaves) support the deepcopy ...

## 2.11 pickle
import pickle
x = torch.ones(2, requires_grad=True)
x.sum().backward()
y = pickle.loads(pickle.dumps(x))
print(y, y.grad, pickle.loads(pickle.dumps(x * 2)), type(pickle.loads(pickle.dumps(torch.nn.Parameter(torch.ones(1))))).__name__)
=>
tensor([1., 1.], requires_grad=True) None tensor([2., 2.], requires_grad=True) Parameter

## 2.11 save and load
import io
f = io.BytesIO()
torch.save({"a": torch.ones(2), "b": [1, "text"]}, f)
f.seek(0)
print(torch.load(f))
=>
{'a': tensor([1., 1.]), 'b': [1, 'text']}

## 4 rand
torch.manual_seed(0)
print(torch.rand(3), torch.rand(2, dtype=torch.float64), torch.empty(2).uniform_(-1, 1))
=>
tensor([0.4963, 0.7682, 0.0885]) tensor([0.0562, 0.0726], dtype=torch.float64) tensor([ 0.7929, -0.0887])

## 4 randint, randperm, bernoulli
torch.manual_seed(42)
print(torch.randint(0, 10, (6,)))
torch.manual_seed(42)
print(torch.randperm(6), torch.bernoulli(torch.full((5,), 0.5)))
=>
tensor([2, 7, 6, 4, 6, 5])
tensor([0, 3, 2, 4, 1, 5]) tensor([0., 1., 0., 0., 1.])

## 4 randn
torch.manual_seed(0)
print(torch.randn(3), torch.randn(16), torch.randn(20).sum(), torch.randn(2, dtype=torch.float64))
=>
tensor([ 1.5410, -0.2934, -2.1788]) tensor([-0.3561,  0.4372,  0.4913, -0.2041, -0.0885,  0.5239, -0.6659,  0.8504,
        -1.0438, -1.3453,  0.7854,  0.9928, -0.1932, -0.3090,  0.5026, -0.8594]) tensor(8.5576) tensor([0.5684, 0.5186], dtype=torch.float64)

## 4 layers
torch.manual_seed(0)
l = torch.nn.Linear(2, 1)
print(l.weight, l.bias)
=>
Parameter containing:
tensor([[-0.0053,  0.3793]], requires_grad=True) Parameter containing:
tensor([-0.5820], requires_grad=True)

## 4 the state
g = torch.Generator().manual_seed(5)
s = g.get_state()
a = torch.rand(2, generator=g)
g.set_state(s)
print((a == torch.rand(2, generator=g)).all())
=>
tensor(True)
"""


@pytest.mark.parametrize("row", rows_of(TABLE), ids=str)
def test_row(row: Row) -> None:
    check(row)
