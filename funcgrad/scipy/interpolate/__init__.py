"""scipy.interpolate, which tracers may enter where there is a rule."""

from funcgrad.scipy.mirror import mirror

__getattr__, __dir__ = mirror(__name__, "piecewise quotients bsplines grids scattered dierckx")
