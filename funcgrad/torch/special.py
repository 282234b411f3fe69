"""torch.special."""

from funcgrad.torch.functions import subjects  # noqa: F401 (all are declared once it is loaded)
from funcgrad.torch.functions.special import SPECIAL

globals().update(SPECIAL)
