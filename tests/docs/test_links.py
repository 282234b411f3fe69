"""Every relative link of pages, README and notebooks leads to a file, and to a heading if it names one."""

import json
import pathlib
import re
import xml.etree.ElementTree as ET

import pytest

ROOT = pathlib.Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PAGES = [*sorted(DOCS.glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md", *NOTEBOOKS]
IMAGES = sorted((DOCS / "images").glob("*.svg"))


def text_of(page):
    """Its Markdown, without code."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        text = "\n".join(
            "".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown"
        )
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors_of(page):
    """The names of its headings, as GitHub and Sphinx make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = text_of(page)
    for link in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text):
        if re.match(r"https?://|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent == DOCS], ids=lambda page: page.name)
def test_every_page_is_in_the_contents(page):
    contents = (DOCS / "index.md").read_text(encoding="utf-8").split()
    included = re.findall(
        r"^```\{include\} (\S+)$", "".join(p.read_text("utf-8") for p in DOCS.glob("*.md")), re.MULTILINE
    )
    assert page.stem in contents or page.name in included or page.stem == "index"


def test_every_notebook_is_in_the_contents():
    contents = (DOCS / "index.md").read_text(encoding="utf-8").split()
    assert [f"notebooks/{notebook.stem}" for notebook in NOTEBOOKS] == [
        x for x in contents if x.startswith("notebooks/")
    ]


@pytest.mark.parametrize("image", IMAGES, ids=lambda image: image.name)
def test_a_picture_is_well_formed_and_shown(image):
    assert ET.parse(image).getroot().tag.endswith("svg")
    assert any(f"images/{image.name}" in page.read_text(encoding="utf-8") for page in PAGES)


def test_the_chart_shows_what_the_table_has():
    rows = [line.split(" | ") for line in (DOCS / "figures.md").read_text(encoding="utf-8").splitlines()]
    shown = [row[0].removeprefix("| ") for row in rows if len(row) > 1 and row[1] == "hand-written"]
    chart = ET.parse(DOCS / "images" / "performance.svg").getroot().itertext()
    assert len(shown) > 5
    assert set(shown) <= {text.strip() for text in chart}
