"""Marks for readers and type checkers, which cost nothing at run time.

`override` says that a method takes the place of a base class's. A type checker refuses the mark where there is no
such method, so a rule whose `push` is misspelt is found before it runs. It is that of typing-extensions, which takes
longer to import than the engine: here it gives back what it was given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import override as override
else:

    def override(method):
        """The method itself."""
        return method
