"""The rules that are imported when they are needed."""

import subprocess
import sys

import pytest

BEGIN = """
import sys
import numpy as np
from funcgrad import errors, extend, grad
assert "funcgrad.rules.late" not in sys.modules
"""
PROGRAMS = {
    "a function": ("print(grad(np.linalg.det)(np.eye(2))[0, 0])", "1.0"),
    "of a module that NumPy loads late": (
        "print(grad(lambda x: np.fft.fft(x)[0].real)(np.ones(2))[0])",
        "1.0",
    ),
    "lists of tracers": (
        "import funcgrad.numpy as fnp\nprint(grad(lambda x: fnp.linalg.det([[x, 1], [2, x]]))(3.0))",
        "6.0",
    ),
    "an array in which nothing is traced": (
        "print(grad(lambda x: x * np.linalg.norm(np.ones(4, like=x)))(1.0))",
        "2.0",
    ),
    "functions of one's functions": (
        "import funcgrad.numpy as fnp\nprint(grad(lambda x: fnp.piecewise(x, [x > 0], [lambda x: 3 * x])[0])(np.ones(1))[0])",
        "3.0",
    ),
    "a declaration of one's own": (
        """
try:
    extend.elementwise(np.linalg.det, 1)
except errors.RuleError as error:
    print("has a rule" in str(error))""",
        "True",
    ),
    "what has no rule": (
        """
try:
    grad(lambda x: np.busday_count(x, x))(1.0)
except errors.UnsupportedFunctionError as error:
    print("np.busday_count" in str(error))""",
        "True",
    ),
}


@pytest.mark.parametrize(("program", "printed"), PROGRAMS.values(), ids=PROGRAMS)
def test_late_rules_are_there_when_they_are_asked_for(program: str, printed: str) -> None:
    run = subprocess.run([sys.executable, "-c", BEGIN + program], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == printed, run.stderr
