"""The demonstration runs, and keeps what it promises."""

import re
from pathlib import Path

import pytest

from tests.optional import optional

optional("sklearn", reason="the demonstration has an extra of its own")
optional("matplotlib")
optional("tqdm")

demo = optional("examples.demo")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the short form prints, the accuracy, and the picture."""
    picture = tmp_path_factory.mktemp("demo") / "new" / "demo.png"
    with pytest.MonkeyPatch.context() as patch:
        lines = []
        patch.setattr("builtins.print", lambda *parts, **options: lines.append(" ".join(map(str, parts))))
        accuracy = demo.main(["--quick", "--picture", str(picture)])
    return "\n".join(lines), accuracy, picture


def test_derivatives_agree_with_the_exact_ones(shown):
    text, _, _ = shown
    rows = re.findall(r"^   (f'*) +(\S+) +(\S+) +\S+$", text, re.MULTILINE)
    assert [name for name, _, _ in rows] == list(demo.NAMES)
    for order, (_, found, expected) in enumerate(rows):
        assert float(found) == pytest.approx(float(expected), rel=1e-13)
        assert float(expected) == pytest.approx(demo.exact(order, 0.7), rel=1e-13)


def test_a_few_epochs_already_teach_digits(shown):
    _, accuracy, _ = shown
    assert accuracy > 0.92


def test_the_curve_fits_better_than_a_line(shown):
    text, _, _ = shown
    curve, line = map(float, re.search(r"sum of squares: (\S+) \(a straight line has (\S+)\)", text).groups())
    assert curve < line


def test_the_picture_is_written_and_its_path_printed(shown):
    text, _, picture = shown
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"The picture: {picture.resolve()}" in text


def test_it_says_where_to_go_next(shown):
    text, _, _ = shown
    root = Path(__file__).parents[2]
    named = re.findall(r"docs/\w+\.md", text)
    assert named
    assert all((root / name).is_file() for name in named)
