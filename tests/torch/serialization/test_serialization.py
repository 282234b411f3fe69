"""save and load, pickles and copies: what comes back, what is shared, and that no code runs."""

from __future__ import annotations

import copy
import io
import math
import os
import pickle
import zipfile
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad.torch as ft
from funcgrad.torch.serialization.archive import STRUCTURE

DTYPES = [
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "bool",
]


def saved(obj: Any, torch: Any = ft) -> io.BytesIO:
    """A file that holds `obj`."""
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return file


def through_a_file(obj: Any) -> Any:
    return ft.load(saved(obj))


CONTENTS = [
    None, True, 3, -1.5, 10**30, "text", b"bytes", 2 - 1j, [1, [2.0, "x"]], (1, (2,)), {1, 2}, frozenset([3]), {}, [], (),
    {"a": 1, 2: [3], (4, "b"): None}, OrderedDict([("b", 1), ("a", 2)]), ft.float32, ft.device("cpu"), ft.Size([2, 3]),
    np.float32(1.5), np.int8(3), math.inf,
]  # fmt: skip


@pytest.mark.parametrize("content", CONTENTS, ids=str)
def test_contents_come_back(content: Any) -> None:
    found = through_a_file({"content": content})["content"]
    assert found == content
    assert type(found) is type(content)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3)])
def test_tensors_come_back(dtype: str, shape: tuple[int, ...]) -> None:
    x = ft.ones(shape, dtype=getattr(ft, dtype))
    found = through_a_file([x])[0]
    assert type(found) is ft.Tensor
    assert (found.dtype, found.shape, found.tolist()) == (x.dtype, x.shape, x.tolist())


def test_special_numbers_come_back() -> None:
    assert math.isnan(through_a_file(math.nan))
    x = ft.tensor([math.nan, -0.0, math.inf])
    assert repr(through_a_file(x)) == repr(x)


def test_arrays_come_back() -> None:
    x = np.arange(6.0).reshape(2, 3).T
    found = through_a_file(x)
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, x)


def test_flags_come_back() -> None:
    leaf, parameter = through_a_file(
        [ft.ones(2, requires_grad=True), ft.nn.Parameter(ft.ones(2), requires_grad=False)]
    )
    assert leaf.requires_grad
    assert leaf.is_leaf
    assert isinstance(parameter, ft.nn.Parameter)
    assert not parameter.requires_grad


def test_the_same_tensor_comes_back_once() -> None:
    x = ft.ones(2)
    a, b = through_a_file([x, x])
    assert a is b


def test_views_share_memory_again() -> None:
    x = ft.arange(6.0).reshape(2, 3)
    whole, row, turned, detached, other = through_a_file([x, x[1], x.T, x.detach(), x.clone()])
    whole[1, 0] = 50
    assert row.tolist() == [50, 4, 5]
    assert turned[0].tolist() == [0, 50]
    assert detached[1, 0] == 50
    assert other[1, 0] == 3
    row.mul_(2)
    assert whole[1].tolist() == [100, 8, 10]


def test_shared_memory_is_stored_once() -> None:
    x = ft.zeros(1000)
    assert len(saved([x, x[:500], x.reshape(10, 100)]).getvalue()) < len(saved(x).getvalue()) + 500


def test_views_whose_base_is_not_saved() -> None:
    x = ft.arange(6.0).reshape(2, 3)
    assert through_a_file(x[:, 1]).tolist() == [1, 4]
    assert through_a_file(x.T[1:]).tolist() == [[1, 4], [2, 5]]
    assert through_a_file(x.expand(2, 2, 3)).shape == (2, 2, 3)
    assert through_a_file(ft.from_numpy(np.arange(6.0)[::2])).tolist() == [0, 2, 4]


def test_results_come_back_as_leaves() -> None:
    x = ft.ones(2, requires_grad=True)
    found = through_a_file(x * 2)
    assert found.is_leaf
    assert found.requires_grad
    assert found.tolist() == [2, 2]


def test_a_model_and_its_optimizer_continue(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    ft.manual_seed(0)
    model = ft.nn.Linear(2, 1)
    optimizer = ft.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step() -> list[Any]:
        optimizer.zero_grad()
        model(ft.ones(3, 2)).sum().backward()
        optimizer.step()
        return model.weight.tolist()

    step()
    ft.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    expected = step()
    found = ft.load(os.fspath(path), map_location="cpu")
    model.load_state_dict(found["model"])
    optimizer.load_state_dict(found["optimizer"])
    assert step() == expected


class Hostile:
    def __reduce__(self) -> Any:
        return print, ("code ran",)


REFUSED: list[tuple[type[Exception], str, Any]] = [
    (TypeError, "can't save a function", lambda: None),
    (TypeError, "array of objects", np.array([Hostile()])),
    (TypeError, "can't save a Mine", type("Mine", (dict,), {})()),
]


def test_a_module_comes_back_from_a_file_that_is_trusted() -> None:
    net = ft.nn.Sequential(ft.nn.Linear(2, 3), ft.nn.BatchNorm1d(3), ft.nn.LSTM(3, 2))
    net[0].register_buffer("seen", net[0].weight.detach()[:1])  # shares the memory of a parameter
    file = io.BytesIO()
    ft.save({"net": net, "epoch": 3}, file)
    with pytest.raises(
        pickle.UnpicklingError, match=r"weights_only=False.*add_safe_globals\(\[Sequential\]\)"
    ):
        ft.load(io.BytesIO(file.getvalue()))
    found = ft.load(io.BytesIO(file.getvalue()), weights_only=False)
    made = found["net"]
    assert (found["epoch"], repr(made)) == (3, repr(net))
    assert all(isinstance(p, ft.nn.Parameter) and p.requires_grad for p in made.parameters())
    for (name, before), (again, after) in zip(
        net.state_dict().items(), made.state_dict().items(), strict=True
    ):
        assert (name, before.tolist()) == (again, after.tolist())
    with ft.no_grad():
        made[0].weight.fill_(7.0)
    assert made[0].seen.tolist() == [[7, 7]]


def test_classes_that_are_said_to_be_safe_are_built() -> None:
    file = io.BytesIO()
    ft.save(deque("abca"), file)
    with ft.serialization.safe_globals([deque]):
        assert ft.serialization.get_safe_globals() == [deque]
        assert ft.load(io.BytesIO(file.getvalue())) == deque("abca")
    with pytest.raises(pickle.UnpicklingError, match="deque"):
        ft.load(io.BytesIO(file.getvalue()))


@pytest.mark.parametrize(("kind", "text", "content"), REFUSED, ids=[text for _, text, _ in REFUSED])
def test_what_is_not_safe_is_refused(kind: type[Exception], text: str, content: Any) -> None:
    with pytest.raises(kind, match=text):
        saved([content])


def test_a_container_that_contains_itself() -> None:
    x: list[Any] = []
    x.append({"x": x})
    with pytest.raises(ValueError, match="contains itself"):
        saved(x)
    y = [1]
    assert through_a_file([y, y]) == [[1], [1]]


def archive(**members: bytes) -> io.BytesIO:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in members.items():
            made.writestr(name.replace("__", "/").replace("_", "."), content)
    file.seek(0)
    return file


def test_code_in_a_pickle_does_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match=r"names builtins\.print"):
        ft.load(archive(a__data_pkl=pickle.dumps(Hostile())), weights_only=False)
    assert capsys.readouterr().out == ""


def test_code_in_an_array_does_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    content = io.BytesIO()
    np.save(content, np.array([Hostile()]), allow_pickle=True)
    structure = b'{"format": "funcgrad.torch 1", "content": {"array": 0}}'
    with pytest.raises(ValueError, match="allow_pickle"):
        ft.load(archive(structure_json=structure, arrays__0_npy=content.getvalue()))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "place", ["[4, [2], [1]]", "[0, [2], [5]]", "[-1, [2], [1]]", "[3, [2], [-1]]", "[0, [-2], [1]]"]
)
def test_a_tensor_outside_its_storage_is_refused(place: str) -> None:
    content = io.BytesIO()
    np.save(content, np.arange(5.0))
    found = f'{{"tensor": {{"array": 0, "place": {place}, "requires_grad": false, "parameter": false}}}}'
    structure = f'{{"format": "funcgrad.torch 1", "content": {found}}}'.encode()
    with pytest.raises(RuntimeError, match="outside its storage"):
        ft.load(archive(structure_json=structure, arrays__0_npy=content.getvalue()))


BROKEN = [
    ("no archive", io.BytesIO(b"abc")),
    ("no archive", archive(something_txt=b"")),
    ("format", archive(structure_json=b'{"format": "other"}')),
    ("does not know", archive(structure_json=b'{"format": "funcgrad.torch 1", "content": {"what": 1}}')),
]


@pytest.mark.parametrize(("text", "file"), BROKEN, ids=[text for text, _ in BROKEN])
def test_other_files_are_refused(text: str, file: io.BytesIO) -> None:
    with pytest.raises(RuntimeError, match=text):
        ft.load(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ft.load(tmp_path / "nothing.pt")


def test_names_in_an_archive_are_what_is_documented() -> None:
    with zipfile.ZipFile(saved([ft.ones(2), ft.zeros(3)])) as found:
        assert found.namelist() == [STRUCTURE, "arrays/0.npy", "arrays/1.npy"]


# ---- files of the original --------------------------------------------------------------------------------------------
def test_files_of_the_original_are_read() -> None:
    original = pytest.importorskip("torch", reason="the original is not installed")
    x = original.arange(6.0, dtype=original.float64).reshape(2, 3)
    content = {
        "tensors": [original.ones(2, dtype=getattr(original, name)) for name in DTYPES],
        "views": [x, x[1], x.T],
        "parameter": original.nn.Parameter(original.ones(2)),
        "leaf": original.ones(2, requires_grad=True),
        "others": (1.5, None, "s", original.float32, original.Size([2]), original.device("cpu")),
        "model": original.nn.Linear(2, 3).state_dict(),
    }
    found = ft.load(saved(content, original))
    assert repr(found) == repr(content)
    found["views"][0][1, 1] = 50
    assert found["views"][1].tolist() == [3, 50, 5]
    model = ft.nn.Linear(2, 3)
    model.load_state_dict(found["model"])
    assert model.weight.tolist() == content["model"]["weight"].tolist()


def test_modules_of_the_original_are_refused() -> None:
    original = pytest.importorskip("torch", reason="the original is not installed")
    with pytest.raises(RuntimeError, match="save the state_dict"):
        ft.load(saved(original.nn.Linear(1, 1), original))


# ---- pickles and copies ----------------------------------------------------------------------------------------------
COPIES = [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]


@pytest.mark.parametrize("copied", COPIES, ids=["deepcopy", "pickle"])
def test_copies_of_leaves(copied: Any) -> None:
    x = ft.tensor([1.0, 2.0], requires_grad=True)
    y = copied(x)
    assert y.requires_grad
    assert y.is_leaf
    y.data[0] = 5
    assert x.tolist() == [1, 2]
    p = copied(ft.nn.Parameter(ft.ones(2)))
    assert isinstance(p, ft.nn.Parameter)
    assert p.requires_grad


@pytest.mark.parametrize("copied", COPIES, ids=["deepcopy", "pickle"])
def test_copies_of_modules(copied: Any) -> None:
    model = ft.nn.Sequential(ft.nn.Linear(2, 3), ft.nn.ReLU())
    twin = copied(model)
    x = ft.ones(1, 2)
    assert twin(x).tolist() == model(x).tolist()
    assert repr(twin) == repr(model)
    assert all(a is not b for a, b in zip(model.parameters(), twin.parameters(), strict=True))
    twin(x).sum().backward()
    assert all(p.grad is None for p in model.parameters())


def test_deepcopy_takes_the_grad_along_and_a_pickle_does_not() -> None:
    x = ft.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    assert copy.deepcopy(x).grad.tolist() == [3, 3]
    assert copy.deepcopy(x).grad is not x.grad
    assert pickle.loads(pickle.dumps(x)).grad is None


def test_copies_of_results() -> None:
    y = ft.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(y)
    for found in (copy.copy(y), pickle.loads(pickle.dumps(y))):
        assert found.is_leaf
        assert found.requires_grad


@pytest.mark.parametrize(
    "x", [ft.float32, ft.Size([2, 3]), ft.device("cpu"), ft.strided, ft.preserve_format], ids=str
)
def test_copies_of_what_tensors_have(x: Any) -> None:
    for copied in COPIES:
        assert copied(x) == x
        assert type(copied(x)) is type(x)


def test_a_generator_continues_from_a_pickle() -> None:
    made = ft.Generator().manual_seed(5)
    ft.randn(3, generator=made)
    twin = pickle.loads(pickle.dumps(made))
    assert ft.randn(3, generator=twin).tolist() == ft.randn(3, generator=made).tolist()


def test_tensors_that_are_one_stay_one() -> None:
    x = ft.ones(2)
    for copied in COPIES:
        a, b = copied([x, x])
        assert a is b


# ---- memory ----------------------------------------------------------------------------------------------------------
def test_questions_about_memory() -> None:
    x = ft.arange(6.0).reshape(2, 3)
    row, turned, other = x[1], x.T, x.clone()
    assert x.data_ptr() == turned.data_ptr() == x.detach().data_ptr() == x.data.data_ptr()
    assert row.data_ptr() == x.data_ptr() + 3 * x.element_size()
    assert (
        x.untyped_storage().data_ptr()
        == row.untyped_storage().data_ptr()
        != other.untyped_storage().data_ptr()
    )
    assert (x.untyped_storage().nbytes(), x.nbytes, x.itemsize) == (24, 24, 4)
    assert (row.storage_offset(), x[:, 1].storage_offset(), x.storage_offset()) == (3, 1, 0)
    assert (x.stride(), turned.stride(), x.stride(0)) == ((3, 1), (1, 3), 3)
    assert x.is_set_to(x.detach())
    assert not x.is_set_to(turned)
    assert not x.is_set_to(other)
    assert x.is_contiguous()
    assert not turned.is_contiguous()
    assert turned.contiguous().is_contiguous()
