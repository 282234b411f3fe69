# ruff: noqa: F401 (these are the public names)
"""torch.serialization: save and load.

    archive.py         our own files: a container of arrays that runs no code when it is read
    pytorch_files.py   files that PyTorch has written
"""

from funcgrad.torch.serialization.archive import load, save
