# For editors and type checkers: the names and the types of Python's.
from math import *  # noqa: F403
