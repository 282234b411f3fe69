"""Libraries that programs were written for before funcgrad, by their own names.

autograd            HIPS autograd's interface, on funcgrad
install_autograd    programs that say `import autograd` get it, unchanged
"""

from funcgrad.compat.installing import install_autograd

__all__ = ["install_autograd"]
