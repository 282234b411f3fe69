"""The rules: one chapter of NumPy's manual in each file. Importing them fills the catalogue.

What nearly every program needs is imported here; the chapters of late.py, which are half of them, when a
function is met for which there is no rule yet: so `import funcgrad` takes a tenth less.
"""

from funcgrad.core.libraries import late
from funcgrad.rules import (  # noqa: F401
    assignment,
    at,
    choices,
    constructors,
    contractions,
    elementwise,
    indexing,
    joining,
    plain,
    powers,
    products,
    reductions,
    shapes,
    sorting,
)

late("numpy", "funcgrad.rules.late")
late("numpy.fft", "funcgrad.rules.fft")  # which NumPy, too, imports when it is asked for
