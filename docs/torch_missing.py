"""Writes docs/torch_missing.md: the public names of PyTorch that funcgrad.torch lacks, with what to write instead.

It needs PyTorch beside funcgrad: `python docs/torch_missing.py`.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from pathlib import Path
from typing import Any

from funcgrad.torch.advice import ADVICE, advice

HEAD = """# What funcgrad.torch lacks

The public names of PyTorch {version} that are not there, with what to write instead: so says the error, too. Written by
`python docs/torch_missing.py`. [](torch_names.md) has the names that are there.

| names | what to do instead |
|---|---|
"""


def _namespace(package: str, space: str) -> Any:
    if space == "Tensor":
        return importlib.import_module(package).Tensor
    try:
        return importlib.import_module(f"{package}.{space}" if space else package)
    except ImportError:
        return None


def _is_public(space: str, name: str, thing: Any) -> bool:
    """Is it PyTorch's own, and no module or name of typing that it imports?"""
    home = getattr(thing, "__module__", None) or "torch"
    return not (
        name.startswith("_")
        or inspect.ismodule(thing)
        or (space not in ("", "Tensor") and home.split(".")[0] != "torch")
        or home in ("typing", "collections.abc")
    )


def missing() -> dict[str, list[str]]:
    """The names that each namespace lacks."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for space in ADVICE:
            theirs, ours = _namespace("torch", space), _namespace("funcgrad.torch", space)
            if theirs is None:
                continue
            listed = getattr(theirs, "__all__", None) if space not in ("", "Tensor") else None
            names = [n for n in listed or dir(theirs) if hasattr(theirs, n)]
            found[space] = [
                n for n in names if _is_public(space, n, getattr(theirs, n)) and not hasattr(ours, n)
            ]
    return found


def page(version: str) -> str:
    """The page: names of a namespace with one advice share a row."""
    rows = []
    for space, names in missing().items():
        texts = {name: advice(space, name) or "nothing is known" for name in sorted(names)}
        for text in dict.fromkeys(texts.values()):
            listed = ", ".join(f"`{name}`" for name, given in texts.items() if given == text)
            rows.append(f"| `torch{'.' if space else ''}{space}`: {listed} | {text} |")
    return HEAD.format(version=version) + "\n".join(rows) + "\n"


if __name__ == "__main__":
    import torch

    Path(__file__).with_name("torch_missing.md").write_text(
        page(torch.__version__.partition("+")[0]), encoding="utf-8"
    )
