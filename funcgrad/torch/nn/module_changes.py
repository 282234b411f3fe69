"""Changes to a module and all below it: mode, dtype, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from funcgrad.torch.functions import creation
from funcgrad.torch.graph.modes import no_grad
from funcgrad.torch.nn.module_walks import Walks
from funcgrad.torch.tensors import dtypes
from funcgrad.torch.tensors.tensor import Tensor


class Changes(Walks):
    """The part of Module that changes it."""

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
        """Put fn(tensor) in the place of all parameters, their gradients and buffers. Parameters stay the same objects."""
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
        """Convert parameters and buffers of floating and complex dtypes: to(dtype), to(device), to(device, dtype), to(tensor).

        Raises TypeError for a dtype that is neither floating nor complex.
        """
        wanted = kwargs.get("dtype")
        for x in args:
            wanted = x.dtype if isinstance(x, Tensor) else x if isinstance(x, dtypes.dtype) else wanted
        if wanted is None:
            return self._apply(lambda t: t.to(*args, **kwargs))
        if not (wanted.is_floating_point or wanted.is_complex):
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={wanted}")
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
