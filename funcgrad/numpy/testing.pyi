# For editors and type checkers.
from numpy.testing import *  # noqa: F403
