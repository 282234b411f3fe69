"""Writes docs/support.md, what funcgrad knows of NumPy and scipy.special: `python docs/support.py`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy.special

from funcgrad.core.arrays.methods import METHODS, ArrayMethods
from funcgrad.core.arrays.ufunc import Ufunc
from funcgrad.core.engine.catalogue import CATALOGUE, Constructor, Function, Unsupported
from funcgrad.core.engine.kinds import Elementwise
from funcgrad.core.engine.primitive import Primitive
from funcgrad.core.libraries import load_late

PAGE = Path(__file__).parent / "support.md"

HEAD = """\
# What is supported

This page is generated from the catalogue by `python docs/support.py`, with NumPy {numpy} and SciPy {scipy}; a test compares the
two. It lists every public function of `numpy`, `numpy.linalg` and `numpy.fft` that a tracer can reach, the methods and attributes
of `ndarray`, and the functions of `scipy.special` that have rules. Other versions of NumPy, from 2.0 on, have fewer functions or
more: a function that funcgrad does not know is refused by name.

| status | meaning |
|---|---|
| differentiable | one step, with a rule; `kind` is the verb that declares it ([](adding_a_rule.md)) |
| composite | written in terms of other functions of this page |
| constant | constant wherever it is smooth: its derivative is zero |
| query | answered from shapes, dtypes or values |
| refused | with an error that says what the note says |

*reverse* and *forward*: the derivative exists in this mode, to every order. *vmap*: a batch is one call for the `whole` of it, or
one for `each` example. *Dask*: on Dask arrays it is `lazy` (in both modes, to second order and under vmap, if nothing else is
said), `asks` for values, which are computed, or is `refused`, as Dask lacks it ([](larger_than_memory.md)). *sparse*: on arrays
of the library `sparse` it is `right` in both modes, and sparse where that library gives sparse arrays, right but `dense` there,
or `refused`.

{counts}

## What was run

The tests run with NumPy 2.4.6. On 29 November 2026 those of `funcgrad.numpy` and many of the rules and the core (views, folds,
batches, lanes, elementwise functions, choices, reductions, sorting, shapes, indexing, linalg) passed with NumPy 2.0.2 too, and a
part of these with 2.2.6; `make test NUMPY=2.0` runs all tests with another version.

The suite data-apis/array-api-tests (of April 2026, 15 examples each) was run on `funcgrad.numpy` with NumPy 2.4.6. Outside of a
transform, 1,320 tests pass and 46 fail, where NumPy itself fails the same ones, but for a corner that the suite draws at random.
Inside of one, where every array is a tracer, 1,315 of 1,366 pass; what fails beyond NumPy's own is DLPack (7 tests): a tracer is
not handed over, and says so. `tests/array_api/xfails.txt` lists NumPy's own failures. The suite is on no package index;
`make array-api SUITE=path` runs it from a checkout. In the tests, `tests/array_api/test_conformity.py` compares `funcgrad.numpy`
with array-api-strict 2.6.1 (standard 2025.12), outside and inside of a transform: names, signatures, 96 groups of results.
"""
COLUMNS = "| function | status | kind | reverse | forward | vmap | Dask | sparse | note |\n|---|---|---|---|---|---|---|---|---|"
STATUS = {"piecewise constant": "constant"}


def public(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """A module's functions in the catalogue, by name; an alias (np.concat) goes to its function's name."""
    found: dict[str, Callable[..., Any]] = {}
    for name in dir(module):
        function = getattr(module, name)
        if name.startswith("_") or not callable(function) or isinstance(function, type):
            continue
        try:
            if function in CATALOGUE:
                found[name] = function
        except TypeError:  # not hashable
            continue
    return found


def row(name: str, made: Function, note: str = "") -> str:
    """One line of a table."""
    is_refused = isinstance(made, Unsupported)
    has_derivative = not is_refused and made.kind not in ("piecewise constant", "query")
    status = "refused" if is_refused else STATUS.get(made.kind, made.status)
    mode = "yes" if has_derivative else "zero" if status == "constant" else ""
    kind = made.kind if has_derivative else ""
    cells = [
        f"`{name}`",
        status,
        kind,
        mode,
        mode,
        batching(made),
        on_dask(made),
        on_sparse(made),
        note or noted(made),
    ]
    return "| " + " | ".join(cells) + " |"


@cache
def recorded(library: str) -> dict[str, str]:
    """What became of the samples of each function on arrays of this library (lazily.py, sparsely.py of tests/interop)."""
    lines = (Path(__file__).parent / f"support_{library}.txt").read_text(encoding="utf-8").splitlines()
    return {title: _shown(*statuses) for title, *statuses in map(str.split, lines)}


def _shown(status: str, second: str = "-", batched: str = "-") -> str:
    """The status in both modes, and where second derivatives or vmap do less."""
    less = [
        f"{what} {of}"
        for what, of in (("second order", second), ("vmap", batched))
        if of not in ("-", "lazy")
    ]
    return f"{status} ({', '.join(less)})" if less and status == "lazy" else status


def on_dask(made: Function) -> str:
    """What it does on Dask arrays."""
    return "" if isinstance(made, Unsupported) else recorded("dask").get(made.title, "")


def on_sparse(made: Function) -> str:
    """What it does on sparse arrays."""
    return "" if isinstance(made, Unsupported) else recorded("sparse").get(made.title, "")


def batching(made: Function) -> str:
    """How vmap runs it."""
    if isinstance(made, Unsupported):
        return ""
    return "each" if isinstance(made, Primitive) and made.batch in (None, "one by one") else "whole"


def noted(made: Function) -> str:
    """What else there is to say."""
    notes = [made.note.rstrip(".")] if made.note else []
    if isinstance(made, Constructor):
        notes.append("with `like=`, or as `funcgrad.numpy` has it")
    if isinstance(made, Primitive) and isinstance(made.rule, Elementwise):
        names = made.operand_names
        notes += [
            f"not differentiated in {text}, which may not be traced"
            for text in dict.fromkeys(made.rule.unknown.values())
        ]
        constant = [names[i] for i in sorted(made.rule.ignores)]
        if constant and len(constant) < len(names):
            notes.append(f"constant in {', '.join(constant)}")
    return "; ".join(notes).replace("|", "\\|").replace("\n", " ")


def table(module: ModuleType) -> Iterator[str]:
    """The lines for one module."""
    functions = public(module)
    for name, function in sorted(functions.items(), key=lambda item: item[0].lower()):
        own = getattr(function, "__name__", name)
        alias = f"the same as `{own}`" if own != name and functions.get(own) is function else ""
        yield row(name, CATALOGUE[function], alias)


def methods() -> Iterator[str]:
    """The lines for what an ndarray has."""
    refused = {
        "view": "use astype, real or imag",
        "tobytes": "return the value from the function and convert the result",
        "resize": "write x = np.resize(x, new_shape)",
    }
    for name in sorted((n for n in dir(np.ndarray) if not n.startswith("_")), key=str.lower):
        function = METHODS.get(name)
        if name in refused:
            yield f"| `{name}` | refused | {refused[name]} |"
        elif name in ("fill", "sort", "partition", "put"):
            yield f"| `{name}` | changes the array | |"
        elif function is not None:
            yield f"| `{name}` | as `np.{function.__name__}` | |"
        elif hasattr(ArrayMethods, name):
            yield f"| `{name}` | {_of_methods(name)} | |"
        else:
            yield f"| `{name}` | refused | it is about memory, or makes plain data |"


def _of_methods(name: str) -> str:
    if name in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "device"):
        return "query"
    return "yes"


def counts(functions: list[Function]) -> str:
    """How many of each status there are."""
    found = [row("", made).split(" | ")[1] for made in functions]
    parts = [
        f"{found.count(status)} {status}"
        for status in ("differentiable", "composite", "constant", "query", "refused")
    ]
    ufuncs = sum(isinstance(made, Ufunc) or isinstance(made.function, np.ufunc) for made in functions)
    return f"Of NumPy's {len(functions)} functions, {ufuncs} of them ufuncs, there are: {', '.join(parts)}."


def page() -> str:
    """The whole page."""
    modules = (np, np.linalg, np.fft)
    load_late()
    numpys = {f: CATALOGUE[f] for module in modules for f in public(module).values()}
    head = HEAD.format(numpy=np.__version__, scipy=scipy.__version__, counts=counts(list(numpys.values())))
    parts = [head]
    for module in modules:
        parts += [f"## {module.__name__}\n", COLUMNS, *table(module), ""]
    parts += [
        "## Methods and attributes of ndarray\n",
        "| name | a tracer has it | note |\n|---|---|---|",
        *methods(),
        "",
    ]
    parts += ["## scipy.special\n", COLUMNS, *table(scipy.special)]
    return "\n".join(parts) + "\n"


# ---- SciPy -----------------------------------------------------------------------------------------------------------

SCIPY_PAGE = Path(__file__).parent / "support_scipy.md"
SCIPY_HEAD = """\
# What is supported of SciPy

This page is generated by `python docs/support.py`, with SciPy {scipy}. It lists the public names of `funcgrad.scipy`
that tracers may enter ([](scipy.md)), the ufuncs of `scipy.special` apart ([](support.md)); every other name is
SciPy's own, and refuses tracers by name. *differentiable* is one step with a rule, *composite* is written in terms of
others or is SciPy's own code run on tracers, *object* is a class or an object whose methods take tracers.

{count} names in {modules} modules.
"""


def scipy_parts() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each module of SciPy's, with its names and their statuses."""
    import funcgrad.scipy
    from funcgrad.scipy.mirror import INNER, REPLACED, public_names

    for part in sorted({*funcgrad.scipy.MODULES, *INNER} - {"odr"}):
        dir(importlib.import_module(f"funcgrad.scipy.{part}"))  # its chapters are read
        module = importlib.import_module(f"scipy.{part}")
        found = []
        for name in public_names(module):
            value = getattr(module, name)
            made = CATALOGUE.get(value) if callable(value) and getattr(value, "__hash__", None) else None
            if f"{part}.{name}" in REPLACED:
                found.append((name, "object"))
            elif made is not None and not isinstance(value, np.ufunc):
                found.append((name, row("", made).split(" | ")[1]))
        if found:
            yield part, sorted(found, key=lambda item: item[0].lower())


def scipy_page() -> str:
    """The page on SciPy: for each module the names of each status."""
    parts = dict(scipy_parts())
    count = sum(map(len, parts.values()))
    lines = [SCIPY_HEAD.format(scipy=scipy.__version__, count=count, modules=len(parts))]
    for part, found in parts.items():
        lines += [f"## scipy.{part}\n", "| status | names |", "|---|---|"]
        for status in ("differentiable", "composite", "object", "constant", "query", "refused"):
            names = [f"`{name}`" for name, its in found if its == status]
            if names:
                lines.append(f"| {status} | {', '.join(names)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    SCIPY_PAGE.write_text(scipy_page(), encoding="utf-8")
