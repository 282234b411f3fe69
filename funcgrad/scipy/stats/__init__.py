"""scipy.stats, which tracers may enter where there is a rule."""

from funcgrad.scipy.mirror import mirror

__getattr__, __dir__ = mirror(__name__, "powers families statistics covariances")
