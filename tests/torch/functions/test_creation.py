"""Tensors from data and factories: the same values, dtypes and kinds of errors as the original's."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft

EXPRESSIONS = r"""
torch.tensor(1)
torch.tensor(1.5)
torch.tensor(True)
torch.tensor(1j)
torch.tensor([1,2.5])
torch.tensor([True,2])
torch.tensor([True,2.])
torch.tensor([1,2j])
torch.tensor([])
torch.tensor([[]])
torch.tensor([[],[]])
torch.tensor(())
torch.tensor(np.float64(2))
torch.tensor(np.int32(2))
torch.tensor([np.float64(2),np.float64(1)])
torch.tensor([np.float32(2),1.5])
torch.tensor([1.5,np.float64(2)])
torch.tensor([np.int32(2),1])
torch.tensor([np.array([1.,2]),np.array([3.,4])])
torch.tensor(np.arange(3))
torch.tensor(np.arange(3,dtype='uint16'))
torch.tensor(np.array([object()]))
torch.tensor(None)
torch.tensor([None])
torch.tensor([[1,2],[3]])
torch.tensor({1:2})
torch.tensor([1,2],dtype=torch.float64)
torch.tensor([1.7,-2.7],dtype=torch.int64)
torch.tensor([1,2],dtype=torch.bool)
torch.tensor([300],dtype=torch.uint8)
torch.tensor(300,dtype=torch.uint8)
torch.tensor(-1,dtype=torch.uint8)
torch.tensor(2**63)
torch.tensor(2**64)
torch.tensor(2**62)
torch.tensor([1,2],requires_grad=True)
torch.tensor([1.,2],requires_grad=True)
torch.tensor([1j],requires_grad=True)
torch.tensor([1.,2],dtype=float)
torch.tensor([1.,2],dtype=int)
torch.tensor([1,2],dtype=complex)
torch.tensor(range(3))
torch.tensor([1.,2]).dtype
torch.tensor([1.],device='cpu')
torch.tensor([1.],device=torch.device('cpu'))
torch.tensor([1.],device='foo')
torch.tensor([[[1,2],[3,4]]])
torch.tensor(torch.ones(2))
torch.tensor([torch.tensor(1.),torch.tensor(2.)])
torch.tensor([torch.tensor(1),2.5])
torch.Tensor([1,2])
torch.Tensor(2,3).shape
torch.Tensor(3).shape
torch.Tensor()
torch.Tensor((2,3))
torch.Tensor(torch.Size([2,3])).shape
torch.Tensor(torch.ones(2))
torch.Tensor(torch.ones(2,dtype=torch.int64))
torch.Tensor(np.ones(2))
torch.Tensor(1.5)
torch.FloatTensor([1,2])
torch.LongTensor([1,2])
torch.DoubleTensor([1,2])
torch.BoolTensor([1,0])
torch.IntTensor(2).shape
torch.as_tensor([1,2])
torch.as_tensor(1.5)
torch.as_tensor(np.ones(2))
torch.as_tensor(np.ones(2),dtype=torch.float32)
torch.as_tensor(torch.ones(2))
torch.as_tensor(np.float64(1))
torch.as_tensor(np.ones(3)[::-1])
torch.from_numpy(np.ones(2))
torch.from_numpy(np.float64(1))
torch.from_numpy([1])
torch.from_numpy(np.ones(3)[::-1])
torch.from_numpy(np.array(2.))
torch.from_numpy(np.ones(2,dtype='>f8'))
torch.asarray([1,2])
torch.asarray(np.ones(2))
torch.asarray(np.ones(2),dtype=torch.float32)
torch.asarray(1.5,requires_grad=True)
torch.asarray(torch.ones(2),copy=True)
torch.scalar_tensor(2)
torch.scalar_tensor(2,dtype=torch.int64)
torch.zeros(2,3)
torch.zeros((2,3))
torch.zeros([2,3],dtype=torch.int32)
torch.zeros(torch.Size([2]))
torch.zeros(())
torch.zeros(0)
torch.zeros(2,0)
torch.zeros(-1)
torch.zeros(2.5)
torch.zeros()
torch.zeros((2,),(3,))
torch.zeros(2,[3])
torch.zeros(torch.tensor(2),3)
torch.zeros(np.int64(2))
torch.zeros(size=(2,))
torch.zeros(True)
torch.ones(2,dtype=torch.bool)
torch.ones(2,requires_grad=True)
torch.ones(2,dtype=torch.int64,requires_grad=True)
torch.ones(2,dtype=torch.complex64)
torch.ones(2,out=torch.empty(2))
torch.empty(2,3).shape
torch.empty(2,dtype=torch.float64).dtype
torch.full((2,),1)
torch.full((2,),1.)
torch.full((2,),True)
torch.full((2,),1j)
torch.full((2,2),1,dtype=torch.float16)
torch.full((2,),torch.tensor(3))
torch.full((2,),1.5,dtype=torch.int64)
torch.full(2,1)
torch.full([2],1,requires_grad=True)
torch.full([2],1.,requires_grad=True)
torch.full(size=(2,),fill_value=3)
torch.eye(2)
torch.eye(2,3)
torch.eye(2,dtype=torch.int64)
torch.eye(0)
torch.eye(-1)
torch.arange(3)
torch.arange(3.)
torch.arange(1,4)
torch.arange(1,4,2)
torch.arange(0,1,.25)
torch.arange(0,1,.1)
torch.arange(5,0,-1)
torch.arange(0,5,-1)
torch.arange(0,5,0)
torch.arange(5,dtype=torch.float64)
torch.arange(5.5,dtype=torch.int64)
torch.arange(torch.tensor(3))
torch.arange(torch.tensor(3.))
torch.arange(0)
torch.arange(1,2.5)
torch.arange(start=1,end=3)
torch.arange(end=3)
torch.arange(3,requires_grad=True)
torch.arange(3.,requires_grad=True)
torch.arange(np.int64(3))
torch.arange(np.float32(3))
torch.arange(True)
torch.arange(float('inf'))
torch.arange(-3)
torch.arange(0,-3)
torch.linspace(0,1,5)
torch.linspace(0,1,1)
torch.linspace(0,1,0)
torch.linspace(0,10,4,dtype=torch.int64)
torch.linspace(1j,2,3)
torch.linspace(0,1)
torch.linspace(0,1,-1)
torch.linspace(0,1,steps=3,dtype=torch.float64)
torch.linspace(-3.,7.,7)
torch.linspace(torch.tensor(0.),torch.tensor(1.),3)
torch.zeros_like(torch.ones(2,3))
torch.zeros_like(torch.ones(2),dtype=torch.int64)
torch.ones_like(torch.zeros(2,dtype=torch.int32))
torch.full_like(torch.ones(2),3)
torch.full_like(torch.ones(2,dtype=torch.int64),3.7)
torch.empty_like(torch.ones(2)).shape
torch.rand_like(torch.ones(2)).shape
torch.zeros_like(torch.ones(2,requires_grad=True))
torch.zeros_like(torch.ones(2),requires_grad=True)
torch.zeros_like([1])
torch.ones(2).new_zeros(3)
torch.ones(2).new_zeros((3,2))
torch.ones(2).new_ones(2,2,dtype=torch.int64)
torch.ones(2).new_full((2,),3)
torch.ones(2,dtype=torch.int64).new_full((2,),3)
torch.ones(2).new_tensor([1,2])
torch.ones(2).new_empty(2).shape
torch.ones(2).new([1,2])
torch.finfo(torch.float32)
torch.finfo(torch.float64).eps
torch.finfo(torch.float16).max
torch.finfo(torch.float32).tiny
torch.finfo(torch.float32).smallest_normal
torch.finfo(torch.float32).resolution
torch.finfo(torch.float32).bits
torch.finfo(torch.float32).dtype
torch.finfo().max
torch.finfo(torch.complex64).eps
torch.finfo(torch.int64)
torch.iinfo(torch.int64)
torch.iinfo(torch.uint8).max
torch.iinfo(torch.int8).min
torch.iinfo(torch.int8).bits
torch.iinfo(torch.int8).dtype
torch.iinfo(torch.float32)
torch.iinfo(torch.bool)
torch.get_default_dtype()
torch.set_default_dtype(torch.int64)
torch.set_default_dtype(torch.complex64)
torch.float32
torch.float32.is_floating_point, torch.int8.is_signed, torch.uint8.is_signed, torch.complex64.is_complex
torch.bool.is_signed, torch.float16.is_signed
torch.float32.itemsize
torch.float32.to_complex(), torch.complex64.to_real()
torch.float32 == torch.float, torch.float32 is torch.float
torch.float32 == 'float32', hash(torch.float32)==hash(torch.float)
str(torch.float32)
torch.is_tensor(torch.ones(1)), torch.is_tensor(1)
torch.is_floating_point(torch.ones(1)), torch.is_complex(torch.ones(1))
torch.ones(1).is_floating_point(), torch.ones(1).is_complex(), torch.ones(1).is_signed()
torch.numel(torch.ones(2,3))
torch.is_nonzero(torch.tensor(1))
torch.ones(1).is_nonzero()
torch.Size([2,3])
torch.Size([2,3])[0], torch.Size([2,3])[:1], torch.Size([2,3]).numel()
torch.Size([2])+torch.Size([3]), torch.Size((2,))+(1,), torch.Size([2])*2
torch.Size([1.5])
torch.Size()
torch.device('cpu'), str(torch.device('cpu')), torch.device('cpu').type
torch.device('cpu').index, torch.device('cpu',0), torch.device('cpu:0'), str(torch.device('cpu:0'))
torch.device('cpu')==torch.device('cpu'), torch.device('cpu')=='cpu'
torch.strided
torch.ones(2).layout
torch.contiguous_format
torch.preserve_format
torch.ones(2).is_cuda
torch.ones(2).to('cpu')
torch.tril_indices(3,3)
torch.from_numpy(np.arange(3)).dtype
torch.vander(torch.tensor([1.,2,3]))
torch.complex(torch.ones(2),torch.ones(2))
torch.polar(torch.ones(2),torch.zeros(2))
torch.heaviside(torch.tensor([-1.,0,1]),torch.tensor([.5]))
torch.frombuffer(bytearray(8),dtype=torch.int32)
torch.tensor([float('nan')],dtype=torch.int64)
torch.tensor([1e30],dtype=torch.int64)
torch.tensor(-300,dtype=torch.uint8)
torch.tensor(-255,dtype=torch.uint8)
torch.tensor(-129,dtype=torch.int8)
torch.tensor([1j],dtype=torch.float32)
torch.tensor([70000],dtype=torch.float16)
torch.tensor(1e300)
torch.linspace(0,7,5,dtype=torch.int32)
torch.linspace(-3,-10,6,dtype=torch.int32)
torch.tensor([np.int32(2),np.float32(1)])
torch.tensor([[np.int32(2)],[1.5]])
torch.tensor([np.float16(2),np.int64(3)])
torch.tensor([np.bool_(True)])
torch.tensor([2**63-1])
torch.tensor([2**63])
torch.tensor([2**63],dtype=torch.uint64)
torch.tensor(2**64-1,dtype=torch.uint64)
torch.tensor([2**63],dtype=torch.float64)
torch.full((2,),300,dtype=torch.uint8)
torch.logspace(0,2,3,dtype=torch.int64)
torch.ones(2).new(2,3).shape
torch.ones(2).new().shape
2*torch.Size([2])
torch.Size(3)
torch.asarray(np.ones(2)[::-1])
torch.as_tensor(range(3))
torch.tensor(torch.Size([2]))
torch.tensor(memoryview(b'ab'))
torch.tensor({1,2})
torch.tensor([1,2],[3])
torch.finfo(torch.float16)
torch.finfo(torch.float64)
torch.iinfo(torch.uint16)
torch.arange(0,10,3.5,dtype=torch.int64)
torch.arange(0.5,5,dtype=torch.int64)
torch.zeros(2,dtype=float)
torch.ones(3).to(float)
torch.ones(3).type(torch.DoubleTensor)
isinstance(torch.ones(2),torch.FloatTensor), isinstance(torch.ones(2),torch.LongTensor)
torch.linspace(0,1,steps=101)
torch.zeros('ab')
torch.rand('ab')
torch.rand(-1)
torch.randint(3,(2,-1))
torch.normal(0.,1.,2)
"""


def shown(torch: Any, expression: str) -> str:
    """What an expression gives (all digits of tensors), or the kind of its error."""
    torch.manual_seed(0)
    try:
        found = eval(expression, {"torch": torch, "np": np})
    except (RuntimeError, TypeError, ValueError, NotImplementedError, AttributeError) as error:
        return type(error).__name__
    digits = found.tolist() if isinstance(found, torch.Tensor) else ""
    return f"{found!r} {digits}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", EXPRESSIONS.strip().splitlines())
def test_same_as_the_original(expression: str) -> None:
    original = pytest.importorskip("torch", reason="the original is not installed")
    assert shown(ft, expression) == shown(original, expression)


ROUNDED = [
    "torch.logspace(0,2,3)",
    "torch.logspace(0,2,3,base=2)",
    "torch.logspace(0,2,steps=30,dtype=torch.float64)",
    "torch.linspace(.1,.7,steps=64,dtype=torch.float64)",
    "torch.arange(0,1,.01)",
    "torch.arange(-1,1,.07,dtype=torch.float64)",
]


@pytest.mark.parametrize("expression", ROUNDED)
def test_same_as_the_original_up_to_the_order_of_operations(expression: str) -> None:
    original = pytest.importorskip("torch", reason="the original is not installed")
    ours, theirs = (eval(expression, {"torch": torch}) for torch in (ft, original))
    assert str(ours.dtype) == str(theirs.dtype)
    tolerance = 1e-14 if ours.dtype is ft.float64 else 1e-6
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=tolerance, atol=tolerance)


def test_a_list_of_tensors_stays_in_the_graph() -> None:
    x = ft.tensor(2.0, requires_grad=True)
    y = ft.tensor([x * x, 3 * x, 1.0])
    y.sum().backward()
    assert y.tolist() == [4, 6, 1]
    assert x.grad == 7


@pytest.mark.parametrize("make", [ft.from_numpy, ft.as_tensor, ft.asarray])
def test_memory_is_shared_with_numpy(make: Any) -> None:
    x = np.ones(3)
    t = make(x)
    x[0] = 5
    t[1] = 7
    assert t.tolist() == [5, 7, 1] == x.tolist()


def test_memory_is_not_shared_by_tensor() -> None:
    x = np.ones(3)
    t = ft.tensor(x)
    x[0] = 5
    assert t.tolist() == [1, 1, 1]
    assert ft.asarray(x, copy=True).data_ptr() != ft.from_numpy(x).data_ptr()
    with pytest.raises(ValueError, match="alias"):
        ft.asarray([1.0], copy=False)


def test_a_buffer_is_shared() -> None:
    memory = bytearray(8)
    t = ft.frombuffer(memory, dtype=ft.int32)
    t[0] = 1
    assert memory[0] == 1
    assert ft.frombuffer(memory, dtype=ft.int32, count=1, offset=4).tolist() == [0]


def test_dtypes_of_numpy_are_accepted() -> None:
    assert ft.zeros(2, dtype=np.float64).dtype is ft.float64
    assert ft.tensor([1], dtype="float32").dtype is ft.float32


def test_what_numpy_lacks_is_said() -> None:
    for make in (lambda d: ft.zeros(2, dtype=d), lambda d: ft.ones(2).to(d), ft.finfo, ft.set_default_dtype):
        with pytest.raises(RuntimeError, match=r"NumPy has no bfloat16.* Use torch.float32"):
            make(ft.bfloat16)
    with pytest.raises(RuntimeError, match="Use device='cpu'"):
        ft.zeros(2, device="cuda")


def test_what_numpy_lacks_can_be_mentioned() -> None:
    assert ft.float32 != ft.bfloat16 == ft.bfloat16
    assert repr(ft.bfloat16) == "torch.bfloat16"
    assert (ft.bfloat16.itemsize, ft.bfloat16.is_floating_point, ft.bfloat16.is_complex) == (2, True, False)
    assert pickle.loads(pickle.dumps(ft.bfloat16)) is ft.bfloat16
    assert ft.chalf is ft.complex32
    assert ft.complex32.is_complex
    with ft.autocast("cpu", dtype=ft.bfloat16):
        assert (ft.ones(1) * 2).dtype is ft.float32


def test_copying_a_tensor_warns() -> None:
    x = ft.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="clone"):
        assert not ft.tensor(x).requires_grad


def test_default_dtype() -> None:
    ft.set_default_dtype(ft.float64)
    try:
        made = [
            ft.tensor(1.0),
            ft.zeros(1),
            ft.arange(2.0),
            ft.ones(1, dtype=ft.int64) / 2,
            ft.rand(1),
            ft.Tensor([1]),
        ]
        assert {t.dtype for t in made} == {ft.float64}
        assert ft.tensor(1j).dtype is ft.complex128
    finally:
        ft.set_default_dtype(ft.float32)


# ---- options that all have ---------------------------------------------------------------------------------------------
MAKERS = {
    "zeros": (2, 3), "ones": (2, 3), "empty": (2, 3), "full": ((2, 3), 1.5), "scalar_tensor": (1.5,), "eye": (3,),
    "arange": (4,), "linspace": (0, 1, 5), "logspace": (0, 1, 5), "range": (0, 3), "rand": (2, 3), "randn": (2, 3),
    "randint": (9, (2, 3)), "randperm": (5,), "hann_window": (5,), "hamming_window": (5,), "bartlett_window": (5,),
    "blackman_window": (5,), "kaiser_window": (5,),
}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
def test_what_makes_tensors_takes_the_same_options(name: str) -> None:
    make, args = getattr(ft, name), MAKERS[name]

    def made(**options: Any) -> Any:
        ft.manual_seed(0)
        return make(*args, dtype=ft.float64, **options)

    plain = made()
    assert plain.dtype is ft.float64
    asked = made(requires_grad=True, device="cpu", layout=ft.strided, pin_memory=False, memory_format=None)
    assert asked.requires_grad
    assert asked.tolist() == plain.tolist()
    out = ft.full(plain.shape, -1.0, dtype=ft.float64)
    assert made(out=out) is out
    assert out.tolist() == plain.tolist()
    with pytest.raises(RuntimeError, match=r"Only Tensors of floating point|not implemented for torch.int64"):
        make(*args, dtype=ft.int64, requires_grad=True)


def test_windows_are_computed_in_the_dtype_that_is_asked_for() -> None:
    window = ft.hann_window(7, dtype=ft.float64).numpy()
    assert np.abs(window - (1 - np.cos(2 * np.pi * np.arange(7) / 7)) / 2).max() < 1e-15
