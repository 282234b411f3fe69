"""Checks what was built: `python .ci/release.py dist`, after `make release` has built it."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def version() -> str:
    """The one version, which stands in three places; in the changelog with a date."""
    found = {
        "funcgrad/__init__.py": r'^__version__ = "(.+)"$',
        "CITATION.cff": r"^version: (\S+)$",
        "CHANGELOG.md": r"^## \[(\d\S*)\] - \d{4}-\d\d-\d\d$",
    }
    names = {}
    for path, pattern in found.items():
        match = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
        names[path] = match[1] if match else "none"
    if len(set(names.values())) > 1 or "dev" in "".join(names.values()):
        raise SystemExit(f"not the same released version everywhere: {names}")
    return names["CITATION.cff"]


def contents(wheel: Path, sdist: Path) -> None:
    """The package is in both, tests in the sdist alone, and nothing that was left lying about."""
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        source = {name.partition("/")[2] for name in archive.getnames()}
    listed = subprocess.run(
        ["git", "ls-files", "funcgrad"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    wanted = set(listed.stdout.split())
    for name, have in (("the wheel", packed), ("the sdist", source)):
        if missing := wanted - have:
            raise SystemExit(f"{name} lacks {sorted(missing)[:5]}")
        if more := {path for path in have if path.startswith("funcgrad/")} - wanted:
            raise SystemExit(f"{name} has files that are not under version control: {sorted(more)[:5]}")
    if any(path.startswith("tests") for path in packed):
        raise SystemExit("the wheel has tests")
    if not {"tests/test_package.py", "CHANGELOG.md", "LICENSE", "README.md", "pyproject.toml"} <= source:
        raise SystemExit("the sdist lacks tests, the changelog, the licence, the README or pyproject.toml")


def oldest_numpy() -> str:
    """The oldest version that pyproject.toml allows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (least,) = (re.fullmatch(r"numpy>=(\S+)", d) for d in project["dependencies"] if d.startswith("numpy"))
    if least is None:
        raise SystemExit("pyproject.toml does not say numpy>=...")
    return f"numpy=={least[1]}.0" if least[1].count(".") == 1 else f"numpy=={least[1]}"


def smoke(wheel: Path, numpy: str) -> None:
    """Install the wheel with this NumPy, and nothing else, and use it, far from the sources."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = next(
            p for p in (Path(folder, "bin", "python"), Path(folder, "Scripts", "python.exe")) if p.exists()
        )
        run = lambda *command: subprocess.run([python, "-I", *command], cwd=folder, check=True)
        run("-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel.resolve(), numpy)
        run("-m", "pip", "check")
        run("-W", "error::DeprecationWarning", ROOT / ".ci" / "smoke.py")


if __name__ == "__main__":
    dist = Path(sys.argv[1])
    wheel, sdist = dist / f"funcgrad-{version()}-py3-none-any.whl", dist / f"funcgrad-{version()}.tar.gz"
    contents(wheel, sdist)
    for numpy in (oldest_numpy(), "numpy"):
        smoke(wheel, numpy)
    print(f"{wheel.name} and {sdist.name} can be uploaded")
