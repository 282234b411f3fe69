# ruff: noqa: F401 (these are the public names)
"""torch.utils: checkpoint, data, ..."""

from funcgrad.torch.utils import checkpoint, data
