"""np.random."""

from __future__ import annotations

import funcgrad.numpy as _numpy
from funcgrad.compat.autograd.numpy.numpy_wrapper import entered

entered(_numpy.random, globals())
