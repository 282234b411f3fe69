"""Layers point one way, without circles, and each file holds one idea."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import funcgrad

ROOT = Path(funcgrad.__file__).parent

# A module may import from its own layer (without circles) and from those above it.
LAYERS = [
    {"errors", "tree", "typed"},
    {"core"},
    {"rules"},
    {"transforms"},
    {"testing", "debug", "drawing", "extend"},
    {"numpy", "scipy", "math", "cmath", "optim", "nn", "compiler", "dask"},
    {"adaptation", "compat"},
    {"torch"},
]
# The package's own namespace is no layer: it gathers the public names of all.
GATHERS = {"funcgrad"}
# 400 is what a reader takes in at once; an idea that needs somewhat more is not cut in two for that.
LINES, LINES_OF_A_FUNCTION = 600, 45
# The loop of every reverse transform is written out: a call costs as much as a step of it.
WRITTEN_OUT = {"funcgrad.core.engine.sweep.sweep"}
OPTIONAL = {"torch", "jax", "scipy", "matplotlib", "sklearn", "pandas", "xarray", "pint", "dask", "numba"}
USES_OPTIONAL = {"scipy", "torch", "drawing", "numpy", "compat", "dask", "jit", "adapt"}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}
MODULES = [module for module in PATHS if module not in GATHERS]


def part_of(module: str) -> str:
    """'core', of 'funcgrad.core.engine.trace'."""
    return module.split(".")[1]


def layer_of(module: str) -> int:
    return next(i for i, layer in enumerate(LAYERS) if part_of(module) in layer)


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(PATHS[module].read_text())


@cache
def nodes(module: str) -> list[ast.AST]:
    return [*ast.walk(parsed(module))]


@cache
def imports(module: str) -> frozenset[str]:
    """The package's modules that `module` imports, at once or later; not those for type checkers only."""
    return frozenset(_imports(module)) - {module}


def _imports(module: str) -> Iterator[str]:
    for node in statements(parsed(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "funcgrad")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            if node.module and node.module.split(".")[0] == "funcgrad":
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    yield full if full in PATHS else node.module


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements in a node, but for those for type checkers only; quicker than a walk, which enters expressions."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, name, ()) if not isinstance(node, ast.Lambda) else ():
            if isinstance(inner, ast.stmt):
                yield inner
            if not is_for_types(inner):
                yield from statements(inner)
            elif isinstance(inner, ast.If):
                yield from (x for other in inner.orelse for x in (other, *statements(other)))


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def in_circles(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """What is left of a graph where nobody is imported, or imports nobody, when all that is taken away."""
    while True:
        imported = set().union(*graph.values())
        left = {
            module: found & graph.keys()
            for module, found in graph.items()
            if found & graph.keys() and module in imported
        }
        if left == graph:
            return graph
        graph = left


def test_circles_are_found() -> None:
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {"b": {"c"}, "c": {"b"}}
    assert in_circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {}


def test_imports_point_to_the_same_layer_or_an_earlier_one() -> None:
    assert {part_of(module) for module in MODULES} <= set.union(*LAYERS)
    pairs = [(module, imported) for module in MODULES for imported in imports(module)]
    assert [pair for pair in pairs if pair[1] in GATHERS] == []
    assert [(module, imported) for module, imported in pairs if layer_of(imported) > layer_of(module)] == []


def test_no_file_imports_itself_by_way_of_others() -> None:
    # A package is loaded with its modules; what they import of each other is what counts.
    graph = {m: {i for i in imports(m) if i in PATHS and not m.startswith(i + ".")} for m in MODULES}
    found = in_circles(graph)
    assert found == {}
    parts = {(part_of(m), part_of(i)) for m in MODULES for i in imports(m)}
    assert [(a, b) for a, b in parts if a != b and (b, a) in parts] == []


def test_the_core_knows_no_client() -> None:
    clients = [
        name
        for layer in LAYERS[2:]
        for name in layer
        if name not in ("numpy", "rules", "testing", "math", "cmath", "nn")
    ]
    for module in MODULES:
        if part_of(module) == "core":
            names = {n.id for n in nodes(module) if isinstance(n, ast.Name)} | imports(module)
            assert [n for n in names if not set(re.split(r"[._]", n.lower())).isdisjoint(clients)] == [], (
                module
            )


def test_optional_packages_are_loaded_by_their_own_parts_only() -> None:
    for module in MODULES:
        if part_of(module) not in USES_OPTIONAL:
            found = {
                alias.name for node in nodes(module) if isinstance(node, ast.Import) for alias in node.names
            }
            assert {name.split(".")[0] for name in found} & OPTIONAL == set(), module


# Where classes say what they do in the place of others, they say that they do.
MARKED = ("core", "optim", "testing", "transforms", "torch.graph", "torch.tensors", "tree")


def unmarked(module: str) -> Iterator[str]:
    """The methods of this module that take the place of others without a mark."""
    for node in parsed(module).body:
        if isinstance(node, ast.ClassDef):
            bases = getattr(import_module(module), node.name).__mro__[1:]
            ours = set().union(*(vars(base) for base in bases if base.__module__.startswith("funcgrad.")))
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name in ours - {"__init__"}:
                    marks = {ast.unparse(mark) for mark in method.decorator_list}
                    is_accessor = any(mark.endswith((".setter", ".getter", ".deleter")) for mark in marks)
                    if not (method.name.startswith("__") or is_accessor or "override" in marks):
                        yield f"{module}.{node.name}.{method.name}"


def test_what_takes_the_place_of_another_method_is_marked() -> None:
    modules = [
        module for module in MODULES if module.startswith(tuple(f"funcgrad.{room}" for room in MARKED))
    ]
    assert len(modules) > 100
    assert [method for module in modules for method in unmarked(module)] == []


def test_a_file_is_one_idea_and_a_function_is_short() -> None:
    too_long = []
    for module in PATHS:
        assert ast.get_docstring(parsed(module)), f"{module}: a module says what it is for"
        if len(PATHS[module].read_text().splitlines()) > LINES:
            too_long.append(module)
        for node in nodes(module):
            if (
                isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                and f"{module}.{node.name}" not in WRITTEN_OUT
            ):
                docstring = (ast.get_docstring(node, clean=False) or "").splitlines()
                if (node.end_lineno or 0) - node.lineno + 1 - len(docstring) > LINES_OF_A_FUNCTION:
                    too_long.append(f"{module}.{node.name}")
    assert too_long == []
