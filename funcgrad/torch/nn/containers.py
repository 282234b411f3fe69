"""Containers of modules."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.module import Module


class Sequential(Module):
    """Modules one after the other."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        items = (
            modules[0].items()
            if len(modules) == 1 and isinstance(modules[0], dict)
            else ((str(i), m) for i, m in enumerate(modules))
        )
        for name, module in items:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """All of them."""
        for module in self:
            input = module(input)
        return input

    def __iter__(self) -> Any:
        return iter(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __getitem__(self, index: Any) -> Any:
        items = list(self._modules.values())
        return Sequential(*items[index]) if isinstance(index, slice) else items[index]
