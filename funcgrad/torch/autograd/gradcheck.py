"""torch.autograd.gradcheck and gradgradcheck: derivatives compared with differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.testing.differences import basis
from funcgrad.torch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from funcgrad.torch.functions.creation import ones_like
from funcgrad.torch.functions.elementwise import mul
from funcgrad.torch.graph import modes
from funcgrad.torch.graph.backward import grad
from funcgrad.torch.tensors.tensor import Tensor, make_tensor


class GradcheckError(RuntimeError):
    """An analytic derivative differs from the numerical one."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: Any = None,
) -> bool:
    """Compare the derivatives of `func` with central differences; inputs that require grad should be float64.

    Raises GradcheckError (or returns False) where they differ, ValueError if no input requires grad.
    """
    try:
        _checked(func, _tuple(inputs), eps, atol, rtol, check_forward_ad, check_backward_ad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _tuple(x: Any) -> tuple[Any, ...]:
    return (x,) if isinstance(x, Tensor) else tuple(x)


def _checked(
    func: Any, inputs: tuple[Any, ...], eps: float, atol: float, rtol: float, forward: bool, backward: bool
) -> None:
    where = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not where:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True."
        )
    for i in where:
        if inputs[i].value.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                "likely fail if "
                "all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=4,
            )
    outs = [o for o in _tuple(func(*inputs)) if isinstance(o, Tensor) and o.value.dtype.kind in "fc"]
    for k in range(len(outs)):
        for i in where:
            expected = _numerical(func, inputs, i, k, eps)
            if backward:
                _compare(_analytic(func, inputs, i, k), expected, k, i, atol, rtol, "")
            if forward:
                _compare(_pushed(func, inputs, i, k), expected, k, i, atol, rtol, " (forward mode)")


def _output(func: Any, inputs: Any, k: int) -> Tensor:
    return [o for o in _tuple(func(*inputs)) if isinstance(o, Tensor) and o.value.dtype.kind in "fc"][k]


def _numerical(func: Any, inputs: tuple[Any, ...], i: int, k: int, eps: float) -> Any:
    """The Jacobian by central differences, inputs along axis 0; of a complex input along the real and the
    imaginary axis.
    """
    x = np.array(concrete(inputs[i].value))
    rows = []
    with modes.no_grad():
        for _, unit in basis(x):
            ends = []
            for step in (eps, -eps):
                # the tensor itself, which `func` may hold by other ways
                inputs[i].data.copy_(make_tensor(x + step * unit))
                ends.append(
                    np.array(
                        concrete(_output(func, inputs, k).value), complex if x.dtype.kind == "c" else None
                    )
                )
            inputs[i].data.copy_(make_tensor(x))
            rows.append(((ends[0] - ends[1]) / (2 * eps)).reshape(-1))
    return np.array(rows)


def _analytic(func: Any, inputs: tuple[Any, ...], i: int, k: int) -> Any:
    out = _output(func, inputs, k)
    flat = out.reshape(-1)
    is_complex = inputs[i].value.dtype.kind == "c"
    columns = []
    for j in range(out.numel()):
        if not out.requires_grad:
            columns.append(np.zeros(inputs[i].numel() * (2 if is_complex else 1)))
            continue
        seeds = [ones_like(flat[j])] + ([mul(ones_like(flat[j]), 1j)] if out.value.dtype.kind == "c" else [])
        parts = []
        for seed in seeds:
            (found,) = grad(flat[j], inputs[i], seed, retain_graph=True, allow_unused=True)
            value = (
                np.zeros(inputs[i].shape, inputs[i].value.dtype)
                if found is None
                else np.asarray(concrete(found.value))
            )
            flat_value: Any = value.reshape(-1)
            parts.append(
                np.stack([flat_value.real, flat_value.imag], -1).reshape(-1)
                if is_complex
                else flat_value.real
            )
        columns.append(parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1])
    return np.array(columns).T.reshape(-1, out.numel())


def _pushed(func: Any, inputs: tuple[Any, ...], i: int, k: int) -> Any:
    x = np.asarray(concrete(inputs[i].value))
    rows = []
    for _, direction in basis(x):
        with dual_level():
            dual = make_dual(inputs[i].detach(), make_tensor(direction))
            out = _output(func, [*inputs[:i], dual, *inputs[i + 1 :]], k)
            found = unpack_dual(out).tangent
        rows.append(np.zeros(out.numel()) if found is None else np.asarray(concrete(found.value)).reshape(-1))
    return np.array(rows)


def _compare(found: Any, expected: Any, k: int, i: int, atol: float, rtol: float, how: str) -> None:
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=rtol, atol=atol):
        raise GradcheckError(
            f"Jacobian mismatch for output {k} with respect to input {i}{how},\nnumerical:{expected}\nanalytical:{found}\n"
        )


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    **options: Any,
) -> bool:
    """gradcheck of the gradient of `func`."""
    given = _tuple(inputs)
    outs = _tuple(func(*given))
    rng = np.random.default_rng(0)
    if grad_outputs is None:
        cts = tuple(
            make_tensor(rng.normal(size=o.shape).astype(o.value.dtype)).requires_grad_() for o in outs
        )
    else:
        cts = _tuple(grad_outputs)
    where = [i for i, x in enumerate(given) if isinstance(x, Tensor) and x.requires_grad]

    def gradient(*args: Any) -> Any:
        ins, seeds = args[: len(given)], args[len(given) :]
        fresh = [
            x.detach().requires_grad_() if i in where and not x.requires_grad else x
            for i, x in enumerate(ins)
        ]
        with modes.enable_grad():
            found = _tuple(func(*fresh))
            return grad(
                found,
                [fresh[i] for i in where],
                seeds,
                create_graph=True,
                allow_unused=True,
                materialize_grads=True,
            )

    return gradcheck(gradient, (*given, *cts), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)
