"""The class of watched arrays."""

from funcgrad.core.engine.trace import Tracer

ArrayBox = Tracer

__all__ = ["ArrayBox"]
