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


# What is said, in strict mode, of a result without a graph: of outputs, and of gradients that are differentiated again.
_NO_GRAPH = {
    "output": "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
    "gradient": "The jacobian of the user-provided function with respect to input {} is independent of the inputs. This is "
    "not allowed in strict mode.",
}
_INDEPENDENT = (
    "The output of the user-provided function is independent of input {}. This is not allowed in strict mode."
)


def _gradients(
    outs: Any,
    ins: tuple[Tensor, ...],
    v: Any,
    create_graph: bool,
    strict: bool,
    kind: str = "output",
    independent: str = _INDEPENDENT,
) -> list[Tensor]:
    """The gradients, zeros where an input does not matter."""
    used = [(o, g) for o, g in zip(outs, v, strict=True) if o.requires_grad]
    if strict and len(used) < len(outs):
        raise RuntimeError(_NO_GRAPH[kind].format(next(i for i, o in enumerate(outs) if not o.requires_grad)))
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
            raise RuntimeError(independent.format(i))
    return [zeros_like(x) if g is None else g for x, g in zip(ins, found, strict=True)]


def _check_depends(found: Any, create_graph: bool, strict: bool) -> None:
    """RuntimeError for a derivative that has no derivative, where that was asked for."""
    for i, g in enumerate(found):
        if strict and create_graph and not g.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode "
                "when create_graph=True."
            )


def _directions(
    v: Any, like: tuple[Tensor, ...], who: str, what: str, *, many: bool = True
) -> tuple[Tensor, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if {what} a single Tensor with a single element."
            )
        return (ones_like(like[0]),)
    found = _as_inputs(v, "v", who)[1]
    if len(found) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(found)}."
            if many
            else f"The given v should contain a single Tensor. It has {len(found)}."
        )
    for i, (a, b) in enumerate(zip(found, like, strict=True)):
        if a.shape != b.shape:
            entry = f"Entry {i} in v" if many else "v"
            raise RuntimeError(f"{entry} has invalid size: should be {b.shape} but got {a.shape}.")
    return found


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(outputs, v times the Jacobian), in the structure of `inputs`."""
    with modes.enable_grad():
        many, given = _as_inputs(inputs, "inputs", "vjp")
        ins = _fresh(given, create_graph)
        out_many, outs = _as_inputs(func(*ins), "outputs of the user-provided function", "vjp")
        directions = _directions(v, outs, "vjp", "the user-provided function returns", many=out_many)
        found = _gradients(outs, ins, directions, create_graph, strict)
        _check_depends(found, create_graph, strict)
    return _finished(outs, out_many, create_graph), _finished(found, many, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(outputs, the Jacobian times v), in the structure of the outputs: the derivative of vjp in its own v."""
    with modes.enable_grad():
        many, given = _as_inputs(inputs, "inputs", "jvp")
        ins = _fresh(given, create_graph)
        directions = _directions(v, ins, "jvp", "the input to the user-provided function is", many=many)
        out_many, outs = _as_inputs(func(*ins), "outputs of the user-provided function", "jvp")
        duals = tuple(zeros_like(o).requires_grad_() for o in outs)
        pulled = _gradients(outs, ins, duals, True, strict)
        found = _gradients(pulled, duals, directions, create_graph, False)
        _check_depends(found, create_graph, strict)
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
    return _swept(func, inputs, create_graph, strict, vectorize, "output")


def _swept(
    func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool, kind: str
) -> Any:
    """The Jacobian by reverse mode, of outputs or of gradients."""
    with modes.enable_grad():
        many, given = _as_inputs(inputs, "inputs", "jacobian")
        ins = _fresh(given, create_graph)
        out_many, outs = _as_inputs(func(*ins), "outputs of the user-provided function", "jacobian")
        if vectorize and strict:
            raise RuntimeError(_NOT_STRICT)
        if strict and (without := [k for k, o in enumerate(outs) if not o.requires_grad]):
            raise RuntimeError(_NO_GRAPH[kind].format(without[0]))
        if vectorize:
            blocks = tuple(_rows_at_once(o, ins, create_graph) for o in outs)
        else:
            blocks = tuple(_rows(o, ins, create_graph, strict, k) for k, o in enumerate(outs))
    found = tuple(_finished(block, many, create_graph) for block in blocks)
    return found if out_many else found[0]


def _rows(out: Tensor, ins: tuple[Tensor, ...], create_graph: bool, strict: bool, k: int) -> list[Tensor]:
    rows = []
    flat = out.reshape(-1)
    independent = f"Output {k} of the user-provided function is independent of input {{}}. This is not allowed in strict mode."
    for j in range(out.numel()):
        element = flat[j]
        seed = [ones_like(element)]
        found = _gradients([element], ins, seed, create_graph, strict, independent=independent)
        _check_depends(found, create_graph, strict)
        rows.append(found)
    if not rows:
        return [zeros_like(x).expand(*out.shape, *x.shape) for x in ins]
    return [stack([row[i] for row in rows]).reshape(*out.shape, *x.shape) for i, x in enumerate(ins)]


_NOT_STRICT = (
    "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either "
    "set `strict=False` or `vectorize=False`."
)


def _rows_at_once(out: Tensor, ins: tuple[Tensor, ...], create_graph: bool) -> list[Tensor]:
    """All rows in one sweep, for a batch of cotangents."""
    if not out.requires_grad or not out.numel():
        return _rows(out, ins, create_graph, False, 0)
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
        if strict and not out.requires_grad:
            raise RuntimeError(_NO_GRAPH["output"].format(0))
        return tuple(_gradients([out], ins, [ones_like(out)], True, False))

    if outer_jacobian_strategy == "reverse-mode":
        found = _swept(gradient, given, create_graph, strict, vectorize, "gradient")
    else:
        found = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if many else found[0][0]


def _single(out: Any, who: str) -> Tensor:
    if _as_inputs(out, "outputs of the user-provided function", who)[0]:
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
    return _times_hessian(func, inputs, v, create_graph, strict, "hvp")


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """(output, v times the Hessian)."""
    return _times_hessian(func, inputs, v, create_graph, strict, "vhp")


def _times_hessian(
    func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool, who: str
) -> tuple[Any, Any]:
    """By a sweep over a sweep: the Hessian is symmetric."""
    with modes.enable_grad():
        many, given = _as_inputs(inputs, "inputs", who)
        ins = _fresh(given, create_graph)
        directions = _directions(v, ins, who, "the input to the user-provided function is", many=many)
        out = _single(func(*ins), who)
        first = _gradients([out], ins, [ones_like(out)], True, strict)
        found = _gradients(first, ins, directions, create_graph, strict, "gradient")
    return (out if create_graph else out.detach()), _finished(found, many, create_graph)
