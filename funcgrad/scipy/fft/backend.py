"""A backend of scipy.fft: it hands its functions' calls on tracers to funcgrad's rules."""

from __future__ import annotations

from typing import Any

from scipy import fft as theirs

from funcgrad.core.engine.catalogue import CATALOGUE
from funcgrad.core.engine.trace import RUNNING
from funcgrad.scipy.mirror import carries_tracer


class Backend:
    """Takes calls with tracers, and leaves all others to SciPy's own backend (or the user's)."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Any, args: Any, kwargs: Any) -> Any:
        if RUNNING.get() is None or not carries_tracer((args, kwargs)):
            return NotImplemented
        from funcgrad.scipy.fft import transforms, trigonometric  # noqa: F401  (declares the rules, when one is needed)

        rule = CATALOGUE.get(getattr(theirs, method.__name__, None))
        return NotImplemented if rule is None else rule(*args, **kwargs)


theirs.register_backend(Backend)
