"""Names that funcgrad.torch lacks: the error says what to write instead, for each that PyTorch has."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import funcgrad.torch as torch
from funcgrad.torch.advice import ADVICE

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("namespace", "name", "instead"),
    [
        (torch, "lobpcg", "torch.linalg.eigh"),
        (torch, "embedding", "torch.nn.functional.embedding"),
        (torch.nn, "SyncBatchNorm", "BatchNorm1d"),
        (
            torch.nn.functional,
            "adaptive_max_pool2d_with_indices",
            "adaptive_max_pool2d(x, size, return_indices=True)",
        ),
        (torch.nn.init, "normal", "underscore"),
        (torch.ones(2), "symeig", "torch.linalg.eigh"),
        (torch.cuda, "temperature", "CPU only"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_to_write(namespace, name, instead):
    with pytest.raises(AttributeError, match=re.escape(instead)):
        getattr(namespace, name)


def test_names_without_advice():
    with pytest.raises(AttributeError, match=r"funcgrad\.torch lacks it"):
        _ = torch.nn.NoSuchLayer


def test_patterns_are_patterns():
    for patterns in ADVICE.values():
        for pattern, text in patterns.items():
            re.compile(pattern)
            assert text


def test_every_public_name_is_there_or_has_advice():
    pytest.importorskip("torch", reason="the original is not installed")
    spec = importlib.util.spec_from_file_location("torch_missing", DOCS / "torch_missing.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    silent = {
        f"{space}.{name}"
        for space, names in script.missing().items()
        for name in names
        if script.advice(space, name) is None
    }
    assert silent == set()
