"""What the installed package says of itself."""

import importlib.metadata
import importlib.resources
import pathlib
import re

import funcgrad

ROOT = pathlib.Path(__file__).parent.parent


def test_version_is_the_same_wherever_it_is_written():
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert citation is not None
    assert citation[1] == funcgrad.__version__ == importlib.metadata.version("funcgrad")


def test_types_are_shipped():
    assert importlib.resources.files("funcgrad").joinpath("py.typed").is_file()


def test_numpy_is_the_only_array_library_required():
    required = [line for line in importlib.metadata.requires("funcgrad") or [] if "extra ==" not in line]
    names = {re.split(r"[<>=~! ;\[]", line, maxsplit=1)[0] for line in required}
    assert names == {"numpy", "typing-extensions"}


def test_dir_shows_what_is_public() -> None:
    names = [name for name in dir(funcgrad) if not name.startswith("__")]
    assert set(funcgrad.__all__) < set(names)
    assert not {"Any", "LATE", "TYPE_CHECKING", "importlib", "core", "rules", "transforms"} & set(names)
    assert [name for name in names if not hasattr(funcgrad, name)] == []
