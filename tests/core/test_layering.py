"""Layers point one way, without cycles, and each file holds one idea."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import funcgrad

ROOT = Path(funcgrad.__file__).parent

# A module may import from its own layer (without cycles) and from those above it.
LAYERS = [
    {"errors", "tree"},
    {"core"},
    {"rules"},
    {"transforms"},
    {"testing", "debug", "drawing", "extend"},
    {"numpy", "scipy", "optim", "nn", "math", "cmath"},
    {"torch"},
]
# The package's own namespace is no layer: it gathers the public names of all.
GATHERS = {"funcgrad"}
FILES = sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


def layer_of(module: str) -> int:
    """The layer of 'funcgrad.core.engine.trace'."""
    part = module.split(".")[1]
    return next(i for i, layer in enumerate(LAYERS) if part in layer)


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text())


@cache
def imports(module: str, *, at_run_time: bool = False) -> tuple[str, ...]:
    """The modules of the package that `module` imports; all of them, or those that are imported as it is loaded."""
    return tuple(_imports(module, at_run_time))


def _imports(module: str, at_run_time: bool) -> Iterator[str]:
    tree = parsed(module)
    lazy = {id(inner) for node in ast.walk(tree) if is_lazy(node) for inner in ast.walk(node)} if at_run_time else set()
    for node in ast.walk(tree):
        if id(node) in lazy:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "funcgrad")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            if node.module and node.module.split(".")[0] == "funcgrad":
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    yield full if full in MODULES else node.module


def is_lazy(node: ast.AST) -> bool:
    """Functions run later, and `if TYPE_CHECKING:` never."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))


def test_every_module_is_in_a_layer() -> None:
    known = set.union(*LAYERS)
    assert {m.split(".")[1] for m in MODULES if m not in GATHERS} <= known


@pytest.mark.parametrize("module", [m for m in MODULES if m not in GATHERS])
def test_imports_point_to_the_same_layer_or_an_earlier_one(module: str) -> None:
    for imported in imports(module):
        assert imported not in GATHERS, f"{module} imports the gathering namespace {imported}"
        assert layer_of(imported) <= layer_of(module), f"{module} imports {imported}"


def test_parts_of_one_layer_do_not_import_each_other_in_a_circle() -> None:
    """errors and tree, testing and debug: each pair at most in one direction."""
    pairs = {(m.split(".")[1], i.split(".")[1]) for m in MODULES if m not in GATHERS for i in imports(m) if i not in GATHERS}
    assert [(a, b) for a, b in pairs if a != b and (b, a) in pairs] == []


def test_no_module_is_needed_to_load_itself() -> None:
    graph = {m: {i for i in imports(m, at_run_time=True) if i != m} for m in MODULES if m not in GATHERS}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module in done or module not in graph:
            return
        for imported in graph[module]:
            # A package is loaded with its modules; what they import of each other is what counts.
            if not module.startswith(imported + "."):
                visit(imported, (*path, module))
        done.add(module)

    for module in graph:
        visit(module, ())


def test_the_core_knows_no_client() -> None:
    clients = [name for layer in LAYERS[2:] for name in layer if name not in ("numpy", "rules", "testing", "nn", "math")]
    for module in MODULES:
        if module.startswith("funcgrad.core"):
            code = parsed(module)
            names = {n.id for n in ast.walk(code) if isinstance(n, ast.Name)} | set(imports(module))
            assert not {n for n in names if any(c in n.lower() for c in clients)}, module


def test_the_engine_does_not_load_optional_packages() -> None:
    heavy = {"torch", "jax", "scipy", "matplotlib", "sklearn", "pandas"}
    for module in MODULES:
        if module.split(".")[1:2] and module.split(".")[1] not in ("scipy", "torch", "drawing", "numpy"):
            found = {
                alias.name.split(".")[0]
                for node in ast.walk(parsed(module))
                if isinstance(node, ast.Import)
                for alias in node.names
            }
            assert not found & heavy, module


@pytest.mark.parametrize("module", MODULES)
def test_a_file_is_one_idea(module: str) -> None:
    assert len(MODULES[module].read_text().splitlines()) <= 400
    assert ast.get_docstring(parsed(module)), "a module says what it is for"


# The loop of every reverse transform is written out: a call costs as much as a step of it.
WRITTEN_OUT = {"funcgrad.core.engine.reverse.sweep"}


@pytest.mark.parametrize("module", MODULES)
def test_a_function_is_short(module: str) -> None:
    for node in ast.walk(parsed(module)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and f"{module}.{node.name}" not in WRITTEN_OUT:
            docstring = ast.get_docstring(node, clean=False) or ""
            length = node.end_lineno - node.lineno + 1 - len(docstring.splitlines())  # type: ignore[operator]
            assert length <= 45, f"{module}.{node.name} has {length} lines"
