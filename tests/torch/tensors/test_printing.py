"""Printed tensors: the same text as the original's, over generated tensors and options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from funcgrad.torch.tensors.printing import printoptions
from tests.torch.conftest import run_program

DTYPES = [
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "bool",
]
DTYPES += ["uint16", "uint32", "uint64"]
SPECIAL_VALUES = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, 2.5]


def numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Floats of one of the kinds that are printed differently."""
    scale = 10.0 ** rng.integers(-7, 10)
    kinds = [
        lambda: rng.normal(size=shape) * scale,
        lambda: np.round(rng.normal(size=shape) * scale),
        lambda: rng.normal(size=shape) * 10.0 ** rng.integers(-4, 4, size=shape),
        lambda: rng.choice(SPECIAL_VALUES, size=shape),
        lambda: rng.choice(SPECIAL_VALUES[:5], size=shape),
        lambda: rng.uniform(0, 1, size=shape),
    ]
    return np.asarray(kinds[rng.integers(len(kinds))]())


def array(rng: np.random.Generator, dtype: str) -> np.ndarray:
    """An array of this dtype, of some shape."""
    ndim = int(rng.integers(0, 5))
    sizes = [0, 1, 2, 3, 8, 30, 1100] if ndim < 2 else [0, 1, 2, 3, 5, 7, 9, 12]
    shape = tuple(int(n) for n in rng.choice(sizes, size=ndim))
    with np.errstate(all="ignore"):
        made = numbers(rng, shape)
        if "complex" in dtype:
            return np.asarray(made + 1j * numbers(rng, shape)).astype(dtype)
        if "float" not in dtype:
            made = np.nan_to_num(made, posinf=3, neginf=-2).clip(-1e15, 1e15).astype(np.int64)
        return np.asarray(made).astype(dtype)


def some_options(rng: np.random.Generator) -> dict[str, Any]:
    """Options for printing; mostly none."""
    if rng.random() < 0.7:
        return {}
    return {
        "precision": int(rng.integers(0, 9)),
        "threshold": int(rng.choice([2, 50, 1000])),
        "edgeitems": int(rng.integers(0, 4)),
        "linewidth": int(rng.choice([20, 80, 120])),
        "sci_mode": [None, True, False][rng.integers(3)],
    }


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    ft.set_printoptions(profile="default")


@pytest.mark.parametrize("dtype", DTYPES)
def test_same_text_as_the_original(dtype: str) -> None:
    original = pytest.importorskip("torch", reason="the original is not installed")
    rng = np.random.default_rng(DTYPES.index(dtype))
    for _ in range(60):
        x, options, history = array(rng, dtype), some_options(rng), rng.integers(3)
        texts = []
        for torch in (ft, original):
            t = torch.tensor(x)
            if dtype in ("float16", "float32", "float64", "complex64") and history:
                t = t.requires_grad_() if history == 1 else t.requires_grad_().clone()
            torch.set_printoptions(profile="default")
            torch.set_printoptions(**options)
            texts.append((repr(t), str(t), f"{t}" if t.ndim else ""))
            torch.set_printoptions(profile="default")
        assert texts[0] == texts[1], (x.shape, options)


TEXTS = [
    ("ft.tensor([1.,2.])", "tensor([1., 2.])"),
    ("ft.tensor([0.5, 1000.])", "tensor([5.0000e-01, 1.0000e+03])"),
    ("ft.tensor([1000., 10000.])", "tensor([ 1000., 10000.])"),
    ("ft.tensor([1e-5])", "tensor([1.0000e-05])"),
    ("ft.tensor([float('nan'), 1., float('inf')])", "tensor([nan, 1., inf])"),
    ("ft.tensor([])", "tensor([])"),
    ("ft.zeros(2, 0)", "tensor([], size=(2, 0))"),
    ("ft.tensor([], dtype=ft.int64)", "tensor([], dtype=torch.int64)"),
    ("ft.tensor(1+2j)", "tensor(1.+2.j)"),
    ("ft.tensor([True, False])", "tensor([ True, False])"),
    ("ft.tensor(16.5599, requires_grad=True) * 1", "tensor(16.5599, grad_fn=<MulBackward0>)"),
    (
        "ft.tensor([1.], dtype=ft.float64, requires_grad=True)",
        "tensor([1.], dtype=torch.float64, requires_grad=True)",
    ),
    ("ft.zeros(1, 1, 2)", "tensor([[[0., 0.]]])"),
    ("ft.ones(2, 1, 2)", "tensor([[[1., 1.]],\n\n        [[1., 1.]]])"),
    ("ft.arange(2000)", "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    ("ft.ones(2, 3).shape", "torch.Size([2, 3])"),
    ("ft.ones(2).device", "device(type='cpu')"),
    ("ft.nn.Parameter(ft.ones(1))", "Parameter containing:\ntensor([1.], requires_grad=True)"),
]


@pytest.mark.parametrize(("expression", "text"), TEXTS, ids=[e for e, _ in TEXTS])
def test_texts(expression: str, text: str) -> None:
    assert repr(eval(expression, {"ft": ft, "float": float})) == text


def test_default_dtype_is_left_out() -> None:
    x = ft.tensor([1.0])
    ft.set_default_dtype(ft.float64)
    try:
        assert (repr(x), repr(ft.tensor([1.0]))) == ("tensor([1.], dtype=torch.float32)", "tensor([1.])")
        assert repr(ft.tensor(1j)) == "tensor(0.+1.j)"
    finally:
        ft.set_default_dtype(ft.float32)


def test_format_of_one_number_is_pythons() -> None:
    x = ft.tensor(3.14159)
    assert (f"{x:.2f}", f"{ft.tensor(4.0)}", str(ft.tensor(4.0))) == ("3.14", "4.0", "tensor(4.)")
    with pytest.raises(TypeError, match="format"):
        f"{ft.ones(2):.2f}"


def test_options() -> None:
    before = ft.get_printoptions()
    with printoptions(precision=1, sci_mode=True):
        assert repr(ft.tensor([1.25])) == "tensor([1.2e+00])"
    assert ft.get_printoptions() == before
    ft.set_printoptions(profile="short")
    assert repr(ft.tensor([1.256])) == "tensor([1.26])"
    with pytest.raises(ValueError, match="short"):
        ft.set_printoptions(profile="long")


def test_a_subclass_is_printed_under_its_name() -> None:
    class Mine(ft.Tensor):
        pass

    made = Mine([1.0, 2.0])
    assert repr(made) == "Mine([1., 2.])"


INSIDE = r"""
with torch.autograd.forward_ad.dual_level():
    x = torch.autograd.forward_ad.make_dual(torch.ones(2), torch.zeros(2)); print(x); print(x * 2)
#---
torch.func.grad(lambda x: print(x, x * 2) or x.sum())(torch.ones(2))
#---
torch.func.vmap(lambda x: print(x, x.sum()) or x)(torch.ones(3, 2))
#---
torch.func.jvp(lambda x: print(x) or x, (torch.ones(2),), (torch.ones(2),))
#---
torch.func.vmap(torch.func.grad(lambda x: print(x) or x.sum()))(torch.ones(3, 2))
#---
torch.func.grad(lambda x: torch.func.grad(lambda y: print(x, y) or (x * y).sum())(x).sum())(torch.ones(2))
#---
w = torch.ones(2, requires_grad=True); torch.func.grad(lambda x: print(x * w) or x.sum())(torch.ones(2))
"""


@pytest.mark.parametrize("program", INSIDE.split("#---"))
def test_inside_transforms(program: str) -> None:
    original = pytest.importorskip("torch", reason="the original is not installed")
    assert run_program(ft, program) == run_program(original, program) != ""
