"""funcgrad: automatic differentiation for the NumPy code that you already have."""

__version__ = "0.1.0.dev0"
