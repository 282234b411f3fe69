"""np.fft."""

from __future__ import annotations

import funcgrad.numpy as _numpy
from funcgrad.compat.autograd.numpy.namespaces import filled_from

__getattr__ = filled_from(globals(), lambda: _numpy.fft)
