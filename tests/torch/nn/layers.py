"""Layers on the facade and the original: same weights, inputs and cotangents, all results compared."""

from __future__ import annotations

from typing import Any

import numpy as np

import funcgrad.torch as ft


def arrays(*shapes: Any, seed: int = 0, dtype: Any = np.float64) -> list[np.ndarray]:
    """Random arrays; a shape given as an array stays as it is (indices, lengths)."""
    rng = np.random.default_rng(seed)
    return [s if isinstance(s, np.ndarray) else rng.normal(size=s).astype(dtype) for s in shapes]


def given(torch: Any, inputs: list[np.ndarray]) -> list[Any]:
    """Inputs as tensors; those of floating-point numbers require grad."""
    return [torch.tensor(x, requires_grad=x.dtype.kind == "f") for x in inputs]


def flat(out: Any) -> list[Any]:
    """The tensors in an output, in order."""
    if isinstance(out, (tuple, list)):
        return [t for part in out for t in flat(part)]
    return [] if out is None else [out]


def gradients(torch: Any, out: Any, wanted: list[Any], second: bool) -> list[Any]:
    """The gradients of the weighted sum of the outputs, and (if `second`) those of their sum of squares."""
    outs = [t for t in flat(out) if t.dtype.is_floating_point and t.requires_grad]
    weights = [torch.tensor(x) for x in arrays(*[tuple(t.shape) for t in outs], seed=1)]
    total = sum((t * t * w.to(t.dtype)).sum() for t, w in zip(outs, weights))
    first = torch.autograd.grad(total, wanted, create_graph=second, allow_unused=True)
    if not second:
        return list(first)
    norm = sum((g * g).sum() for g in first if g is not None)
    return [*first, *torch.autograd.grad(norm, wanted, allow_unused=True)]


def numbers(t: Any) -> Any:
    return None if t is None else t.detach().numpy()


def check_same(found: Any, expected: Any, tolerance: float, text: str) -> None:
    """The same shapes, dtypes and (within `tolerance`) numbers; None where the other is None or zero."""
    for k, (x, y) in enumerate(zip(found, expected, strict=True)):
        where = f"{text}: number {k}"
        if x is None or y is None:
            assert all(t is None or not numbers(t).any() for t in (x, y)), where
            continue
        assert (str(x.dtype), tuple(x.shape)) == (str(y.dtype), tuple(y.shape)), where
        np.testing.assert_allclose(numbers(x), numbers(y), rtol=tolerance, atol=tolerance, err_msg=where)


def check_layer(
    torch: Any,
    make: Any,
    inputs: list[np.ndarray],
    *,
    second: bool = True,
    nodes: bool = True,
    call: Any = lambda layer, *inputs: layer(*inputs),
    tolerance: float = 1e-9,
) -> None:
    """A layer of `make(nn)` has the original's text, initial parameters, outputs, nodes, gradients."""
    found, text = [], ""
    weights: list[np.ndarray] = []
    for library in (ft, torch):
        library.manual_seed(0)
        layer = make(library.nn)
        state = layer.state_dict()
        initial = {k: numbers(v).copy() for k, v in state.items()}
        text = repr(layer)
        if any(x.dtype == np.float64 for x in inputs) or not inputs:
            layer = layer.double()
        parameters = list(layer.parameters())
        tensors = given(library, inputs)
        if library is ft:
            weights = [numbers(p).copy() for p in parameters]
        else:
            with torch.no_grad():
                for p, w in zip(parameters, weights, strict=True):
                    p.copy_(torch.tensor(w))
        out = call(layer, *tensors)
        names = [None if t.grad_fn is None else t.grad_fn.name() for t in flat(out)]
        wanted = [*parameters, *(t for t in tensors if t.requires_grad)]
        found.append((text, initial, names, flat(out), gradients(library, out, wanted, second)))
    (text, initial, names, outs, grads), (other_text, other_initial, other_names, other_outs, other_grads) = (
        found
    )
    assert text == other_text
    assert list(initial) == list(other_initial), text
    for key, value in initial.items():
        np.testing.assert_allclose(value, other_initial[key], rtol=1e-5, atol=1e-6, err_msg=f"{text}: {key}")
    if nodes:
        assert names == other_names, text
    check_same(outs, other_outs, tolerance, f"{text}: outputs")
    check_same(grads, other_grads, tolerance * 10, f"{text}: gradients")


def error_of(run: Any, library: Any) -> str:
    """The type of the error, and nothing of its text but the beginning."""
    try:
        run(library)
    except Exception as error:  # noqa: BLE001 (the error is what is compared)
        return f"{type(error).__name__}: {str(error)[:20]}"
    return "no error"


def check_errors(torch: Any, run: Any) -> None:
    """Both refuse, with the same type of error, whose text begins in the same way."""
    assert error_of(run, torch) != "no error"
    assert error_of(run, ft) == error_of(run, torch)
