"""Sphinx's configuration: `make docs` writes docs/_build/html."""

import funcgrad

project = "funcgrad"
author = "funcgrad contributors"
project_copyright = "funcgrad contributors"
version = release = funcgrad.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "figures.md"]  # performance.md includes the figures
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks are committed with their output

# Single backticks in docstrings are code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"funcgrad {release}"
html_show_sphinx = False
