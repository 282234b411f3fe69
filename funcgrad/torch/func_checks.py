"""What torch.func's transforms refuse, in PyTorch's words: arguments, outputs and aux that they cannot take."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from funcgrad.core.engine.trace import Tracer
from funcgrad.torch.graph import modes
from funcgrad.torch.graph.captured import guarded
from funcgrad.torch.graph.saved import disable_saved_tensors_hooks
from funcgrad.torch.tensors.tensor import Tensor

VJP, JVP = "vjp(f, *primals)", "jvp(f, primals, tangents)"
NO_HOOKS = (
    "torch.func transforms don't yet support saved tensor hooks. Leave the context manager of the hooks (save_on_cpu, "
    "saved_tensors_hooks) before the transform, or use torch.autograd.grad."
)
INSTEAD = "Numbers and text go around the function: return tensors, or write torch.tensor(x)."


def placed(argnums: Any, count: int, who: str) -> tuple[int, ...]:
    """The positions that `argnums` names among `count` arguments. RuntimeError for none, missing or twice."""
    if isinstance(argnums, bool) or not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"{who}: argnums must be int or Tuple[int, ...], got: {type(argnums).__name__}")
    where = (argnums,) if isinstance(argnums, int) else argnums
    if not where:
        raise RuntimeError(f"{who}: argnums must be non-empty, for example argnums=0")
    for i in where:
        if isinstance(i, bool) or not isinstance(i, int):
            raise RuntimeError(f"{who}: each of argnums must be int, got {i!r} ({type(i).__name__})")
        if not -count <= i < count:
            raise RuntimeError(
                f"{who}: argnums={argnums} asks for positional argument {i}, but only {count} positional inputs were given"
            )
    found = tuple(i % count for i in where)
    if len(set(found)) < len(found):
        raise RuntimeError(f"{who}: the entries of argnums must be unique, got {argnums}")
    return found


def _leaves(x: Any) -> list[Any]:
    """Tensors, and whatever else is no list, tuple or dict. (For the engine's trees a tensor is a container.)"""
    if x is None:
        return []
    if isinstance(x, (list, tuple)):
        return [leaf for part in x for leaf in _leaves(part)]
    return [leaf for part in x.values() for leaf in _leaves(part)] if isinstance(x, dict) else [x]


def _shape_of(x: Any) -> Any:
    """The structure of lists, tuples and dicts, without their leaves."""
    if isinstance(x, (list, tuple)):
        return (type(x), [_shape_of(part) for part in x])
    return {key: _shape_of(part) for key, part in x.items()} if isinstance(x, dict) else None


def check_output(out: Any, call: str) -> None:
    """RuntimeError unless `out` has tensors for leaves, and some."""
    leaves = _leaves(out)
    if not leaves:
        raise RuntimeError(
            f"{call}: Expected f to be a function that has non-empty output (got {out!r}). Does f return its result?"
        )
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{call}: expected f(*primals) to return only tensors, got unsupported type {type(leaf).__name__}. {INSTEAD}"
            )


def checked(
    function: Callable[..., Any], call: str, *, has_aux: bool = False, check: Any = check_output
) -> Callable[..., Any]:
    """`function`, for a transform whose call is `call`: RuntimeError for outputs that PyTorch refuses."""
    guarded_function = guarded(function)

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with nullcontext() if call is JVP else _without_hooks():
            out = guarded_function(*args, **kwargs)
        if has_aux:
            if not (type(out) is tuple and len(out) == 2):
                raise RuntimeError(
                    f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True"
                )
            for leaf in _leaves(out[1]):
                if not isinstance(leaf, Tensor):
                    raise RuntimeError(
                        f"{call}: Expected tensors, got unsupported type {type(leaf).__name__} in aux. {INSTEAD}"
                    )
        if check is not None:
            check(out[0] if has_aux else out, call)
        return out

    return run


def _without_hooks() -> AbstractContextManager[Any]:
    """Saved tensor hooks are refused in here; RuntimeError if there are some."""
    hooks = modes.mode().saved_hooks
    if hooks and not isinstance(hooks[-1], str):
        raise RuntimeError(NO_HOOKS)
    return disable_saved_tensors_hooks(NO_HOOKS)


def check_tangents(primals: Any, tangents: Any) -> None:
    """RuntimeError unless these are tuples of tensors of one structure."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{JVP}: Expected primals to be a tuple, got {type(primals).__name__}. For a single argument write (x,)."
        )
    ins, others = _leaves(primals), _leaves(tangents)
    if _shape_of(primals) != _shape_of(tangents):
        raise RuntimeError(
            f"{JVP}: Expected primals and tangents to have the same python structure, got {len(ins)} and {len(others)} "
            f"tensors in a {type(primals).__name__} and a {type(tangents).__name__}"
        )
    if not ins:
        raise RuntimeError(f"{JVP}: Expected at least one Tensor among the primals")
    for what, leaves in (("primals", ins), ("tangents", others)):
        for leaf in leaves:
            if not isinstance(leaf, Tensor):
                raise RuntimeError(
                    f"{JVP}: Expected {what} to only contain Tensors, got {type(leaf).__name__}. Write torch.tensor(x)."
                )


def depending(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, for jvp(strict=True): RuntimeError for an output that does not depend on the primals."""

    @functools.wraps(function)
    def run(*args: Any) -> Any:
        trace = max((x.value._trace for x in _leaves(args)), key=lambda t: t.level)
        out = function(*args)
        for leaf in _leaves(out):
            if isinstance(leaf, Tensor) and not (
                isinstance(leaf.value, Tracer) and leaf.value._trace is trace
            ):
                raise RuntimeError(
                    f"{JVP}: an output does not depend on any of the primals, which is not allowed in strict mode (strict=True)"
                )
        return out

    return run


def check_real(tensors: Any, who: str, what: str) -> None:
    """RuntimeError for complex numbers in a Jacobian."""
    for leaf in _leaves(tensors):
        if isinstance(leaf, Tensor) and leaf.value.dtype.kind == "c":
            raise RuntimeError(
                f"{who}: Expected all {what} to be real but received complex tensor: the Jacobian of complex numbers has no "
                "agreed meaning. Stack the real and imaginary parts (torch.view_as_real)."
            )


def check_models(models: Any, who: str = "stack_module_state") -> None:
    """RuntimeError unless these modules can be stacked: some, of one class, in one mode."""
    if not models:
        raise RuntimeError(f"{who}: Expected at least one model, got 0.")
    if any(m.training is not models[0].training for m in models):
        raise RuntimeError(f"{who}: Expected all models to have the same training/eval mode.")
    kinds = {type(m).__name__ for m in models}
    if len({type(m) for m in models}) > 1:
        raise RuntimeError(f"{who}: Expected all models to be of the same class, got {sorted(kinds)}.")
