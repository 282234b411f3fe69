"""torch.autograd.functional: vjp, jvp, jacobian, hessian, hvp, vhp of a function of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from funcgrad.torch.func import grad as gradient_of
from funcgrad.torch.func import jacfwd
from funcgrad.torch.functions.creation import eye, ones_like, zeros_like
from funcgrad.torch.functions.join import stack
from funcgrad.torch.graph import modes
from funcgrad.torch.graph.backward import grad
from funcgrad.torch.tensors.tensor import Tensor


def _as_inputs(inputs: Any, what: str, who: str) -> tuple[bool, tuple[Tensor, ...]]:
    if isinstance(inputs, Tensor):
        return False, (inputs,)
    if not isinstance(inputs, tuple):
        raise TypeError(
            f"The {what} given to {who} must be either a Tensor or a tuple of Tensors but the given {what} has type "
            f"{type(inputs)}."
        )
    for i, x in enumerate(inputs):
        if not isinstance(x, Tensor):
            raise TypeError(
                f"The {what} given to {who} must be either a Tensor or a tuple of Tensors but the value at index {i} has "
                f"type {type(x)}."
            )
    return True, inputs


def _fresh(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    if create_graph:
        return tuple(x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in inputs)
    return tuple(x.detach().requires_grad_() for x in inputs)


def _finished(found: Any, many: bool, create_graph: bool) -> Any:
    found = tuple(x if create_graph or not isinstance(x, Tensor) else x.detach() for x in found)
    return found if many else found[0]


def _gradients(
    outs: Any, ins: tuple[Tensor, ...], v: Any, create_graph: bool, strict: bool, who: str
) -> list[Tensor]:
    """The gradients, zeros where an input does not matter."""
    used = [(o, g) for o, g in zip(outs, v, strict=True) if o.requires_grad]
    if strict and len(used) < len(outs):
        independent = next(i for i, o in enumerate(outs) if not o.requires_grad)
        raise RuntimeError(
            f"Output {independent} of the user-provided function does not require gradients. The outputs must be computed in a "
            "differentiable manner from the input when running in strict mode."
        )
    if not used:
        return [zeros_like(x) for x in ins]
    found = grad(
        [o for o, _ in used],
        ins,
        [g for _, g in used],
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
    )
    for i, g in enumerate(found):
        if g is None and strict:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {i}. This is not allowed in strict mode."
            )
    return [zeros_like(x) if g is None else g for x, g in zip(ins, found, strict=True)]


def _directions(v: Any, like: tuple[Tensor, ...], who: str, what: str) -> tuple[Tensor, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if {what} a single Tensor with a single element."
            )
        return (ones_like(like[0]),)
    found = _as_inputs(v, "v", who)[1]
    if len(found) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(found)}.")
    for i, (a, b) in enumerate(zip(found, like, strict=True)):
        if a.shape != b.shape:
            raise RuntimeError(f"Entry {i} in v has invalid size: should be {b.shape} but got {a.shape}.")
    return found


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(outputs, v times the Jacobian), in the structure of `inputs`."""
    with modes.enable_grad():
        many, given = _as_inputs(inputs, "inputs", "vjp")
        ins = _fresh(given, create_graph)
        out_many, outs = _as_inputs(func(*ins), "outputs of the user-provided function", "vjp")
        found = _gradients(
            outs,
            ins,
            _directions(v, outs, "vjp", "the user-provided function returns"),
            create_graph,
            strict,
            "vjp",
        )
    return _finished(outs, out_many, create_graph), _finished(found, many, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(outputs, the Jacobian times v), in the structure of the outputs: the derivative of vjp in its own v."""
    with modes.enable_grad():
        _, given = _as_inputs(inputs, "inputs", "jvp")
        ins = _fresh(given, create_graph)
        directions = _directions(v, ins, "jvp", "the input to the user-provided function is")
        out_many, outs = _as_inputs(func(*ins), "outputs of the user-provided function", "jvp")
        duals = tuple(zeros_like(o).requires_grad_() for o in outs)
        pulled = _gradients(outs, ins, duals, True, strict, "jvp")
        found = _gradients(pulled, duals, directions, create_graph, False, "jvp")
    return _finished(outs, out_many, create_graph), _finished(found, out_many, create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The Jacobian: for each output (outside) and input (inside) a tensor, output.shape + input.shape."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            f'Expected strategy to be either "forward-mode" or "reverse-mode". Got {strategy}.'
        )
    if strategy == "forward-mode":
        return _pushed(func, inputs, create_graph, strict, vectorize)
    with modes.enable_grad():
        many, given = _as_inputs(inputs, "inputs", "jacobian")
        ins = _fresh(given, create_graph)
        out_many, outs = _as_inputs(func(*ins), "outputs of the user-provided function", "jacobian")
        if vectorize and strict:
            raise RuntimeError(_NOT_STRICT)
        rows = _rows_at_once if vectorize else _rows
        blocks = tuple(rows(o, ins, create_graph, strict) for o in outs)
    found = tuple(_finished(block, many, create_graph) for block in blocks)
    return found if out_many else found[0]


def _rows(out: Tensor, ins: tuple[Tensor, ...], create_graph: bool, strict: bool) -> list[Tensor]:
    rows = []
    flat = out.reshape(-1)
    for k in range(out.numel()):
        element = flat[k]
        rows.append(_gradients([element], ins, [ones_like(element)], create_graph, strict, "jacobian"))
    if not rows:
        return [zeros_like(x).expand(*out.shape, *x.shape) for x in ins]
    return [stack([row[i] for row in rows]).reshape(*out.shape, *x.shape) for i, x in enumerate(ins)]


_NOT_STRICT = (
    "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either "
    "set `strict=False` or `vectorize=False`."
)


def _rows_at_once(out: Tensor, ins: tuple[Tensor, ...], create_graph: bool, strict: bool) -> list[Tensor]:
    """All rows in one sweep, for a batch of cotangents."""
    if not out.requires_grad or not out.numel():
        return _rows(out, ins, create_graph, strict)
    seeds = eye(out.numel(), dtype=out.dtype).reshape(out.numel(), *out.shape)
    found = grad([out], ins, [seeds], True, create_graph, allow_unused=True, is_grads_batched=True)
    parts = [
        zeros_like(x).expand(out.numel(), *x.shape) if g is None else g
        for x, g in zip(ins, found, strict=True)
    ]
    return [g.reshape(*out.shape, *x.shape) for x, g in zip(ins, parts, strict=True)]


def _pushed(func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    """The Jacobian by forward mode, all columns at once."""
    if create_graph:
        raise NotImplementedError(
            'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together '
            '(yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together (yet). '
            'Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."
        )
    many, given = _as_inputs(inputs, "inputs", "jacobian")
    out_many, _ = _as_inputs(func(*given), "outputs of the user-provided function", "jacobian")
    found = jacfwd(func, argnums=tuple(range(len(given))))(*given)
    blocks = found if out_many else (found,)
    shown = tuple(block if many else block[0] for block in blocks)
    return shown if out_many else shown[0]


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The Hessian of a function with one output of one element."""
    many, given = _as_inputs(inputs, "inputs", "hessian")

    def gradient(*ins: Tensor) -> Any:
        # of the duals that are pushed, autograd.grad knows nothing
        if outer_jacobian_strategy == "forward-mode":
            return gradient_of(lambda *xs: _single(func(*xs), "hessian"), argnums=tuple(range(len(ins))))(
                *ins
            )
        out = _single(func(*ins), "hessian")
        fresh = tuple(x for x in ins)
        return tuple(_gradients([out], fresh, [ones_like(out)], True, strict, "hessian"))

    found = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if many else found[0][0]


def _single(out: Any, who: str) -> Tensor:
    if not isinstance(out, Tensor):
        raise RuntimeError(f"The function given to {who} should return a single Tensor")
    if out.numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {who} should contain a single element"
        )
    return out.reshape(()) if out.ndim else out


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(output, the Hessian times v)."""
    return vhp(func, inputs, v, create_graph, strict)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(output, v times the Hessian)."""
    with modes.enable_grad():
        many, given = _as_inputs(inputs, "inputs", "vhp")
        ins = _fresh(given, create_graph)
        directions = _directions(v, ins, "vhp", "the input to the user-provided function is")
        out = _single(func(*ins), "vhp")
        first = _gradients([out], ins, [ones_like(out)], True, strict, "vhp")
        found = _gradients(first, ins, directions, create_graph, strict, "vhp")
    return (out if create_graph else out.detach()), _finished(found, many, create_graph)
