"""A real browser, and pages of studios in it."""

import pytest

from pagecast.studio.session import Session
from tests.studio.browser import Browser, Page, find_chromium
from tests.unit.studio.conftest import SCENARIO, serving


class Studio:
    """A page of a studio, and its scenario's file."""

    def __init__(self, page: Page, path, address: str) -> None:
        self.page, self.path, self.address = page, path, address
        self.wait_shown(0)

    @property
    def shown(self) -> int:
        """How many answers the page has shown."""
        return int(self.page.ask("document.documentElement.dataset.shown ?? 0"))

    def wait_shown(self, before: int) -> None:
        """Wait until the page has shown another answer, and has none left to ask for."""
        self.page.wait(f"Number(document.documentElement.dataset.shown ?? 0) > {before}")

    def after(self, action, *arguments, **more) -> None:
        """Do something, and wait for the answer to it."""
        before = self.shown
        action(*arguments, **more)
        self.wait_shown(before)

    def set_other(self, text: str) -> None:
        """Set another key, and wait for the answer."""
        self.page.ask("document.getElementById('other').focus()")
        self.page.type(text)
        self.after(self.page.press, "Enter")

    def rows(self, table: str) -> list[list[str]]:
        """Give the texts of a table."""
        cells = "[...row.cells].map((cell) => cell.textContent)"
        return self.page.ask(f"[...document.querySelectorAll('#{table} tr')].map((row) => {cells})")

    @property
    def error(self) -> str:
        """What the page says is wrong; "" if nothing is."""
        return self.page.ask("(({hidden, textContent}) => hidden ? '' : textContent)(error)")


@pytest.fixture(scope="session")
def browser():
    """Start the browser, once."""
    program = find_chromium()
    if program is None:
        pytest.skip("Chromium is not installed (Debian: chromium)")
    browser = Browser(program)
    yield browser
    browser.close()


@pytest.fixture
def open_studio(browser, tmp_path):
    """Serve a scenario, the usual one if not given, and open its page."""
    opened = []

    def open_studio(text: str = SCENARIO, **view: int) -> Studio:
        path = tmp_path / f"scenario{len(opened)}.toml"
        path.write_text(text)
        context = serving(Session(path))
        server = context.__enter__()
        page = browser.open(server.address, **view)
        opened.append((context, page))
        return Studio(page, path, server.address)

    yield open_studio
    for context, page in opened:
        page.close()
        context.__exit__(None, None, None)


@pytest.fixture
def studio(open_studio):
    """Open the usual scenario."""
    studio = open_studio()
    yield studio
    assert studio.page.messages == []
    own = studio.address.rpartition("/")[0]
    assert [each for each in studio.page.requests if not each.startswith(own)] == []
