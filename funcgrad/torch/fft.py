"""torch.fft."""

from typing import Any as _Any

import numpy as _np

from funcgrad.torch.functions import subjects  # noqa: F401 (all are declared once it is loaded)
from funcgrad.torch.functions.creation import makes as _makes
from funcgrad.torch.functions.special import FFT
from funcgrad.torch.tensors.dtypes import default as _default
from funcgrad.torch.tensors.dtypes import to_numpy as _to_numpy

globals().update(FFT)


@_makes
def fftfreq(n: int, d: float = 1.0, *, dtype: _Any = None) -> _Any:
    """The frequencies of the bins."""
    return _np.fft.fftfreq(n, d).astype(_default() if dtype is None else _to_numpy(dtype))


@_makes
def rfftfreq(n: int, d: float = 1.0, *, dtype: _Any = None) -> _Any:
    """The frequencies of the bins of rfft."""
    return _np.fft.rfftfreq(n, d).astype(_default() if dtype is None else _to_numpy(dtype))
