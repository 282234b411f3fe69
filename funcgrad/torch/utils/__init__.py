"""torch.utils: checkpoint, ..."""

from funcgrad.torch.utils import checkpoint
