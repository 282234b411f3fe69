"""torch.serialization: save and load.

archive.py         our own files: a container of arrays that runs no code when it is read
objects.py         whole modules and the like, in pickles
pytorch_files.py   files that PyTorch has written
"""

from funcgrad.torch.serialization.archive import load, save
from funcgrad.torch.serialization.objects import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "load", "safe_globals", "save"]
