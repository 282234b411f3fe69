"""Module: a function with parameters, buffers, children and hooks.

module_state.py   state_dict, load_state_dict
module_hooks.py   what hooks around forward, and around the gradients of inputs and outputs, do to a call
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Self

from funcgrad.torch.functions import creation
from funcgrad.torch.graph.hooks import RemovableHandle
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn.module_hooks import call_with_hooks, registered
from funcgrad.torch.nn.module_state import StateDicts
from funcgrad.torch.nn.parameter import Buffer, Parameter
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor

_HOOKS = (
    "_backward_pre_hooks _backward_hooks _forward_hooks _forward_hooks_with_kwargs _forward_hooks_always_called "
    "_forward_pre_hooks _forward_pre_hooks_with_kwargs _state_dict_hooks _state_dict_pre_hooks "
    "_load_state_dict_pre_hooks _load_state_dict_post_hooks"
)
_PLACES = ("_parameters", "_buffers", "_modules")


class Module(StateDicts):
    """Base of layers and models: assign parameters and modules as attributes, define `forward`, call the
    module.

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
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _forward_hooks: OrderedDict[int, Any]
    _forward_hooks_with_kwargs: OrderedDict[int, Any]
    _forward_hooks_always_called: OrderedDict[int, Any]
    _forward_pre_hooks: OrderedDict[int, Any]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, Any]
    _backward_hooks: OrderedDict[int, Any]
    _backward_pre_hooks: OrderedDict[int, Any]
    # does __init__ pass on its arguments, to a class after Module in the order of bases?
    call_super_init: ClassVar[bool] = False
    settings: ClassVar[tuple[str, ...]] = ()  # the attributes that the repr shows, as name=value

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
            )
        if kwargs and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
            )
        _prepare(self)
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; every subclass defines it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks:
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    # ---- text --------------------------------------------------------------------------------------------------------
    def extra_repr(self) -> str:
        """The settings, for the repr."""
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.settings)

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"

    # ---- attributes ----------------------------------------------------------------------------------------
    def __setattr__(self, name: str, value: Any) -> None:
        places = self.__dict__
        if isinstance(value, Parameter):
            _put(places, "_parameters", name, value, "parameters")
        elif name in places.get("_parameters", ()):
            if value is not None:
                found = value.type() if isinstance(value, Tensor) else _type_name(value)
                raise TypeError(
                    f"cannot assign '{found}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            _put(places, "_modules", name, value, "module")
        elif name in places.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            places["_modules"][name] = None
        elif isinstance(value, Buffer) or name in places.get("_buffers", ()):
            self._put_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _put_buffer(self, name: str, value: Any) -> None:
        places = self.__dict__
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if "_buffers" not in places:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        if name in places["_buffers"]:
            places["_buffers"][name] = value
            return
        places.pop(name, None)
        self.register_buffer(name, value, getattr(value, "persistent", True))

    def __getattr__(self, name: str) -> Any:
        places = self.__dict__
        for place in _PLACES:
            found = places.get(place)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        for place in _PLACES:
            if name in self.__dict__[place]:
                del self.__dict__[place][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = [*object.__dir__(self), *self._parameters, *self._modules, *self._buffers]
        return sorted({name for name in names if not name[0].isdigit()})

    # ---- by name -----------------------------------------------------------------------------------------------------
    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter (or None, as the place for one).

        Raises AttributeError before Module.__init__, KeyError for a name that is empty, dotted or taken,
        TypeError for what is no Parameter, ValueError for one that was computed.
        """
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        _check_name(self, "parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To express "
                f"'{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter; one that is not persistent is left out of the
        state_dict.

        Raises AttributeError before Module.__init__, KeyError for a name that is empty, dotted or taken,
        TypeError.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name(self, "buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a child. TypeError for what is no module, KeyError for an empty, dotted or taken name."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        if not isinstance(name, str):
            raise TypeError(f"module name should be a string. Got {_type_name(name)}")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'module name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError('module name can\'t be empty string ""')
        self._modules[name] = module

    def register_module(self, name: str, module: Any) -> None:
        """Another name of add_module."""
        self.add_module(name, module)

    # ---- what is below -------------------------------------------------------------------------------------
    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, with their dotted names; each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(
                    memo, f"{prefix}.{name}" if prefix else name, remove_duplicate
                )

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            for name, found in get_members_fn(module):
                if found is None or id(found) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(found))
                yield f"{path}.{name}" if path else name, found

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters, with their dotted names."""
        return self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters."""
        return (p for _, p in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers, with their dotted names."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers."""
        return (b for _, b in self.named_buffers(recurse=recurse))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct children, with their names; each once."""
        seen: set[Any] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The direct children."""
        return (module for _, module in self.named_children())

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        return (module for _, module in self.named_modules())

    # ---- by path -----------------------------------------------------------------------------------------------------
    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path; "" is this one. Raises AttributeError where there is none."""
        found: Any = self
        for name in target.split(".") if target else []:
            if not hasattr(found, name):
                raise AttributeError(f"{found._get_name()} has no attribute `{name}`")
            below = getattr(found, name)
            if not isinstance(below, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
            found = below
        return found

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` at a dotted path; with strict=True only where there is one already."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path. Raises AttributeError where there is none."""
        found = self._member(target)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path. Raises AttributeError where there is none."""
        found = self._member(target)
        path, _, name = target.rpartition(".")
        if name not in self.get_submodule(path)._buffers and not isinstance(found, Buffer):
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def _member(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        return getattr(owner, name)

    # ---- hooks ---------------------------------------------------------------------------------------------
    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call hook(module, args, output) after each forward; what it returns (if not None) takes the
        output's place.

        with_kwargs: it is called as hook(module, args, kwargs, output). prepend: before the other hooks.
        always_call: also where forward raised an exception.
        """
        marks = [self._forward_hooks_with_kwargs] * with_kwargs + [
            self._forward_hooks_always_called
        ] * always_call
        return registered(self._forward_hooks, hook, prepend, marks)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call hook(module, args) before each forward; what it returns (if not None) takes the arguments'
        place.

        with_kwargs: it is called as hook(module, args, kwargs), and returns None or (args, kwargs).
        """
        return registered(
            self._forward_pre_hooks, hook, prepend, [self._forward_pre_hooks_with_kwargs] * with_kwargs
        )

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) per backward; its result, if any, is grad_input then."""
        return registered(self._backward_hooks, hook, prepend, [])

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call hook(module, grad_output) before the module's backward; its result, if any, replaces that."""
        return registered(self._backward_pre_hooks, hook, prepend, [])

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The old backward hook, which PyTorch advises against: here register_full_backward_hook."""
        return self.register_full_backward_hook(hook)

    # ---- changes to all that is below ----------------------------------------------------------------------
    def train(self, mode: bool = True) -> Self:
        """Set training mode, here and below. Raises ValueError for what is no bool."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode, here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Record (or do not record) operations on the parameters."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients; with set_to_none=False, fill them with zeros."""
        for p in self.parameters():
            if set_to_none:
                p.grad = None
            elif p.grad is not None:
                p.grad = p.grad.detach() if p.grad.grad_fn is not None else p.grad
                p.grad.requires_grad_(False)
                p.grad.zero_()

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Call `fn` on all modules below, then on this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Put fn(tensor) in place of parameters, gradients and buffers; parameters stay the same objects."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        with no_grad():
            for p in self._parameters.values():
                if p is not None:
                    grad, p.data = p.grad, fn(p.data)
                    p.grad = None if grad is None else fn(grad.data).requires_grad_(grad.requires_grad)
            for name, b in self._buffers.items():
                if b is not None:
                    self._buffers[name] = fn(b)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert parameters and buffers of floating and complex dtypes: to(dtype), to(device), to(device,
        dtype), to(tensor).

        Raises TypeError for a dtype that is neither floating nor complex.
        """
        wanted = kwargs.get("dtype")
        for x in args:
            wanted = x.dtype if isinstance(x, Tensor) else x if isinstance(x, dtypes.dtype) else wanted
        if wanted is None:
            return self._apply(lambda t: t.to(*args, **kwargs))
        if not (wanted.is_floating_point or wanted.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={wanted}"
            )
        return self._converted(wanted)

    def _converted(self, wanted: Any) -> Self:
        return self._apply(lambda t: t.to(wanted) if t.is_floating_point() or t.is_complex() else t)

    def type(self, dst_type: Any) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Convert parameters and buffers of floating dtypes to float32."""
        return self._floating("float32")

    def double(self) -> Self:
        """Convert parameters and buffers of floating dtypes to float64."""
        return self._floating("float64")

    def half(self) -> Self:
        """Convert parameters and buffers of floating dtypes to float16."""
        return self._floating("float16")

    def _floating(self, name: str) -> Self:
        wanted = dtypes.of(name)
        return self._apply(lambda t: t.to(wanted) if t.is_floating_point() else t)

    def cpu(self) -> Self:
        """Where it is already."""
        return self

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Give all parameters and buffers new memory, whose content does not matter."""
        return self._apply(lambda t: creation.empty_like(t, device=device), recurse=recurse)

    def share_memory(self) -> Self:
        """Nothing to do: threads share memory anyhow."""
        return self


def _prepare(module: Any) -> None:
    """The empty places of a new module."""
    places = module.__dict__
    places["training"] = True
    places["_parameters"], places["_buffers"], places["_modules"] = {}, {}, {}
    places["_non_persistent_buffers_set"] = set()
    for name in _HOOKS.split():
        places[name] = OrderedDict()


def _put(places: dict[str, Any], place: str, name: str, value: Any, what: str) -> None:
    if place not in places:
        raise AttributeError(f"cannot assign {what} before Module.__init__() call")
    places.pop(name, None)
    for other in _PLACES:
        if other != place:
            places[other].pop(name, None)
    places["_non_persistent_buffers_set"].discard(name)
    places[place][name] = value


def _check_name(module: Any, what: str, name: Any, taken: dict[str, Any]) -> None:
    if not isinstance(name, str):
        raise TypeError(f"{what} name should be a string. Got {_type_name(name)}")
    if "." in name:
        raise KeyError(f'{what} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{what} name can\'t be empty string ""')
    if hasattr(module, name) and name not in taken:
        raise KeyError(f"attribute '{name}' already exists")


def _type_name(x: Any) -> str:
    kind = type(x)
    if isinstance(x, Tensor):
        return "torch.FloatTensor" if x.dtype.name == "float32" else x.type()
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def indented(text: str) -> str:
    """The repr of a child inside that of its parent."""
    return text.replace("\n", "\n  ")
