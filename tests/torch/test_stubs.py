"""Stubs are up to date, and know every public name."""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from types import ModuleType

import pytest

import funcgrad.torch as torch
from funcgrad.torch import stubs

written = functools.cache(stubs.stubs)  # path -> text


@pytest.mark.parametrize(
    "path", sorted(stubs.ROOT.rglob("*.pyi")), ids=lambda path: str(path.relative_to(stubs.ROOT))
)
def test_a_stub_is_what_the_command_writes(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == written()[path], "run python -m funcgrad.torch.stubs"


def test_no_stub_is_missing() -> None:
    assert set(written()) == set(stubs.ROOT.rglob("*.pyi"))


def declared(body: list[ast.stmt]) -> set[str]:
    """The names that a stub (or a class in it) declares."""
    names: set[str] = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(ast.unparse(node.target))
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def test_every_public_name_is_declared() -> None:
    names = declared(ast.parse(written()[stubs.ROOT / "__init__.pyi"]).body)
    public = {n for n, x in vars(torch).items() if not n.startswith("_") and not isinstance(x, ModuleType)}
    assert public - names == set()


@pytest.mark.parametrize("module", stubs.PACKAGES, ids=lambda module: module.__name__)
def test_every_name_of_a_package_is_declared(module: ModuleType) -> None:
    stub = written()[Path(module.__file__ or "").with_suffix(".pyi")]
    assert set(module.__all__) - declared(ast.parse(stub).body) == set()


def test_a_made_module_is_declared_with_its_settings() -> None:
    stub = written()[stubs.ROOT / "nn" / "__init__.pyi"]
    (made,) = [
        node for node in ast.parse(stub).body if isinstance(node, ast.ClassDef) and node.name == "HuberLoss"
    ]
    assert [ast.unparse(line) for line in made.body] == [
        "reduction: str",
        "delta: _float",
        "def __init__(self, reduction: str='mean', delta: _float=1.0) -> None:\n    ...",
        "def forward(self, input: Tensor, target: Tensor) -> Tensor:\n    ...",
    ]


def test_every_method_is_declared() -> None:
    module = ast.parse(written()[stubs.ROOT / "tensors" / "tensor.pyi"])
    (body,) = [node.body for node in module.body if isinstance(node, ast.ClassDef) and node.name == "Tensor"]
    assert {name for name in vars(torch.Tensor) if not name.startswith("_")} - declared(body) == {
        "grad_"
    } - declared(body)
