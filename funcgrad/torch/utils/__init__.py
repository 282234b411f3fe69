# ruff: noqa: F401 (these are the public names)
"""torch.utils: checkpoint, ..."""

from funcgrad.torch.utils import checkpoint
