"""The spaces of arrays."""

from funcgrad.compat.autograd.spaces import ArrayVSpace, ComplexArrayVSpace

__all__ = ["ArrayVSpace", "ComplexArrayVSpace"]
