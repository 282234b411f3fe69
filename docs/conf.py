"""Sphinx's configuration: `make docs` writes docs/_build/html."""

import importlib
import inspect
import re
import shutil
import sys
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert

import funcgrad

project = "funcgrad"
author = "funcgrad contributors"
project_copyright = "funcgrad contributors"
version = release = funcgrad.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build", "figures.md", "scaling.md", "generated"]  # included by other pages
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
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["funcgrad.css"]
html_js_files = ["funcgrad.js"]

HERE = Path(__file__).parent
TORCH = (
    "torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.optim", "torch.optim.lr_scheduler",
    "torch.autograd", "torch.func", "torch.linalg", "torch.fft", "torch.special", "torch.utils.data",
)  # fmt: skip


def copy_notebooks(app):
    """Sphinx reads only what is below docs/."""
    shutil.copytree(
        HERE.parent / "notebooks", HERE / "notebooks", ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True
    )


def point_to_copies(app, name, source):
    """The pages link to ../notebooks/, and these to ../docs/, as in the repository."""
    source[0] = source[0].replace("](../notebooks/", "](notebooks/").replace("](../docs/", "](../")


def list_torch_names(app):
    """What docs/torch_names.md includes: each namespace's names with the first lines of their docstrings."""
    (HERE / "generated").mkdir(exist_ok=True)
    text = "".join(_names_of(importlib.import_module(f"funcgrad.{space}")) for space in TORCH)
    (HERE / "generated" / "torch_names.md").write_text(text, encoding="utf-8")
    (HERE / "generated" / "torch_refused.md").write_text(_refused_names(), encoding="utf-8")


def make_live_pictures(app):
    """What docs/drawing.md includes: a live picture and a flame view, made by the code that is documented."""
    sys.path.insert(0, str(HERE))
    pictures = importlib.import_module("pictures")
    (HERE / "generated").mkdir(exist_ok=True)
    for name, text in pictures.live().items():
        (HERE / "generated" / f"{name}.html").write_text(text, encoding="utf-8")


def _refused_names():
    """The names of funcgrad.torch that refuse, and what they say; equal texts of a module share a row."""
    names = importlib.import_module("funcgrad.torch.names")
    rows = ["| names | what to do instead |\n|---|---|"]
    for path, entries in names.TABLE.items():
        given = {} if isinstance(entries, names.Same) else entries
        refused = {name: entry.why for name, entry in given.items() if isinstance(entry, names.Refuses)}
        for why in dict.fromkeys(refused.values()):
            listed = ", ".join(f"`{name}`" for name, text in refused.items() if text == why)
            rows.append(f"| `torch.{path}`: {listed} | {why} |")
    return "\n".join(rows) + "\n"


def _names_of(module):
    rows = [f"## {module.__name__.removeprefix('funcgrad.')}\n", "| name | |\n|---|---|"]
    for name in sorted(vars(module), key=str.lower):
        thing = getattr(module, name)
        if not name.startswith("_") and not inspect.ismodule(thing) and _is_ours(thing):
            rows.append(f"| `{name}` | {_first_line(thing)} |")
    return "\n".join(rows) + "\n\n"


def _is_ours(thing):
    return not isinstance(thing, (dict, list, set)) and getattr(thing, "__module__", "funcgrad").startswith(
        "funcgrad"
    )


def _first_line(thing):
    """The first line of its docstring, as Markdown; nothing for a value, whose docstring is its class's."""
    if not (inspect.isclass(thing) or callable(thing)):
        return ""
    return (
        " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
        .replace("|", "\\|")
        .replace("*", "\\*")
        .replace("<", "&lt;")
    )


def results_as_prose(app, what, name, obj, options, lines):
    """What a docstring says: "Returns" is prose, "Raises" a list of "SomeError: when. OtherError: when."

    Sphinx would read the words before the first colon as a type, and each line of "Raises" as one error.
    """
    text = re.sub(r"^Returns:\n((?: +.*\n|\n(?= ))+)", _returns, "\n".join(lines) + "\n", flags=re.MULTILINE)
    lines[:] = re.sub(r"^Raises:\n((?: +.*\n)+)", _raises, text, flags=re.MULTILINE).split("\n")


def _returns(found):
    return f":returns: {' '.join(found[1].split())}\n"


def _raises(found):
    words = " ".join(found[1].split())
    named = r"\w+(?:Error|Warning)\b[^.:]*: "
    parts = [part.strip() for part in re.split(rf"(?:^|(?<=\. ))(?={named})", words) if part]
    return "".join(f":raises{' ' if re.match(named, part) else ': '}{part}\n" for part in parts)


def math_visitor(display):
    """Formulas as MathML, which browsers show by themselves: nothing is fetched from elsewhere."""

    def visit(self, node):
        self.body.append(convert(node.astext(), display=display))
        raise nodes.SkipNode

    return visit, None


def stars_and_bars(app, what, name, obj, options, lines):
    """(*batch, n) and |x| are mathematics in our docstrings, and would be markup in reStructuredText."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", "| ", "* ", "- ")):
            parts = line.split("`")
            parts[::2] = [re.sub(r"(?<![\\*])\*(?=\w)|\|", r"\\\g<0>", part) for part in parts[::2]]
            lines[i] = "`".join(parts)


def setup(app):
    app.add_html_math_renderer("mathml", math_visitor("inline"), math_visitor("block"))
    app.connect("builder-inited", copy_notebooks)
    app.connect("builder-inited", list_torch_names)
    app.connect("builder-inited", make_live_pictures)
    app.connect("source-read", point_to_copies)
    app.connect("autodoc-process-docstring", results_as_prose, priority=100)  # before napoleon
    app.connect("autodoc-process-docstring", stars_and_bars, priority=900)
