"""The parameters, buffers and modules of a module and of all below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from funcgrad.torch.nn.module_attributes import Attributes
from funcgrad.torch.nn.parameter import Buffer, Parameter
from funcgrad.torch.tensors.tensor import Tensor

if TYPE_CHECKING:
    from funcgrad.torch.nn.module import Module


class Walks(Attributes):
    """The part of Module that finds what is below it."""

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it, with their dotted names; each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self  # type: ignore[misc]
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def _named_members(
        self,
        get_members_fn: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
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
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

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
            if not isinstance(below, Walks):
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
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Walks):
            raise AttributeError(f"`{name}` is not an nn.Module")
        if not isinstance(module, Walks):
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
