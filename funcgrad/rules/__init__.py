"""The rules: one chapter of NumPy's manual in each file. Importing them fills the catalogue.

What nearly every program needs is imported here. When a function is met for which there is no rule yet, the
chapters that follow are, one after the other until there is one, and at last those of late.py, which are half
of all: so `import funcgrad` takes a quarter less.
"""

from funcgrad.core.libraries import late
from funcgrad.rules import (  # noqa: F401
    contractions,
    elementwise,
    powers,
    reductions,
)

_FOLLOWING = (
    "shapes", "indexing", "choices", "joining", "constructors", "plain", "products", "sorting", "assignment", "at", "late",
)  # fmt: skip
late("numpy", *(f"funcgrad.rules.{chapter}" for chapter in _FOLLOWING))
late("numpy.fft", "funcgrad.rules.fft")  # which NumPy, too, imports when it is asked for
