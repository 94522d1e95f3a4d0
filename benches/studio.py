"""Time of `pagecast studio` from a change to the drawn page, in the distribution's Chromium.

Exp 2 of the WRENCH-cache paper with its models and under `kernel`, and the bench's workload of 32
applications. The memory's slider is moved by a key; the page itself measures until the picture is painted.
Nothing is judged by its time: it is printed beside the time that the server takes.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pagecast
from benches.workload import scenario
from pagecast.studio.serving import Server
from pagecast.studio.session import Asked, Session
from tests.studio.browser import Browser, Page, find_chromium

AIM_MS = 200
EXP2 = Path(pagecast.__file__).parent / "studies" / "wrench_cache" / "exp2.toml"
SLIDER = ".control input[type=range]"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=20, help="of each row (20)")
    options = parser.parse_args()
    program = find_chromium()
    if program is None:
        sys.exit("Chromium is not installed (Debian: chromium); nothing is measured")
    browser = Browser(program)
    try:
        with tempfile.TemporaryDirectory() as folder:
            workload = Path(folder) / "workload.toml"
            workload.write_text(scenario(32))
            print("ms from a change to the drawn page (least, median, longest), the server alone, load")
            for path, models in (
                (EXP2, ("wrench", "no-cache", "endless-cache")),
                (EXP2, ("kernel", "no-cache", "endless-cache")),
                (EXP2, ("kernel",)),
                (workload, ("kernel",)),
            ):
                took = _measure(browser, path, models, options.changes)
                served = statistics.median(_serve(path, models, options.changes))
                drawn = f"{min(took):5.0f} {statistics.median(took):5.0f} {max(took):5.0f} (aim {AIM_MS})"
                load = os.getloadavg()[0]
                print(f"{path.stem:9} {'+'.join(models):32} {drawn}  {served:4.0f}  {load:.1f}")
    finally:
        browser.close()


@contextmanager
def _served(path: Path):
    server = Server(Session(path))
    thread = threading.Thread(target=server.serve_until_stopped)
    thread.start()
    try:
        yield server.address
    finally:
        server.should_exit = True
        thread.join()


def _measure(browser: Browser, path: Path, models: tuple[str, ...], changes: int) -> list[float]:
    with _served(path) as address:
        page = browser.open(address)
        page.wait("document.documentElement.dataset.shown")
        for name in ("no-cache", "endless-cache"):
            page.ask(f"document.getElementById('{name}').checked = {json.dumps(name in models)}")
        page.ask(f"document.getElementById('model').value = '{models[0]}'")
        _change(page, "model.dispatchEvent(new Event('change'))")
        page.ask(f"document.querySelector('{SLIDER}').focus()")
        found = []
        for _ in range(changes):
            _change(page)
            found.append(float(page.ask("document.documentElement.dataset.took")))
        page.close()
    return found


def _change(page: Page, action: str = "") -> None:
    """Move the slider, or do something else, and wait until the answer is drawn."""
    before = page.ask("document.documentElement.dataset.shown")
    if action:
        page.ask(action)
    else:
        page.press("ArrowLeft")
    page.wait(f"document.documentElement.dataset.shown > {before}")


def _serve(path: Path, models: tuple[str, ...], changes: int) -> list[float]:
    """Measure what the server alone takes."""
    session = Session(path)
    known = session.forecast(Asked("bench", (), models, None, ""))["revision"]
    host = "machine" if path == EXP2 else "host.g0h1"
    found = []
    for change in range(changes):
        asked = Asked("bench", (f"{host}.memory.size={260 - change} GB",), models, None, known)
        begun = time.perf_counter()
        json.dumps(session.forecast(asked))
        found.append(1e3 * (time.perf_counter() - begun))
    return found


if __name__ == "__main__":
    main()
