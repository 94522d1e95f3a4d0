"""Draws docs/_static/studio.png anew: `python -m docs.studio_picture`, with Chromium.

It is the scenario of the guide on advice, `backup.toml`, with a dirty limit that throttles the backup.
"""

import re
import sys
import tempfile
import threading
from pathlib import Path

from pagecast.studio.serving import Server
from pagecast.studio.session import Session
from tests.studio.browser import Browser, find_chromium

DOCS = Path(__file__).parent
SHOWN = "document.documentElement.dataset.shown"


def main() -> None:
    """Open the page, set a limit, and save what is seen."""
    program = find_chromium()
    if program is None:
        sys.exit("Chromium is not installed (Debian: chromium)")
    scenario = re.search(
        r"```toml\n(# backup\.toml\n.*?)```", (DOCS / "guides" / "advice.md").read_text(), re.DOTALL
    )
    assert scenario is not None, "the guide has its scenario"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "backup.toml"
        path.write_text(scenario[1])
        server = Server(Session(path))
        thread = threading.Thread(target=server.serve_until_stopped)
        thread.start()
        browser = Browser(program)
        try:
            _draw(browser, server.address)
        finally:
            browser.close()
            server.should_exit = True
            thread.join()


def _draw(browser: Browser, address: str) -> None:
    page = browser.open(address, width=1240, height=940)
    page.wait(SHOWN)
    before = page.ask(SHOWN)
    page.click(".control[data-id='machine.vm.dirty_bytes'] input[type=text]")
    page.type("1.5 GB")
    page.press("Enter")
    page.wait(f"{SHOWN} > {before}")
    page.ask("document.activeElement.blur(); scrollTo(0, 0)")
    page.point("#memory .u-over", 0.45)
    page.ask("scrollTo(0, 0)")
    page.picture(DOCS / "_static" / "studio.png")
    page.close()


if __name__ == "__main__":
    main()
