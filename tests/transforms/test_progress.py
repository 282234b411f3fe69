"""Bars are shown when asked for, count what was done, and change no result."""

import sys

import numpy as np
import pytest

from funcgrad import fixed_point, hessian, hessian_diagonal, jacfwd, jacrev, root

x = np.linspace(0.1, 1, 7)


def cubes(x):
    return np.sum(x**3)


LONG = {
    "jacrev": lambda **options: jacrev(np.sin, chunk_size=3, **options)(x),
    "jacfwd": lambda **options: jacfwd(np.sin, chunk_size=3, **options)(x),
    "hessian": lambda **options: hessian(cubes, chunk_size=3, **options)(x),
    "hessian_diagonal": lambda **options: hessian_diagonal(cubes, chunk_size=3, **options)(x),
    "fixed_point": lambda **options: fixed_point(np.cos, x, **options),
    "root": lambda **options: root(lambda x: x**2 - 2, x + 1, **options),
}


@pytest.mark.parametrize("name", LONG)
def test_a_bar_is_shown_when_asked_for(name, capsys):
    pytest.importorskip("tqdm")
    plain = LONG[name]()
    assert capsys.readouterr().err == ""
    np.testing.assert_array_equal(LONG[name](progress=True), plain)
    said = capsys.readouterr().err
    assert "%|" in said
    assert f"{name}:" in said
    assert "3/3" in said or name in ("fixed_point", "root")


def test_without_tqdm_the_message_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(ImportError, match="hessian_diagonal: progress=True needs tqdm"):
        LONG["hessian_diagonal"](progress=True)
