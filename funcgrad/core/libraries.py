"""Rules that are imported late: when one is asked for, and the library that they are for is there."""

from __future__ import annotations

import sys
from importlib import import_module

# A library -> the module with its rules, imported when one is asked for and the library is there.
LATE: dict[str, str] = {}
# The same for a library that must know of tracers before it is called: imported as a transform begins.
BEFOREHAND: dict[str, str] = {}


def late(library: str, module: str, *, beforehand: bool = False) -> None:
    """Import a library's rules, `module`, only when asked for (`beforehand`: when a transform begins)."""
    (BEFOREHAND if beforehand else LATE)[library] = module


def load_next() -> bool:
    """Import the rules that come next, for the libraries that the user has imported: were there any?"""
    modules = {library: module for library, module in list(LATE.items()) if library in sys.modules}
    for module in modules.values():
        import_module(module)  # another thread may be importing it: then this waits
    for library, module in modules.items():
        if LATE.get(library) == module:  # it may have named one that follows
            LATE.pop(library, None)
    return bool(modules)


def load_late() -> None:
    """Import all rules that are not, for the libraries that the user has imported by now."""
    while load_next():
        pass


def load_beforehand() -> None:
    """Import what a library that the user has imported by now has to be told before it is called."""
    for library in [library for library in list(BEFOREHAND) if library in sys.modules]:
        import_module(BEFOREHAND[library])
        BEFOREHAND.pop(library, None)
