"""Adafactor, SparseAdam and Muon, whose steps are taken parameter by parameter."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.core.engine.trace import concrete
from funcgrad.torch.graph.modes import enable_grad, no_grad
from funcgrad.torch.optim.optimizer import Optimizer, Params
from funcgrad.torch.optim.stepping import dense_gradient
from funcgrad.torch.tensors.tensor import make_tensor, plain


class ParameterwiseOptimizer(Optimizer):
    """An optimizer whose step is given for one parameter."""

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._step(p, group)
        return loss

    def _step(self, p: Any, group: dict[str, Any]) -> None:
        raise NotImplementedError


class Adafactor(ParameterwiseOptimizer):
    """Steps by the root of the mean square gradient, of which matrices keep only the means of rows and columns.

    Shazeer and Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost, 2018. `lr` is relative to
    the size of a parameter; `beta2_decay` says how the memory grows, `eps` holds the smallest mean square root (None:
    that of the dtype) and the smallest size, `d` the largest root mean square of an update.
    """

    def __init__(
        self,
        params: Params,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if not lr >= 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not eps[0] >= 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not eps[1] >= 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        given = {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay}
        super().__init__(params, given | {"foreach": foreach, "maximize": maximize})

    def _step(self, p: Any, group: dict[str, Any]) -> None:
        state, x, g = self.state[p], np.array(plain(p)), np.asarray(concrete(dense_gradient(self, p)))
        if x.dtype.kind == "c":
            raise RuntimeError("Adafactor does not support complex parameters")
        g = -g if group["maximize"] else g
        if not state:
            state["step"] = make_tensor(np.zeros((), np.float32))
            for name, shape in _mean_shapes(x.shape).items():
                state[name] = make_tensor(np.zeros(shape, x.dtype))
        step = float(plain(state["step"])) + 1
        state["step"] = make_tensor(np.array(step, np.float32))
        least = np.finfo(x.dtype).eps if group["eps"][0] is None else group["eps"][0]
        update = g / np.sqrt(
            np.maximum(_mean_square(state, g, step ** group["beta2_decay"], least), least**2)
        )
        size = max(group["eps"][1], float(np.linalg.norm(x)) / math.sqrt(x.size))
        excess = max(1.0, float(np.linalg.norm(update)) / (math.sqrt(x.size) * group["d"]))
        x *= 1 - group["lr"] * group["weight_decay"]
        x -= (size * min(group["lr"], step**-0.5) / excess) * update
        p.copy_(make_tensor(x.astype(p.value.dtype)))


def _mean_shapes(shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """The shapes of the means that are kept for a parameter."""
    if len(shape) < 2:
        return {"variance": shape}
    return {"row_var": (*shape[:-1], 1), "col_var": (*shape[:-2], 1, shape[-1])}


def _mean_square(state: dict[str, Any], g: np.ndarray, weight: float, least: Any) -> np.ndarray:
    """The estimated mean square of the gradient, after `g` has entered the means with this weight."""
    means = {}
    for name, axis in (("variance", None), ("row_var", -1), ("col_var", -2)):
        if name in state:
            square = g * g if axis is None else np.mean(g * g, axis, keepdims=True)
            held = np.asarray(plain(state[name]))
            means[name] = held + (square - held) * weight
            state[name] = make_tensor(means[name])
    if "variance" in means:
        return means["variance"]
    rows = means["row_var"]
    return rows @ means["col_var"] / np.maximum(rows.mean(-2, keepdims=True), least)


class SparseAdam(ParameterwiseOptimizer):
    """Adam for the rows that a gradient reaches: the moments of the others stay as they are.

    Gradients are sparse, as those of Embedding(sparse=True). Raises RuntimeError for dense ones.
    """

    def __init__(
        self,
        params: Params,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def _step(self, p: Any, group: dict[str, Any]) -> None:
        if not p.grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        state, gradient = self.state[p], p.grad.coalesce()
        if not state:
            zeros = np.zeros_like(plain(p))
            state.update(step=0, exp_avg=make_tensor(zeros), exp_avg_sq=make_tensor(zeros.copy()))
        state["step"] += 1
        rows, g = tuple(map(plain, gradient.indices())), plain(gradient.values())
        g = -g if group["maximize"] else g
        first, second = group["betas"]
        m, v = (np.array(plain(state[name])) for name in ("exp_avg", "exp_avg_sq"))
        m[rows] += (g - m[rows]) * (1 - first)
        v[rows] += (g * g - v[rows]) * (1 - second)
        state["exp_avg"], state["exp_avg_sq"] = make_tensor(m), make_tensor(v)
        rate = group["lr"] * math.sqrt(1 - second ** state["step"]) / (1 - first ** state["step"])
        x = np.array(plain(p))
        x[rows] -= rate * m[rows] / (np.sqrt(v[rows]) + group["eps"])
        p.copy_(make_tensor(x))


class Muon(ParameterwiseOptimizer):
    """Steps along the nearest orthogonal matrix of the momentum (by Newton and Schulz's iteration), for
    matrices only.

    PyTorch iterates in bfloat16, this in the dtype of the parameter: the steps agree to some two digits.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if lr < 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        given = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "eps": eps,
        }
        super().__init__(
            params,
            {**given, "ns_coefficients": ns_coefficients, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn},
        )
        for p in (p for group in self.param_groups for p in group["params"]):
            if p.ndim != 2:
                raise ValueError(
                    f"Muon only supports 2D parameters whereas we found a parameter with size: {p.shape}"
                )

    def _step(self, p: Any, group: dict[str, Any]) -> None:
        state, g = self.state[p], np.asarray(concrete(dense_gradient(self, p)))
        held = np.asarray(plain(state["momentum_buffer"])) if "momentum_buffer" in state else np.zeros_like(g)
        held = held + (g - held) * (1 - group["momentum"])
        state["momentum_buffer"] = make_tensor(held)
        update = g + (held - g) * group["momentum"] if group["nesterov"] else held
        update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rate = group["lr"] * _adjusted(group["adjust_lr_fn"], *p.shape)
        x = np.array(plain(p)) * (1 - group["lr"] * group["weight_decay"])
        p.copy_(make_tensor((x - rate * update).astype(x.dtype)))


def _adjusted(how: str | None, rows: int, columns: int) -> float:
    return (
        0.2 * math.sqrt(max(rows, columns)) if how == "match_rms_adamw" else math.sqrt(max(1, rows / columns))
    )


def _orthogonal(
    x: np.ndarray, coefficients: tuple[float, float, float], steps: int, eps: float
) -> np.ndarray:
    """A matrix with the singular vectors of x and singular values near 1."""
    a, b, c = coefficients
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    x = x / max(float(np.linalg.norm(x)), eps)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return x.T if tall else x
