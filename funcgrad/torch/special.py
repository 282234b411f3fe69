"""torch.special."""

from funcgrad.torch.functions_special import SPECIAL

globals().update(SPECIAL)
