"""scipy.linalg, which tracers may enter where there is a rule."""

from funcgrad.scipy.mirror import mirror

__getattr__, __dir__ = mirror(
    __name__, "systems factors functions structured norms eigenvalues riccati schur_form"
)
