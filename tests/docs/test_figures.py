"""Every figure that a page shows is drawn, and every drawn one is shown."""

import re
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))

from figures import FIGURES, NETS  # noqa: E402

PAGES = [page for page in DOCS.rglob("*.md") if not {"_build", "_generated"} & set(page.parts)]


def test_pages_show_the_figures_that_are_drawn() -> None:
    shown = {name for page in PAGES for name in re.findall(r"_generated/(\w+)\.svg", page.read_text())}
    assert shown == set(FIGURES) | set(NETS)


def test_each_page_of_a_kernel_file_opens_with_its_rules_and_has_a_figure() -> None:
    pages = sorted((DOCS / "concepts" / "kernel").glob("*.md"))
    assert len(pages) == 12
    for page in pages:
        opening = page.read_text().split("\n## ")[0]
        assert "\n**Rules.** " in opening, page.name
        assert "\n**Left out.**\n" in opening, page.name
        assert "```{figure}" in page.read_text(), page.name
