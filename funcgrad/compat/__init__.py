"""Libraries that programs were written for before funcgrad, by their own names.

autograd            HIPS autograd's interface, on funcgrad
install_autograd    programs that say `import autograd` get it, unchanged
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from funcgrad.compat.installing import install_autograd as install_autograd

__all__ = ["install_autograd"]


def __getattr__(name: str) -> Any:
    if name == "install_autograd":
        return import_module(f"{__name__}.installing").install_autograd
    if name == "autograd":
        return import_module(f"{__name__}.autograd")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
