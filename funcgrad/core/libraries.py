"""Rules that are imported late: when one is asked for, and the library that they are for is there."""

from __future__ import annotations

import sys
from importlib import import_module

# A library -> the modules with its rules, one of which is imported when one is asked for and the library is there.
LATE: dict[str, list[str]] = {}
# A library that must know of tracers before it is called -> what is imported as a transform begins.
BEFOREHAND: dict[str, str] = {}


def late(library: str, *modules: str, beforehand: bool = False) -> None:
    """Import a library's rules only when asked for, one module after the other (`beforehand`: when a transform
    begins, a single one).
    """
    if beforehand:
        (BEFOREHAND[library],) = modules
    else:
        LATE[library] = list(modules)


def load_next() -> bool:
    """Import the rules that come next, for the libraries that the user has imported: were there any?"""
    modules = {
        library: modules[0] for library, modules in list(LATE.items()) if modules and library in sys.modules
    }
    for library, module in modules.items():
        import_module(module)  # another thread may be importing it: then this waits
        if LATE[library][:1] == [module]:  # ... and takes it off the list
            del LATE[library][0]
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
