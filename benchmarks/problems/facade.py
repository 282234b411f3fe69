"""Single operations of `funcgrad.torch` on some 1e6 elements against PyTorch's: alone, and with the backward pass."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import funcgrad.torch
from benchmarks.peers import Peer, Run
from benchmarks.problem import Race

TARGET = 3.0  # no operation takes longer, in units of PyTorch's time
Operation = Callable[..., Any]  # of the module (torch, or the facade) and tensors

_SQUARE, _IMAGES, _DEEP, _FILTERS = (1000, 1000), (8, 16, 64, 64), (8, 64, 32, 32), (64, 1, 3, 3)

# Name, operation, shapes of its arguments.
OPERATIONS: tuple[tuple[str, Operation, tuple[tuple[int, ...], ...]], ...] = (
    ("add", lambda torch, x, y: x + y, (_SQUARE, _SQUARE)),
    ("mul", lambda torch, x, y: x * y, (_SQUARE, _SQUARE)),
    ("div", lambda torch, x, y: x / (y * y + 1), (_SQUARE, _SQUARE)),
    ("broadcast", lambda torch, x, y: x * y, (_SQUARE, (1000,))),
    ("remainder", lambda torch, x: torch.remainder(x, 0.7), (_SQUARE,)),
    ("pow", lambda torch, x: x**3, (_SQUARE,)),
    ("exp", lambda torch, x: torch.exp(x), (_SQUARE,)),
    ("log1p", lambda torch, x: torch.log1p(x * x), (_SQUARE,)),
    ("sin", lambda torch, x: torch.sin(x), (_SQUARE,)),
    ("tanh", lambda torch, x: torch.tanh(x), (_SQUARE,)),
    ("sigmoid", lambda torch, x: torch.sigmoid(x), (_SQUARE,)),
    ("erf", lambda torch, x: torch.erf(x), (_SQUARE,)),
    ("clamp", lambda torch, x: torch.clamp(x, -1, 1), (_SQUARE,)),
    ("where", lambda torch, x, y: torch.where(x > 0, x, y), (_SQUARE, _SQUARE)),
    ("relu", lambda torch, x: torch.relu(x), (_SQUARE,)),
    ("gelu", lambda torch, x: torch.nn.functional.gelu(x), (_SQUARE,)),
    ("gelu, tanh", lambda torch, x: torch.nn.functional.gelu(x, approximate="tanh"), (_SQUARE,)),
    ("silu", lambda torch, x: torch.nn.functional.silu(x), (_SQUARE,)),
    ("softplus", lambda torch, x: torch.nn.functional.softplus(x), (_SQUARE,)),
    ("elu", lambda torch, x: torch.nn.functional.elu(x), (_SQUARE,)),
    ("leaky_relu", lambda torch, x: torch.nn.functional.leaky_relu(x), (_SQUARE,)),
    ("sum", lambda torch, x: x.sum(), (_SQUARE,)),
    ("sum of rows", lambda torch, x: x.sum(-1), (_SQUARE,)),
    ("mean of columns", lambda torch, x: x.mean(0), (_SQUARE,)),
    ("prod of rows", lambda torch, x: (1 + 0.01 * x).prod(-1), (_SQUARE,)),
    ("var of rows", lambda torch, x: x.var(-1), (_SQUARE,)),
    ("amax of rows", lambda torch, x: x.amax(-1), (_SQUARE,)),
    ("norm", lambda torch, x: torch.linalg.norm(x), (_SQUARE,)),
    ("cumsum", lambda torch, x: x.cumsum(-1), (_SQUARE,)),
    ("cummax", lambda torch, x: x.cummax(-1)[0], (_SQUARE,)),
    ("topk", lambda torch, x: x.topk(5)[0], (_SQUARE,)),
    ("logsumexp", lambda torch, x: x.logsumexp(-1), (_SQUARE,)),
    ("softmax", lambda torch, x: x.softmax(-1), (_SQUARE,)),
    ("log_softmax", lambda torch, x: x.log_softmax(-1), (_SQUARE,)),
    ("mse_loss", lambda torch, x, y: torch.nn.functional.mse_loss(x, y), (_SQUARE, _SQUARE)),
    ("l1_loss", lambda torch, x, y: torch.nn.functional.l1_loss(x, y), (_SQUARE, _SQUARE)),
    ("huber_loss", lambda torch, x, y: torch.nn.functional.huber_loss(x, y), (_SQUARE, _SQUARE)),
    ("smooth_l1_loss", lambda torch, x, y: torch.nn.functional.smooth_l1_loss(x, y), (_SQUARE, _SQUARE)),
    ("layer_norm", lambda torch, x: torch.nn.functional.layer_norm(x, (1000,)), (_SQUARE,)),
    ("group_norm", lambda torch, x: torch.nn.functional.group_norm(x, 4), (_IMAGES,)),
    ("max_pool2d", lambda torch, x: torch.nn.functional.max_pool2d(x, 2), (_IMAGES,)),
    ("avg_pool2d", lambda torch, x: torch.nn.functional.avg_pool2d(x, 2), (_IMAGES,)),
    ("conv2d", lambda torch, x, w: torch.nn.functional.conv2d(x, w, padding=1), (_IMAGES, (16, 16, 3, 3))),
    (
        "conv2d, depthwise",
        lambda torch, x, w: torch.nn.functional.conv2d(x, w, padding=1, groups=64),
        (_DEEP, _FILTERS),
    ),
    ("matmul", lambda torch, x, y: x @ y, ((300, 300), (300, 300))),
    ("bmm", lambda torch, x, y: torch.bmm(x, y), ((32, 64, 64), (32, 64, 64))),
    ("einsum", lambda torch, x, y: torch.einsum("bij,bkj->bik", x, y), ((32, 64, 64), (32, 64, 64))),
    ("cdist", lambda torch, x, y: torch.cdist(x, y), ((300, 16), (300, 16))),
    ("cat", lambda torch, x, y: torch.cat([x, y], 1), (_SQUARE, _SQUARE)),
    ("transposed copy", lambda torch, x: x.T.contiguous(), (_SQUARE,)),
    ("flip", lambda torch, x: x.flip(0), (_SQUARE,)),
    ("roll", lambda torch, x: x.roll(3, 1), (_SQUARE,)),
    ("gather", lambda torch, x: x.gather(1, (x.detach() * 0).long() + 7), (_SQUARE,)),
    (
        "scatter_add",
        lambda torch, x: torch.zeros(1000, 1000).scatter_add(
            1, torch.arange(1000).flip(0).expand(1000, 1000), x
        ),
        (_SQUARE,),
    ),
    ("index_select", lambda torch, x: x.index_select(0, torch.arange(999, -1, -1)), (_SQUARE,)),
    ("masked_fill", lambda torch, x: x.masked_fill(x.detach() > 1, 0.0), (_SQUARE,)),
)


def _runs(operation: Operation, shapes: Sequence[tuple[int, ...]], backward: bool) -> Callable[..., Any]:
    def runs(peers: Sequence[Peer]) -> dict[str, Run]:
        rng = np.random.default_rng(0)
        arrays = [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]
        modules = {peer.name: importlib.import_module("torch") for peer in peers if peer.name == "torch"}
        return {
            name: _run(module, operation, [module.tensor(x, requires_grad=backward) for x in arrays])
            for name, module in {**modules, "funcgrad": funcgrad.torch}.items()
        }

    return runs


def _run(torch: Any, operation: Operation, tensors: list[Any]) -> Run:
    def forward() -> Any:
        return operation(torch, *tensors)

    shape = tuple(forward().shape)
    # Not all the same: softmax and normalizations would give rounding errors alone.
    seed = torch.tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))

    def with_backward() -> Any:
        return torch.autograd.grad(forward(), tensors, seed)

    return with_backward if tensors[0].requires_grad else forward


LINES = tuple(
    Race(
        f"torch: {name}{', backward' if backward else ''}",
        TARGET,
        _runs(operation, shapes, backward),
        "torch",
    )
    for name, operation, shapes in OPERATIONS
    for backward in (False, True)
)
