"""torch.linalg."""

from funcgrad.torch.functions_linalg import LINALG

globals().update(LINALG)
