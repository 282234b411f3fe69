"""The class of watched arrays."""

from funcgrad.compat.autograd.builtins import SequenceBox
from funcgrad.compat.autograd.tracer import ArrayBox, Box

__all__ = ["ArrayBox", "Box", "SequenceBox"]
