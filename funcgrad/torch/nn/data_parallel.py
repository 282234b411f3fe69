"""DataParallel, on the one device there is: the module itself, under PyTorch's name."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.module import Module


class DataParallel(Module):
    """A module that would run on several devices: here it runs on one. Its parameters are `module.*`, as in
    PyTorch.

    >>> import funcgrad.torch as torch
    >>> list(torch.nn.DataParallel(torch.nn.Linear(1, 1)).state_dict())
    ['module.weight', 'module.bias']
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module, self.device_ids, self.dim = module, [], dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Any,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any = None,
) -> Any:
    """module(*inputs), on the one device there is."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return module(*given, **(module_kwargs or {}))
