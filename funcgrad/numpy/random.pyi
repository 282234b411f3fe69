# For editors and type checkers.
from numpy.random import *  # noqa: F403
