"""What assigning an attribute of a module means: parameters, modules and buffers are kept apart, by name."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from funcgrad.torch.nn.parameter import Buffer, Parameter
from funcgrad.torch.tensors.tensor import Tensor

_ORDERED = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)
_PLACES = ("_parameters", "_buffers", "_modules")


def prepare(module: Any) -> None:
    """The empty places of a new module."""
    places = module.__dict__
    places["training"] = True
    places["_parameters"], places["_buffers"], places["_modules"] = {}, {}, {}
    places["_non_persistent_buffers_set"] = set()
    for name in _ORDERED:
        places[name] = OrderedDict()


class Attributes:
    """The part of Module that is about its attributes."""

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def __setattr__(self, name: str, value: Any) -> None:
        places = self.__dict__
        if isinstance(value, Parameter):
            _put(places, "_parameters", name, value, "parameters")
        elif name in places.get("_parameters", ()):
            if value is not None:
                found = value.type() if isinstance(value, Tensor) else _type_name(value)
                raise TypeError(f"cannot assign '{found}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, None)
        elif isinstance(value, Attributes):
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

        Raises AttributeError before Module.__init__, KeyError for a name that is empty, dotted or taken, TypeError for what is
        no Parameter, ValueError for one that was computed.
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
        """Add a tensor that is state but no parameter; one that is not persistent is left out of the state_dict.

        Raises AttributeError before Module.__init__, KeyError for a name that is empty, dotted or taken, TypeError.
        """
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        _check_name(self, "buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a child. Raises TypeError for what is no module, KeyError for a name that is empty, dotted or taken."""
        if not isinstance(module, Attributes) and module is not None:
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
