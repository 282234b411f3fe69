"""`python -m funcgrad.compat.autograd script.py ...`: a script whose `import autograd` gives funcgrad's."""

from __future__ import annotations

import runpy
import sys

from funcgrad.compat.installing import install_autograd


def main() -> None:
    """Run the script named on the command line, with the arguments that follow."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m funcgrad.compat.autograd script.py [arguments]")
    del sys.argv[0]
    install_autograd()
    sys.path.insert(0, "")
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
