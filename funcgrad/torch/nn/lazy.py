"""Modules whose parameters get their shapes at the first call."""

from __future__ import annotations

from typing import Any, ClassVar

from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.parameter import UninitializedParameter


class LazyModule(Module):
    """Put before the class that it becomes, among the bases; `initialize_parameters` is called with the first
    inputs, even where the parameters were loaded.
    """

    becomes: ClassVar[type[Module]]

    def has_uninitialized_params(self) -> bool:
        """Are there parameters without a shape?"""
        return any(isinstance(p, UninitializedParameter) for p in self._parameters.values())

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters their shapes and first values."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.initialize_parameters(*args, **kwargs)
        self.__class__ = self.becomes  # type: ignore[assignment]
        return self(*args, **kwargs)
