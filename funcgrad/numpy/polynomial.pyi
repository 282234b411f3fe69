# For editors and type checkers.
from numpy.polynomial import *  # noqa: F403
