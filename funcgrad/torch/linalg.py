"""torch.linalg."""

from funcgrad.torch.functions import subjects  # noqa: F401 (all are declared once it is loaded)
from funcgrad.torch.functions.linalg import LINALG

globals().update(LINALG)
