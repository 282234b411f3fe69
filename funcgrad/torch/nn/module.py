"""Module: a function with parameters."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from funcgrad.torch.hooks import RemovableHandle
from funcgrad.torch.modes import no_grad
from funcgrad.torch.nn.parameter import Parameter
from funcgrad.torch.tensor import Tensor

_PLACES = ("_parameters", "_buffers", "_modules")


class _IncompatibleKeys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Module:
    """Base of layers and models: assign parameters and modules as attributes, define `forward`, call the module.

    >>> import funcgrad.torch as torch
    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.ones(()))
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> Scale()(torch.tensor(2.0))
    tensor(2., grad_fn=<MulBackward0>)
    """

    training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name in (*_PLACES, "_forward_hooks", "_forward_pre_hooks", "_backward_hooks"):
            object.__setattr__(self, name, OrderedDict())
        self.training = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (self._forward_hooks or self._forward_pre_hooks or self._backward_hooks):
            return self.forward(*args, **kwargs)
        for hook in tuple(self._forward_pre_hooks.values()):
            found = hook(self, args)
            if found is not None:
                args = found if isinstance(found, tuple) else (found,)
        if self._backward_hooks:
            from funcgrad.torch.nn.hooks import call_with_backward_hooks

            out = call_with_backward_hooks(self, args, kwargs)
        else:
            out = self.forward(*args, **kwargs)
        for hook in tuple(self._forward_hooks.values()):
            found = hook(self, args, out)
            if found is not None:
                out = found
        return out

    # ---- attributes --------------------------------------------------------------------------------------------------
    def __setattr__(self, name: str, value: Any) -> None:
        places = self.__dict__
        place = "_parameters" if isinstance(value, Parameter) else "_modules" if isinstance(value, Module) else None
        if place is not None:
            if place not in places:
                what = "parameters" if place == "_parameters" else "module"
                raise AttributeError(f"cannot assign {what} before Module.__init__() call")
            for other in _PLACES:
                places[other].pop(name, None)
            places.pop(name, None)
            places[place][name] = value
        elif name in places.get("_parameters", ()):
            if value is not None:
                found = value.type() if isinstance(value, Tensor) else type(value).__name__
                raise TypeError(f"cannot assign '{found}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            places["_parameters"][name] = None
        elif name in places.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            places["_modules"][name] = None
        elif name in places.get("_buffers", ()):
            places["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        for place in _PLACES:
            found = self.__dict__.get(place)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for place in _PLACES:
            if name in self.__dict__[place]:
                del self.__dict__[place][name]
                return
        object.__delattr__(self, name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter (or None, as the place for one)."""
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter."""
        self._buffers[name] = tensor
        if not persistent:
            self.__dict__.setdefault("_transient", set()).add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a child."""
        self._modules[name] = module

    add_module = register_module

    # ---- walks -------------------------------------------------------------------------------------------------------
    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, with their names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def _named(self, place: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        seen = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, found in module.__dict__[place].items():
                if found is not None and id(found) not in seen:
                    seen.add(id(found))
                    yield f"{path}.{name}" if path else name, found

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters, with their names."""
        return self._named("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """The buffers, with their names."""
        return self._named("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct children, with their names."""
        return ((name, m) for name, m in self._modules.items() if m is not None)

    def children(self) -> Iterator[Module]:
        """The direct children."""
        return (m for _, m in self.named_children())

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        return (m for _, m in self.named_modules())

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path."""
        found = self
        for name in target.split(".") if target else []:
            found = getattr(found, name)
        return found

    # ---- state -------------------------------------------------------------------------------------------------------
    def train(self, mode: bool = True) -> Any:
        """Set training mode, here and below."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Any:
        """Set evaluation mode, here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Record (or do not record) operations on the parameters."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        for p in self.parameters():
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad.detach_().zero_()

    def apply(self, fn: Callable[[Module], Any]) -> Any:
        """Call `fn` on all modules below, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _converted(self, change: Callable[[Tensor], Tensor]) -> Any:
        for p in self.parameters():
            p.data = change(p.data)
            if p.grad is not None:
                p.grad.data = change(p.grad.data)
        for module in self.modules():
            for name, b in module._buffers.items():
                if b is not None:
                    module._buffers[name] = change(b)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert parameters and buffers of floating dtypes."""
        return self._converted(lambda t: t.to(*args, **kwargs) if t.is_floating_point() or t.is_complex() else t)

    def float(self) -> Any:
        """Convert to float32."""
        return self._converted(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Any:
        """Convert to float64."""
        return self._converted(lambda t: t.double() if t.is_floating_point() else t)

    def cpu(self) -> Any:
        """Where it is already."""
        return self

    def state_dict(self, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and buffers by name; they share memory with the module."""
        found = OrderedDict() if destination is None else destination
        for name, p in self._parameters.items():
            if p is not None:
                found[prefix + name] = p if keep_vars else p.detach()
        for name, b in self._buffers.items():
            if b is not None and name not in self.__dict__.get("_transient", ()):
                found[prefix + name] = b if keep_vars else b.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(found, f"{prefix}{name}.", keep_vars)
        return found

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> _IncompatibleKeys:
        """Copy values into parameters and buffers. Raises RuntimeError for missing or unexpected keys and sizes that differ."""
        own = self.state_dict(keep_vars=True)
        missing = [k for k in own if k not in state_dict]
        unexpected = [k for k in state_dict if k not in own]
        errors = []
        if strict and unexpected:
            errors.append(f"Unexpected key(s) in state_dict: {', '.join(f'{chr(34)}{k}{chr(34)}' for k in unexpected)}. ")
        if strict and missing:
            errors.append(f"Missing key(s) in state_dict: {', '.join(f'{chr(34)}{k}{chr(34)}' for k in missing)}. ")
        for k, v in own.items():
            if k in state_dict and tuple(state_dict[k].shape) != tuple(v.shape):
                errors.append(
                    f"size mismatch for {k}: copying a param with shape {state_dict[k].shape} from checkpoint, the shape in "
                    "current model is "
                    f"{v.shape}."
                )
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        with no_grad():
            for k, v in own.items():
                if k in state_dict:
                    v.copy_(state_dict[k])
        return _IncompatibleKeys(missing, unexpected)

    # ---- hooks -------------------------------------------------------------------------------------------------------
    def register_forward_hook(self, hook: Callable[..., Any], **_: Any) -> RemovableHandle:
        """Call hook(module, args, output) after each forward; what it returns takes the output's place."""
        return RemovableHandle(self._forward_hooks, hook)

    def register_forward_pre_hook(self, hook: Callable[..., Any], **_: Any) -> RemovableHandle:
        """Call hook(module, args) before each forward; what it returns takes the arguments' place."""
        return RemovableHandle(self._forward_pre_hooks, hook)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) in each backward; what it returns takes grad_input's place."""
        return RemovableHandle(self._backward_hooks, hook)

    # ---- text --------------------------------------------------------------------------------------------------------
    def extra_repr(self) -> str:
        """The settings, for the repr."""
        return ""

    def __repr__(self) -> str:
        lines = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [f"({name}): " + repr(m).replace("\n", "\n  ") for name, m in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{type(self).__name__}({''.join(lines)})"
        return f"{type(self).__name__}(\n  " + "\n  ".join(lines + children) + "\n)"
