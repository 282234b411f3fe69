"""A Function inside functional transforms: the core's custom rules, run on tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from funcgrad.core.engine.batch import BatchTrace
from funcgrad.core.engine.forward import ForwardTrace, ForwardTracer
from funcgrad.core.engine.trace import Tracer, innermost
from funcgrad.torch.autograd.context import Defaults, FunctionCtx, backward_of, ctx_type, run_forward
from funcgrad.torch.autograd.forward_ad import is_dual
from funcgrad.torch.graph import exchange
from funcgrad.torch.random.randomness import BATCH
from funcgrad.torch.tensors.inplace import adopt
from funcgrad.torch.tensors.tensor import Tensor, make_tensor
from funcgrad.transforms.custom import custom_jvp, custom_vjp


def apply_traced(cls: type[Defaults], args: tuple[Any, ...]) -> Any:
    """`cls.apply(*args)`, where some argument holds a tracer of a transform."""
    if cls.setup_context is Defaults.setup_context and not all(
        is_dual(x) for x in args if isinstance(x, Tensor)
    ):
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must "
            f"override the setup_context staticmethod: {cls.__name__} has forward(ctx, ...) only. Write forward(x, "
            "...) and setup_context(ctx, inputs, output)."
        )
    where = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
    contents = [args[i].__operand__() for i in where]
    trace = innermost(contents)
    if isinstance(trace, BatchTrace):
        if cls.vmap is not Defaults.vmap:
            return _batched(cls, trace, args)
        if not cls.generate_vmap_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the "
                "vmap staticmethod or set generate_vmap_rule=True."
            )
    if isinstance(trace, ForwardTrace) and cls.jvp is Defaults.jvp:
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
            f" {cls.__name__} has none."
        )

    def on_tensors(values: Any) -> tuple[Any, ...]:
        full = list(args)
        for i, value in zip(where, values, strict=True):
            full[i] = make_tensor(value)
        return tuple(full)

    forward = all(isinstance(c, ForwardTracer) or not isinstance(c, Tracer) for c in contents)
    pushes = cls.jvp is not Defaults.jvp and (
        forward or cls.backward is Defaults.backward and cls.vjp is Defaults.vjp
    )
    needed = tuple(i in where and isinstance(contents[where.index(i)], Tracer) for i in range(len(args)))
    dirty: dict[int, int] = {}
    out = _with_rule(cls, where, needed, on_tensors, dirty, pushes=pushes)(*contents)
    made = [
        adopt(args[dirty[k]], make_tensor(x)) if k in dirty else make_tensor(x)
        for k, x in enumerate(out if isinstance(out, tuple) else (out,))
    ]
    return tuple(made) if isinstance(out, tuple) else made[0]


class VmapInfo(NamedTuple):
    """What a Function's vmap is told: the number of examples, and what random numbers are to be."""

    batch_size: int
    randomness: str


def _batched(cls: type[Defaults], trace: BatchTrace, args: tuple[Any, ...]) -> Any:
    """The user's own rule for vmap: it sees all examples at once."""
    if cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overriden vmap staticmethod. "
            "Please set generate_vmap_rule=False or delete the overriden vmap staticmethod to avoid ambiguity."
        )
    batched = [
        isinstance(x, Tensor) and isinstance(x.value, Tracer) and x.value._trace is trace for x in args
    ]
    lowered = [
        make_tensor(x.value._value) if is_batched else x for x, is_batched in zip(args, batched, strict=True)
    ]
    running = BATCH.get()
    info = VmapInfo(trace.size, "error" if running is None else running.randomness)
    found = cls.vmap(info, tuple(0 if is_batched else None for is_batched in batched), *lowered)
    if not isinstance(found, tuple) or len(found) != 2:
        raise RuntimeError(
            f"Expected the vmap staticmethod of {cls.__name__} to have two returns, (output, out_dims): it returned "
            + (f"{len(found)} values" if isinstance(found, tuple) else f"a {type(found).__name__}")
        )
    out, out_dims = found
    if not isinstance(out, tuple):
        return _wrapped(trace, out, out_dims)
    dims = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(out)
    return tuple(_wrapped(trace, x, dim) for x, dim in zip(out, dims, strict=True))


def _wrapped(trace: BatchTrace, out: Any, dim: int | None) -> Any:
    if dim is None or not isinstance(out, Tensor):
        return out
    return make_tensor(trace.wrap(np.moveaxis(out.__operand__(), dim, 0), None))


def _note_dirty(dirty: dict[int, int], ctx: FunctionCtx, inputs: tuple[Any, ...], output: Any) -> None:
    """Note which outputs (by number) are inputs (by number) that were written to."""
    for k, o in enumerate(output if isinstance(output, tuple) else (output,)):
        if any(o is t for t in ctx._dirty):
            dirty[k] = next(i for i, x in enumerate(inputs) if x is o)


def _with_rule(
    cls: type[Defaults],
    where: list[int],
    needed: tuple[bool, ...],
    on_tensors: Any,
    dirty: dict[int, int],
    *,
    pushes: bool,
) -> Any:
    """The value as a function of contents, with the user's rule for the direction that is needed."""

    def value(*contents: Any) -> Any:
        inputs = on_tensors(contents)
        trace = innermost(contents)
        if isinstance(trace, ForwardTrace) or (isinstance(trace, BatchTrace) and not cls.generate_vmap_rule):
            return _contents(apply_traced(cls, inputs))
        return ready(contents)[0]

    def ready(contents: Any) -> tuple[Any, FunctionCtx]:
        ctx = ctx_type(cls)()
        inputs = on_tensors(contents)
        ctx.needs_input_grad = needed
        output = run_forward(cls, ctx, inputs, {})
        _note_dirty(dirty, ctx, inputs, output)
        return _contents(output), ctx

    if pushes:

        def push(primals: Any, tangents: Any) -> Any:
            out, ctx = ready(primals)
            full: list[Any] = [None] * len(needed)
            for i, t in zip(where, tangents, strict=True):
                full[i] = make_tensor(t)
            return out, _contents(cls.jvp(ctx, *full))

        made = custom_jvp(value)
        made.defjvp(push)
        return made

    def pull(contents: Any, ct: Any) -> Any:
        _, ctx = ready(contents)
        return _pulled(cls, ctx, where, contents, ct)

    made = custom_vjp(value)
    made.defvjp(lambda *contents: (value(*contents), contents), pull)
    return made


def _pulled(
    cls: type[Defaults], ctx: FunctionCtx, where: list[int], contents: Any, ct: Any
) -> tuple[Any, ...]:
    """The cotangents of the contents that are tensors, by the user's backward."""
    result = backward_of(cls)(ctx, *[exchange.to_user(c) for c in (ct if isinstance(ct, tuple) else (ct,))])
    found = result if isinstance(result, tuple) else (result,)
    return tuple(
        np.zeros(np.shape(x), x.dtype) if found[i] is None else found[i].__operand__()
        for i, x in zip(where, contents, strict=True)
    )


def _contents(out: Any) -> Any:
    return tuple(x.__operand__() for x in out) if isinstance(out, tuple) else out.__operand__()
