"""Derivatives for SciPy, which is optional: a part is loaded when SciPy's part of the same name is, and a tracer meets it."""
