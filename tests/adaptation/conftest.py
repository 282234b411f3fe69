"""The package of these tests, `workshop`, can be imported: a program that is none of funcgrad's tests."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
