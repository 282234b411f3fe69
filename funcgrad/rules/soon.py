"""Chapters that most programs need, imported when a function without a rule is first met."""

from funcgrad.core.libraries import late
from funcgrad.rules import at, choices, constructors, joining, plain, sorting  # noqa: F401

late("numpy", "funcgrad.rules.late")  # when one is met the next time
