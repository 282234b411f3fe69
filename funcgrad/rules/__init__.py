"""The rules: one chapter of NumPy's manual in each file. Importing them fills the catalogue.

What nearly every program needs is imported here; when a function is met for which there is no rule yet, the
chapters of soon.py are, and then those of late.py, which are half of all: so `import funcgrad` takes a fifth less.
"""

from funcgrad.core.libraries import late
from funcgrad.rules import (  # noqa: F401
    assignment,
    contractions,
    elementwise,
    indexing,
    powers,
    products,
    reductions,
    shapes,
)

late("numpy", "funcgrad.rules.soon")
late("numpy.fft", "funcgrad.rules.fft")  # which NumPy, too, imports when it is asked for
