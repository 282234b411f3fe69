"""torch.fft."""

import numpy as _np

from funcgrad.torch.functions import subjects  # noqa: F401 (all are declared once it is loaded)
from funcgrad.torch.functions.creation import finished as _finished
from funcgrad.torch.functions.special import FFT

globals().update(FFT)


def fftfreq(n: int, d: float = 1.0, **options):
    """The frequencies of the bins."""
    return _finished(
        _np.fft.fftfreq(n, d).astype(_np.float32), **{"dtype": None, "requires_grad": False, **options}
    )


def rfftfreq(n: int, d: float = 1.0, **options):
    """The frequencies of the bins of rfft."""
    return _finished(
        _np.fft.rfftfreq(n, d).astype(_np.float32), **{"dtype": None, "requires_grad": False, **options}
    )
