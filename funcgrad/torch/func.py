"""torch.func: the engine's transforms on functions of tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core.engine.batch import BatchTracer
from funcgrad.core.engine.trace import Tracer
from funcgrad.errors import CotangentError
from funcgrad.torch.func_checks import (
    JVP,
    VJP,
    check_models,
    check_real,
    check_tangents,
    checked,
    depending,
    placed,
)
from funcgrad.torch.functions.creation import ones_like
from funcgrad.torch.graph import duals
from funcgrad.torch.graph.captured import Writes, guarded, tensors_in
from funcgrad.torch.random.randomness import BATCH, CHOICES, Batch
from funcgrad.torch.tensors.tensor import Tensor, make_tensor
from funcgrad.torch.tensors.values import branches_refused
from funcgrad.transforms import derivatives, linear, matrices, vectorize


def _at(args: tuple[Any, ...], where: tuple[int, ...], chosen: Any) -> list[Any]:
    full = list(args)
    for i, x in zip(where, chosen, strict=True):
        full[i] = x
    return full


def _scalar(out: Any, who: str) -> Tensor:
    if not isinstance(out, Tensor):
        raise RuntimeError(
            f"{who}(f)(*args): Expected f(*args) to return a Tensor, got {type(out)}. {who} needs one number."
        )
    if out.ndim:
        raise RuntimeError(
            f"{who}(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {out.ndim} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )
    return out


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns (gradient, value), or (gradient, (value, aux))."""
    call = "grad_and_value(f)(*args)"
    run = checked(func, call, has_aux=has_aux, check=None)

    @functools.wraps(func)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        where = placed(argnums, len(args), "grad_and_value")

        def of_chosen(*chosen: Any) -> Any:
            out = run(*_at(args, where, chosen), **kwargs)
            return (_scalar(out[0], "grad_and_value"), out[1]) if has_aux else _scalar(out, "grad_and_value")

        found = derivatives.record(of_chosen, [args[i] for i in where], {}, has_aux=has_aux, transform="grad")
        value, pullback, aux = found
        gradients = _conjugated(pullback(_conjugated(ones_like(value))))
        gradient = gradients[0] if isinstance(argnums, int) else gradients
        return gradient, ((value, aux) if has_aux else value)

    return transformed


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """A function that returns the gradient (with has_aux: and aux).

    >>> import funcgrad.torch as torch
    >>> torch.func.grad(lambda x: (x ** 3).sum())(torch.tensor([2.0]))
    tensor([12.])
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return transformed


def _conjugated(x: Any) -> Any:
    return tree.map(
        lambda leaf: (
            leaf.conj() if getattr(leaf, "dtype", None) is not None and leaf.dtype.kind == "c" else leaf
        ),
        x,
    )


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """(output, vjp_fn), or (output, vjp_fn, aux); vjp_fn gives a tuple (one tensor for a single primal)."""
    run = checked(func, VJP, has_aux=has_aux)
    value, pullback, aux = derivatives.record(run, primals, {}, has_aux=has_aux)

    def vjp_fn(*cts: Any) -> Any:
        given = cts[0] if len(cts) == 1 else cts
        try:
            return _conjugated(pullback(_conjugated(given)))
        except CotangentError as error:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. {error}"
            ) from None

    return (value, vjp_fn, aux) if has_aux else (value, vjp_fn)


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """(output, tangent), or with aux."""
    check_tangents(primals, tangents)
    run, writes = checked(func, JVP, has_aux=has_aux), Writes()
    found = derivatives.jvp(
        writes.noted(depending(run) if strict else run), primals, tangents, has_aux=has_aux
    )
    for part, given in enumerate((primals, tangents) if writes.found else ()):
        writes.repeat(tensors_in(given), lambda _, x, part=part: duals.parts_of(make_tensor(x))[part])
    return found


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """(output, jvp_fn): the function runs once, and jvp_fn(*tangents) pushes tangents through what was
    recorded.

    >>> import funcgrad.torch as torch
    >>> y, push = torch.func.linearize(torch.square, torch.tensor(3.0))
    >>> y, push(torch.tensor(1.0))
    (tensor(9.), tensor(6.))
    """
    return linear.linearize(guarded(func), *primals)


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """`func` itself: in-place operations never change what others hold, so there is nothing to remove."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are: "
            "remove='mutations', remove='mutations_and_views'"
        )
    return func


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """What a tensor of a transform stands for; `recurse`: beneath all transforms. Only for debugging."""
    value = tensor.value
    while isinstance(value, Tracer):
        value = value._value
        if not recurse:
            break
    return make_tensor(value)


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Let all BatchNorm modules of `root` use batch statistics alone, for vmap; returns `root`."""
    for module in root.modules():
        if hasattr(module, "track_running_stats") and hasattr(module, "running_mean"):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def _jacobian(
    transform: Any, call: str, func: Callable[..., Any], argnums: Any, has_aux: bool, chunk_size: Any
) -> Callable[..., Any]:
    who = transform.__name__
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(f"{who}: `chunk_size` should be greater than 0.")
    run = checked(func, call, has_aux=has_aux)

    def real(*args: Any, **kwargs: Any) -> Any:
        out = run(*args, **kwargs)
        check_real(out[0] if has_aux else out, who, "outputs")
        return out

    @functools.wraps(func)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        where = placed(argnums, len(args), who)
        check_real([args[i] for i in where], who, "inputs")
        chosen = where[0] if isinstance(argnums, int) else where
        writes = Writes()
        run = writes.noted(real) if transform is matrices.jacfwd else real
        found = transform(run, chosen, has_aux=has_aux, chunk_size=chunk_size)(*args, **kwargs)
        if writes.found:
            given = tensors_in((args, kwargs))
            writes.repeat(given, lambda k, x: make_tensor(_beneath(x, given[k].value)))
        return found

    return transformed


def _beneath(content: Any, outside: Any) -> Any:
    """A content without the levels of a Jacobian: what it is at the level of `outside`."""
    level = outside._trace.level if isinstance(outside, Tracer) else 0
    while isinstance(content, Tracer) and content._trace.level > level:
        content = content._value
    return content


def jacrev(
    func: Callable[..., Any],
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that returns the Jacobian by reverse mode (with has_aux: and aux), `chunk_size` rows at a time.

    Raises RuntimeError for outputs that are no tensors, for complex numbers, and for argnums that are not there.

    >>> import funcgrad.torch as torch
    >>> torch.func.jacrev(torch.square)(torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    return _jacobian(matrices.jacrev, VJP, func, argnums, has_aux, chunk_size)


def jacfwd(
    func: Callable[..., Any],
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable[..., Any]:
    """A function that returns the Jacobian by forward mode: as jacrev, for few inputs and many outputs."""
    return _jacobian(matrices.jacfwd, JVP, func, argnums, has_aux, chunk_size)


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """A function that returns the Hessian: jacfwd(jacrev(func))."""
    return jacfwd(jacrev(func, argnums), argnums)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function of batches. `randomness` says what random functions give: "error", the "same", or
    "different" numbers.

    With `chunk_size` so many examples run at once, which saves memory. Raises RuntimeError where the function
    asks for one value of a batch, as `if x > 0` and x.item() do.

    >>> import funcgrad.torch as torch
    >>> torch.func.vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2))
    tensor([2., 2., 2.])
    """
    if randomness not in CHOICES:
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )

    def on_batch(*args: Any, **kwargs: Any) -> Any:
        traces = [x._trace for x in tree.leaves((args, kwargs)) if isinstance(x, BatchTracer)]
        trace = max(traces, key=lambda t: t.level)
        token = BATCH.set(Batch(trace, randomness, BATCH.get()))
        try:
            return guarded(func)(*args, **kwargs)
        finally:
            BATCH.reset(token)

    def mapped(*args: Any, **kwargs: Any) -> Any:
        writes = Writes()
        found = vectorize.vmap(writes.noted(on_batch), in_axes=in_dims, out_axes=out_dims)(*args, **kwargs)
        if writes.found:
            _repeat_in_batch(writes, in_dims, args, kwargs)
        return found

    def transformed(*args: Any, **kwargs: Any) -> Any:
        with branches_refused():
            return (
                mapped(*args, **kwargs)
                if chunk_size is None
                else _in_chunks(mapped, in_dims, out_dims, chunk_size, args, kwargs)
            )

    return transformed


def _repeat_in_batch(writes: Writes, in_dims: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """What a function under vmap has written to its arguments is written to the whole batches."""
    dims = vectorize.broadcast_axes("in_axes", tuple(in_dims) if isinstance(in_dims, list) else in_dims, args)
    placed_dims = tree.unflatten(tree.structure(args), [-1 if d is None else d for d in dims])
    axes = [t.value for t in tensors_in(placed_dims)] + [0] * len(tensors_in(kwargs))

    def outside(k: int, x: Any) -> Tensor:
        return make_tensor(np.moveaxis(x._value, 0, axes[k]) if isinstance(x, BatchTracer) else x)

    writes.repeat(tensors_in((args, kwargs)), outside)


def _in_chunks(
    mapped: Any, in_dims: Any, out_dims: Any, size: int, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """`mapped`, on so many examples at a time."""
    leaves, structure = tree.flatten(args)
    dims = vectorize.broadcast_axes("in_axes", tuple(in_dims) if isinstance(in_dims, list) else in_dims, args)
    total = next(x.shape[d] for x, d in zip(leaves, dims, strict=True) if d is not None)
    if size < 1:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {size})")
    outs = []
    for start in range(0, total, size):
        part = [x if d is None else _narrowed(x, d, start, size) for x, d in zip(leaves, dims, strict=True)]
        outs.append(mapped(*tree.unflatten(structure, part), **kwargs))
    out_axes = vectorize.broadcast_axes("out_axes", out_dims, outs[0])
    flat = [tree.flatten(out)[0] for out in outs]
    joined = [
        parts[0] if d is None else np.concatenate(parts, d)
        for parts, d in zip(zip(*flat, strict=True), out_axes, strict=True)
    ]
    return tree.unflatten(tree.flatten(outs[0])[1], joined)


def _narrowed(x: Any, dim: int, start: int, size: int) -> Any:
    return x[(*[slice(None)] * (dim % x.ndim), slice(start, start + size))]


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: Any = None, **options: Any
) -> Any:
    """Call a module with other parameters and buffers: see torch.nn.utils.stateless.functional_call."""
    from funcgrad.torch.nn.utils import stateless

    return stateless.functional_call(module, parameter_and_buffer_dicts, args, kwargs, **options)


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and buffers of several modules of one kind, stacked."""
    from funcgrad.torch.functions.join import stack

    check_models(models)

    def stacked(kind: str) -> dict[str, Tensor]:
        found = [dict(getattr(m, kind)()) for m in models]
        for name, first in found[0].items():
            if any(each[name].requires_grad is not first.requires_grad for each in found):
                raise RuntimeError(
                    f"stack_module_state: Expected {name} from each model to have the same .requires_grad"
                )
        return {
            name: stack([each[name].detach() for each in found]).requires_grad_(first.requires_grad)
            for name, first in found[0].items()
        }

    return stacked("named_parameters"), stacked("named_buffers")
