"""Stubs for editors and type checkers: the facade's methods are attached as it is loaded, where these cannot
see them.

    python -m funcgrad.torch.stubs          writes the .pyi files beside the modules that they describe
    python -m funcgrad.torch.stubs --check  says whether they are up to date

What is in them comes from the loaded facade: its names and signatures. Bodies of functions say little of
types, so that the names of parameters tell the rest: in PyTorch, `dim` means the same everywhere.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import funcgrad.torch as torch
from funcgrad.torch.functions.ops import Op
from funcgrad.torch.nn.functional.reduction import LEGACY
from funcgrad.torch.tensors import dtypes, tensor
from funcgrad.torch.tensors.tensor import Tensor

ROOT = Path(torch.__file__).parent
HEAD = (
    "# ruff: noqa\n# Written by `python -m funcgrad.torch.stubs`: edit that, or the functions themselves.\n"
)
_KNOWN = (
    "Any Callable Generator Iterator None Number Sequence Size Tensor bool bytes complex device dict dtype float int "
    "list object set slice str tuple type"
)
KNOWN = frozenset(_KNOWN.split())
# The types of parameters that are not annotated, by their names.
PARAMETERS = {
    "input": "Tensor",
    "self": "Tensor",
    "tensor": "Tensor",
    "tensors": "Sequence[Tensor]",
    "index": "Any",
    "mat1": "Tensor",
    "mat2": "Tensor",
    "other": "Tensor | Number",
    "exponent": "Tensor | Number",
    "dim": "int | Sequence[int] | None",
    "axis": "int | Sequence[int] | None",
    "dims": "Any",
    "keepdim": "bool",
    "alpha": "Number",
    "beta": "Number",
    "value": "Any",
    "dtype": "dtype | type | str | None",  # NumPy's are accepted, too
    "device": "device | str | None",
    "requires_grad": "bool",
    "generator": "Generator | None",
    "out": "Any",
    "memory_format": "Any",
}
# What gives something else than one tensor.
_SEVERAL = (
    "split chunk unbind tensor_split hsplit vsplit dsplit split_with_sizes gradient unsafe_split unsafe_chunk "
    "unsafe_split_with_sizes split_copy unbind_copy broadcast_tensors split_with_sizes_copy meshgrid aminmax frexp "
    "std_mean var_mean unravel_index"
)
RETURNS = {
    **dict.fromkeys(_SEVERAL.split(), "tuple[Tensor, ...]"),
    **dict.fromkeys(("sort", "topk", "kthvalue", "mode", "cummax", "cummin"), "Selected"),
    **dict.fromkeys(("item", "tolist", "numpy", "unique", "unique_consecutive"), "Any"),
}
_EXTREME = """
@overload
def {name}(self) -> Tensor: ...
@overload
def {name}(self, dim: int, keepdim: bool = False) -> Selected: ...
@overload
def {name}(self, other: Tensor) -> Tensor: ...
"""
_EXTREME_OF = """
@overload
def {name}(input: Tensor) -> Tensor: ...
@overload
def {name}(input: Tensor, dim: int, keepdim: bool = False, *, out: Any = None) -> Selected: ...
@overload
def {name}(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor: ...
"""
_WHERE = """
@overload
def {name}(condition: Tensor) -> tuple[Tensor, ...]: ...
@overload
def {name}(condition: Tensor, input: Any, other: Any, *, out: Any = None) -> Tensor: ...
"""
_IS_TENSOR = "def {name}(obj: object) -> _TypeIs[Tensor]: ..."
FUNCTIONS = {
    "where": _WHERE,
    "is_tensor": _IS_TENSOR,
    **dict.fromkeys(("max", "min", "median", "nanmedian"), _EXTREME_OF),
}
_BINARY = "def {name}(self, other: Any) -> Tensor: ..."
_OPERATORS = "add sub mul truediv pow mod floordiv matmul and or xor lshift rshift"
METHODS = {
    **dict.fromkeys(("max", "min", "median", "nanmedian"), _EXTREME),
    **{f"__{kind}{name}__": _BINARY for name in _OPERATORS.split() for kind in ("", "r", "i")},
    **{f"__{name}__": _BINARY for name in ["lt", "le", "gt", "ge"]},
    **{f"__{name}__": "def {name}(self, other: object) -> Tensor: ..." for name in ("eq", "ne")},
    **{f"__{name}__": "def {name}(self) -> Tensor: ..." for name in ["neg", "pos", "abs", "invert"]},
    "__getitem__": "def {name}(self, index: Any) -> Tensor: ...",
    "__setitem__": "def {name}(self, index: Any, value: Any) -> None: ...",
    "__iter__": "def {name}(self) -> Iterator[Tensor]: ...",
    "__bool__": "def {name}(self) -> bool: ...",
    "__int__": "def {name}(self) -> int: ...",
    "__index__": "def {name}(self) -> int: ...",
    "__float__": "def {name}(self) -> float: ...",
    "__complex__": "def {name}(self) -> complex: ...",
    "__hash__": "def {name}(self) -> int: ...",
}


# Types whose names the facade uses for something else too: torch.bool is a dtype, Tensor.float a method.
SHADOWED = ("bool", "int", "float", "complex", "type")
ALIASES = "".join(f"from builtins import {name} as _{name}\n" for name in SHADOWED) + (
    "from typing_extensions import TypeIs as _TypeIs\n"
    "from funcgrad.torch.tensors.dtypes import dtype as _dtype\nfrom funcgrad.torch.tensors.size import device as _device\n"
)


class _Unshadowed(ast.NodeTransformer):
    """Gives the types in annotations names of their own."""

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(f"_{node.id}") if node.id in (*SHADOWED, "dtype", "device") else node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = node.annotation and self.visit(node.annotation)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = self.visit(node.annotation)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.visit(node.args)
        node.returns = node.returns and self.visit(node.returns)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.body = [self.visit(part) for part in node.body]
        return node


def written(lines: list[str]) -> str:
    """The text of a stub."""
    text = ast.unparse(_Unshadowed().visit(ast.parse("\n".join(lines))))
    return HEAD + re.sub(r":\n +\.\.\.(?=\n|$)", ": ...", text) + "\n"


# ---- one function ----------------------------------------------------------------------------------------------------
def source_of(function: Any) -> Any:
    """What has the signature: the body of an Op, the Op of a lane, the function behind an in-place variant."""
    while True:
        inner = (
            getattr(function, "op", None)
            or getattr(function, "functional", None)
            or getattr(function, "__wrapped__", None)
        )
        inner = function.body if isinstance(function, Op) else inner
        if inner is None or isinstance(function, type):
            return function
        function = inner


def signature(name: str, function: Any, first: str | None) -> str:
    """The line that declares it; `first` is what a method calls its first parameter."""
    source = source_of(function)
    if isinstance(source, np.ufunc):
        names = ("input", "other")[: source.nin]
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    else:
        parameters = list(inspect.signature(source).parameters.values())
    if first is not None and parameters and parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL:
        parameters = parameters[1:]
    parts = list(_parameters([p for p in parameters if not p.name.startswith("_")]))
    takes_out = isinstance(function, Op) or hasattr(function, "op")
    if takes_out and not any(p.startswith(("out", "**")) for p in parts):
        named = any(p == "*" or p.startswith("*") for p in parts)
        parts += ["out: Any = None"] if named else ["*", "out: Any = None"]
    return f"def {name}({', '.join([first, *parts] if first else parts)}) -> {_returned(name, source, function)}: ..."


def _parameters(parameters: list[inspect.Parameter]) -> Iterator[str]:
    starred = False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not starred:
            starred = True
            yield "*"
        starred = starred or p.kind is p.VAR_POSITIONAL
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else f" = {_shown(p.default)}"
        kind = "Any" if mark else _type(p)
        yield f"{mark}{p.name}: {kind}{default}"


def _shown(default: Any) -> str:
    is_plain = default is None or type(default) in (bool, int, float, str)
    return repr(default) if is_plain and repr(default) not in ("inf", "-inf", "nan") else "..."


def _type(p: inspect.Parameter) -> str:
    found = _annotated(p.annotation)
    if found in (None, "Any"):
        found = PARAMETERS.get(p.name)
        if found is None and type(p.default) is bool:
            found = "bool"
    found = found or "Any"
    return f"{found} | None" if p.default is None and "None" not in found and found != "Any" else found


def _annotated(annotation: Any) -> str | None:
    """An annotation, if all names in it are known to the stubs."""
    if not isinstance(annotation, str):
        return None
    names = {n.id for n in ast.walk(ast.parse(annotation)) if isinstance(n, ast.Name)}
    return annotation if names <= KNOWN else None


def _returned(name: str, source: Any, function: Any) -> str:
    if name in RETURNS:
        return RETURNS[name]
    found = _annotated(getattr(source, "__annotations__", {}).get("return"))
    if found not in (None, "Any"):
        return str(found)
    changes = hasattr(function, "functional") or (name.endswith("_") and not name.endswith("__"))
    return "Tensor" if changes or isinstance(function, Op) or hasattr(function, "op") else "Any"


# ---- the tensor ------------------------------------------------------------------------------------------------------
def tensor_stub() -> str:
    """tensors/tensor.pyi: what the file has, without bodies, and all that is attached to Tensor."""
    module = ast.parse(Path(tensor.__file__ or "").read_text(encoding="utf-8"))
    body: list[str] = []
    for node in module.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            body.append(ast.unparse(node))
        elif isinstance(node, ast.ClassDef) and node.name == "Tensor":
            body += [_SELECTED, _class(node, _attached(node))]
        elif isinstance(node, ast.ClassDef):
            body.append(_class(node, []))
        elif isinstance(node, ast.FunctionDef):
            body.append(_bare(node))
        elif isinstance(node, ast.AnnAssign):
            body.append(f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}")
        elif isinstance(node, ast.Assign):
            kind = {"EAGER": "EagerTrace"}.get(ast.unparse(node.targets[0]), "Any")
            body.append(f"{ast.unparse(node.targets[0])}: {kind}")
    imports = (
        "from collections.abc import Callable, Iterator, Sequence\n"
        "from typing import NamedTuple, overload\n\n"
        "from funcgrad.torch.random.generator import Generator\n" + ALIASES + "\n"
        "Number = int | float | complex\n"
    )
    at = next(k for k, line in enumerate(body) if not line.startswith(("from ", "import ")))
    return written([*body[:at], imports, *body[at:]])


_SLOTS = ("__dict__", "__weakref__", "grad_", "link", "node", "value")
_SELECTED = "class Selected(NamedTuple):\n    values: Tensor\n    indices: Tensor"


def _bare(node: ast.FunctionDef) -> str:
    """A function without its body."""
    decorators = "".join(f"@{ast.unparse(d)}\n" for d in node.decorator_list)
    returned = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    return f"{decorators}def {node.name}({ast.unparse(node.args)}){returned}: ..."


def _class(node: ast.ClassDef, attached: list[str]) -> str:
    bases = ", ".join(map(ast.unparse, node.bases))
    lines: list[str] = []
    for part in node.body:
        if isinstance(part, ast.FunctionDef):
            lines.append(_bare(part))
        elif isinstance(part, ast.AnnAssign):
            lines.append(f"{ast.unparse(part.target)}: {ast.unparse(part.annotation)}")
        elif isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) != "__slots__":
            kind = "bool" if isinstance(getattr(part.value, "value", None), bool) else "Any"
            lines += [f"{ast.unparse(target)}: {kind}" for target in part.targets]
    lines = [line for line in lines if "def __getattr__" not in line]
    inner = "\n".join([*lines, *attached]) or "..."
    return f"class {node.name}{f'({bases})' if bases else ''}:\n" + re.sub(
        r"^(?=.)", "    ", inner, flags=re.MULTILINE
    )


def _attached(node: ast.ClassDef) -> list[str]:
    """The members of Tensor that the file does not have."""
    own = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    own |= {
        ast.unparse(target) for part in node.body if isinstance(part, ast.Assign) for target in part.targets
    }
    lines = ["def __init__(self, *args: Any) -> None: ..."]
    for name, member in sorted(vars(Tensor).items()):
        if name in own or name in _SLOTS or (name.startswith("_") and name not in METHODS):
            continue
        if isinstance(member, bool):
            lines.append(f"{name}: bool")
        elif name in METHODS:
            lines.append(METHODS[name].strip().format(name=name))
        elif isinstance(member, property):
            lines.append(
                f"@property\ndef {name}(self) -> {'bool' if name == 'retains_grad' else _property(name)}: ..."
            )
        elif callable(member):
            lines.append(signature(name, member, "self"))
        else:
            lines.append(f"{name}: Any")
    return lines


def _property(name: str) -> str:
    return "Any" if name == "grad_fn" else "Tensor"


# ---- namespaces ------------------------------------------------------------------------------------------------------
_NAMESPACE = (
    "from collections.abc import Callable, Iterator, Sequence\n"
    "from typing import Any, overload\n\n"
    "from funcgrad.torch.random.generator import Generator as Generator\n"
    "from funcgrad.torch.tensors.dtypes import dtype as dtype\n"
    "from funcgrad.torch.tensors.size import Size as Size\n"
    "from funcgrad.torch.tensors.size import device as device\n"
    "from funcgrad.torch.tensors.tensor import Number, Selected\n"
    "from funcgrad.torch.tensors.tensor import Tensor as Tensor\n"
)


def namespace_stub(module: ModuleType) -> str:
    """The stub of a module whose functions come from the registry."""
    for file in pkgutil.iter_modules(getattr(module, "__path__", ())):  # those read when they are used, too
        importlib.import_module(f"{module.__name__}.{file.name}")
    lines, last = [], []
    for name, thing in sorted(vars(module).items()):
        if (
            name.startswith("_")
            and name != "__version__"
            or re.search(rf"^from .* import {name} as {name}$", _NAMESPACE, re.M)
        ):
            continue
        if name in FUNCTIONS and module is torch:
            last.append(FUNCTIONS[name].strip().format(name=name))
        elif isinstance(thing, ModuleType):
            if thing.__name__ == f"{module.__name__}.{name}" and name != "stubs":
                lines.append(f"from {module.__name__} import {name} as {name}")
        elif isinstance(thing, type) or _is_annotated(thing):
            if name == thing.__name__ and _stands_in_its_file(thing):
                lines.append(f"from {thing.__module__} import {name} as {name}")
            else:
                last.append(
                    _class_line(name, thing) if isinstance(thing, type) else signature(name, thing, None)
                )
        elif callable(thing) and not isinstance(thing, (dtypes.dtype, np.dtype)):
            last.append(signature(name, thing, None))
        else:
            kind = type(thing).__name__
            last.append(f"{name}: {kind if kind in ('float', 'str', 'dtype', 'Generator') else 'Any'}")
    more = (
        ["from funcgrad.torch.nn.functional import ("]
        + [f"    {n} as {n}," for n in _of_functional(module)]
        + [")"]
    )
    lines += more if len(more) > 2 else []
    return written([_NAMESPACE + ALIASES, *lines, *sorted(last, key=_order)])


# Those whose names are gathered (public.py).
PACKAGES: tuple[ModuleType, ...] = (
    *(torch.nn, torch.nn.functional, torch.optim, torch.optim.lr_scheduler),
    *(torch.autograd, torch.distributions, torch.random, torch.utils.data),
)


def package_stub(module: ModuleType) -> str:
    """The stub of a package whose names are gathered: what is in its files, and what rows of tables became."""
    lines, last = [], []
    for name in module.__all__:
        thing = getattr(module, name)
        home = getattr(thing, "__module__", None)
        if isinstance(thing, ModuleType):
            lines.append(f"from {module.__name__} import {name} as {name}")
        elif home in sys.modules and name in _written(sys.modules[home]):
            lines.append(f"from {home} import {name} as {name}")
        elif isinstance(thing, type):
            last.append(_made_class(name, thing, module.__all__))
        elif inspect.isfunction(thing) or isinstance(thing, Op):
            last.append(signature(name, thing, None))
        else:
            kind = type(thing)
            home = f"from {kind.__module__} import {kind.__name__}"
            if kind.__name__ not in module.__all__ and home not in lines and home not in _NAMESPACE:
                lines.append(home)
            last.append(f"{name}: {kind.__name__}")
    return written([_NAMESPACE + ALIASES, *lines, *last])


# Decorators that add parameters, or whose type says nothing.
_CHANGING = {"function", "makes", "creation.makes", "reducing"}


@cache
def _written(module: ModuleType) -> set[str]:
    """The functions and classes that stand in a file as they are."""
    body = ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8")).body
    found = [node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    named = {node.name: {ast.unparse(d).partition("(")[0] for d in node.decorator_list} for node in found}
    return {name for name, decorators in named.items() if not decorators & _CHANGING}


def _stands_in_its_file(thing: Any) -> bool:
    """Is it to be found in its module, and (a function) without what a decorator has made of it?"""
    home = sys.modules.get(thing.__module__)
    if home is None or not hasattr(home, thing.__name__):
        return False
    return isinstance(thing, type) or thing.__name__ in _written(home)


def _made_class(name: str, made: type, public: list[str]) -> str:
    """A module that was made from a function, or an optimizer."""
    base = next(each.__name__ for each in made.__mro__[1:] if each.__name__ in public)
    lines = [signature("__init__", made.__init__, "self")]
    if hasattr(made, "forward"):
        settings = inspect.signature(made).parameters.items()
        lines[:0] = [f"{n}: {_type(p)}" for n, p in settings if n not in LEGACY]
        lines.append(signature("forward", made.forward, "self"))
    return f"class {name}({base}):\n    " + "\n    ".join(lines)


def _class_line(name: str, kind: type) -> str:
    if issubclass(kind, BaseException):
        return f"class {name}({kind.__mro__[1].__name__}): ..."
    return f"{name}: type[Tensor]"


def _order(line: str) -> tuple[bool, str]:
    return line.startswith(("def", "@")), line


def _is_annotated(thing: Any) -> bool:
    is_function = inspect.isfunction(thing) and not hasattr(thing, "op") and not hasattr(thing, "functional")
    return is_function and not hasattr(thing, "__wrapped__") and "return" in thing.__annotations__


def _of_functional(module: ModuleType) -> list[str]:
    names = getattr(module, "_OF_FUNCTIONAL", "").split()
    return sorted(name for name in names if hasattr(torch.nn.functional, name) and name not in vars(module))


def stubs() -> dict[Path, str]:
    """Each file and its text."""
    makers: dict[Path, Callable[[], str]] = {ROOT / "tensors" / "tensor.pyi": tensor_stub}
    makers[ROOT / "__init__.pyi"] = lambda: namespace_stub(torch)
    for name in ("linalg", "special", "fft"):
        makers[ROOT / f"{name}.pyi"] = lambda name=name: namespace_stub(sys.modules[f"funcgrad.torch.{name}"])
    for package in PACKAGES:
        path = Path(package.__file__ or "").with_suffix(".pyi")
        makers[path] = lambda package=package: package_stub(package)
    return {path: make() for path, make in makers.items()}


def main(arguments: list[str]) -> int:
    """Write the files, or check them."""
    stale = [
        path
        for path, text in stubs().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in stale:
        if "--check" in arguments:
            print(f"{path} is not up to date: run python -m funcgrad.torch.stubs")  # noqa: T201 (a command)
        else:
            path.write_text(stubs()[path], encoding="utf-8")
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
