"""What README and docs show works, and what they name is there."""

import re
from pathlib import Path

import pytest

from tests.disk import TRIES, folder_on_disk
from tests.docs.blocks import Block, blocks, commands, run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
RUN = [
    *(ROOT / "README.md", DOCS / "index.md", DOCS / "tutorial.md"),
    *sorted((DOCS / "guides").glob("[!i]*.md")),
]
PAGES = [
    *(page for page in sorted(ROOT.glob("*.md")) if page.name != "CHANGELOG.md"),
    *(page for page in sorted(DOCS.rglob("*.md")) if "_build" not in page.parts),
    ROOT / "benches" / "README.md",
]
ON_DISK = [DOCS / "guides" / name for name in ("cold-cache.md", "fio.md", "strace.md")]
FOLDERS = "bed|benches|crates|docs|examples|fuzz|oracle|python|tests|validation"


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", RUN, ids=named)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    found = blocks(page.read_text())
    if page not in ON_DISK:
        _run_in(tmp_path, found, page, monkeypatch)
    else:
        with folder_on_disk(tmp_path) as folder:
            _run_patiently(folder, found, page, monkeypatch)
    assert any(block.language in ("python", "pycon", "console") for block in found), (
        "nothing to run on this page"
    )


def _run_in(folder: Path, found: list[Block], page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    variables: dict[str, object] = {"__name__": "__main__"}
    for block in found:
        run(block, page, variables)


def _run_patiently(folder: Path, found: list[Block], page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a page whose files must stay cached meanwhile, each try in a folder of its own; see `patiently`."""
    for attempt in range(TRIES):
        try:
            _run_in(folder / str(attempt), found, page, monkeypatch)
            return
        except AssertionError:
            if attempt == TRIES - 1:
                raise


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_named_files_exist(page: Path) -> None:
    text = page.read_text()
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    paths = re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [path for path in paths if "_build" not in path and not (ROOT / path).exists()]
    assert not missing, f"{named(page)} names what is not there: {missing}"


def test_a_page_is_split_into_blocks() -> None:
    page = "text\n\n```sh\nmake\n```\n\n```toml\n# a.toml\nx = 1\n```\n"
    assert blocks(page) == [Block("sh", "make\n", 4), Block("toml", "# a.toml\nx = 1\n", 8)]


def test_a_console_block_is_split_into_commands() -> None:
    assert list(commands("$ a \\\n    b\nout\n$ c\n")) == [("a b", "out\n"), ("c", "")]


def test_wrong_output_is_noticed() -> None:
    with pytest.raises(AssertionError, match="instead of"):
        run(Block("console", "$ echo one\ntwo\n", 1), Path("page.md"), {})


def test_a_failing_command_is_noticed_unless_the_page_says_so() -> None:
    run(Block("console", "$ (exit 3)\n$ echo $?\n3\n", 1), Path("page.md"), {})
    with pytest.raises(AssertionError, match="ended with 3"):
        run(Block("console", "$ (exit 3)\n$ true\n", 1), Path("page.md"), {})
