# For editors and type checkers: the names and the types of Python's.
from cmath import *  # noqa: F403
