"""What guards compare, in NumPy alone: programs call these, and their source carries them along."""

import numpy as np


def spec_of(x):
    """Shape and dtype of an array; the class of a Python number."""
    return (x.shape, x.dtype.char) if isinstance(x, (np.ndarray, np.generic)) else type(x)


def float_of(x):
    """A float as something that is equal to itself: NaN, and the sign of zero, count."""
    return float(x).hex()


def complex_of(x):
    """The same of a complex number."""
    x = complex(x)
    return x.real.hex(), x.imag.hex()


def number_of(x):
    """A number; NaN, which is not equal to itself, by its name."""
    x = x.item() if hasattr(x, "item") else x
    return "nan" if x != x else x


def content_of(x):
    """All that is in an array."""
    x = np.asarray(x)
    return x.shape, x.dtype.str, x.tobytes()
