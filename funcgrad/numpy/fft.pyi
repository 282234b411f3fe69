# For editors and type checkers.
from numpy.fft import *  # noqa: F403
