"""Time of `pagecast studio` from a change to the drawn page, in the distribution's Chromium.

Exp 2 of the WRENCH-cache paper with its models and under `kernel`, and the bench's workload of 32
applications. The memory's slider is moved by a key; the page itself measures until the picture is painted.
Nothing is judged by its time. Beside it stands the processor time of the server and of the page's main
thread, which waits for no other program: about what a change takes on an idle machine.
"""

import argparse
import json
import os
import statistics
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
        print("Chromium is not installed (Debian: chromium); nothing is measured")
        return
    browser = Browser(program)
    try:
        with tempfile.TemporaryDirectory() as folder:
            workload = Path(folder) / "workload.toml"
            workload.write_text(scenario(32))
            print("ms from a change to the drawn page: least, median, longest; of processor: server, page")
            for path, models in (
                (EXP2, ("wrench", "no-cache", "endless-cache")),
                (EXP2, ("kernel", "no-cache", "endless-cache")),
                (EXP2, ("kernel",)),
                (workload, ("kernel",)),
            ):
                took, drawing = _measure(browser, path, models, options.changes)
                serving = _serve(path, models, options.changes)
                shown = f"{min(took):5.0f} {statistics.median(took):5.0f} {max(took):5.0f}"
                print(f"{path.stem:9} {'+'.join(models):32} {shown}  {serving:4.0f} {drawing:4.0f}")
            print(f"The aim is {AIM_MS} ms; the load of the machine was {os.getloadavg()[0]:.1f}.")
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


def _measure(
    browser: Browser, path: Path, models: tuple[str, ...], changes: int
) -> tuple[list[float], float]:
    """Measure changes in a page, and the processor time that its main thread takes for one."""
    with _served(path) as address:
        page = browser.open(address)
        page.wait("document.documentElement.dataset.shown")
        for name in ("no-cache", "endless-cache"):
            page.ask(f"document.getElementById('{name}').checked = {json.dumps(name in models)}")
        page.ask(f"document.getElementById('model').value = '{models[0]}'")
        _change(page, "model.dispatchEvent(new Event('change'))")
        page.ask(f"document.querySelector('{SLIDER}').focus()")
        page.call("Performance.enable", timeDomain="threadTicks")
        found, before = [], _busy_s(page)
        for _ in range(changes):
            _change(page)
            found.append(float(page.ask("document.documentElement.dataset.took")))
        drawing = 1e3 * (_busy_s(page) - before) / changes
        page.close()
    return found, drawing


def _busy_s(page: Page) -> float:
    metrics = page.call("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "TaskDuration")


def _change(page: Page, action: str = "") -> None:
    """Move the slider, or do something else, and wait until the answer is drawn."""
    before = page.ask("document.documentElement.dataset.shown")
    if action:
        page.ask(action)
    else:
        page.press("ArrowLeft")
    page.wait(f"document.documentElement.dataset.shown > {before}")


def _serve(path: Path, models: tuple[str, ...], changes: int) -> float:
    """Give the processor time of an answer."""
    session = Session(path)
    known = session.forecast(Asked("bench", (), models, None, ""))["revision"]
    host = "machine" if path == EXP2 else "host.g0h1"
    begun = time.process_time()
    for change in range(changes):
        asked = Asked("bench", (f"{host}.memory.size={260 - change} GB",), models, None, known)
        json.dumps(session.forecast(asked))
    return 1e3 * (time.process_time() - begun) / changes


if __name__ == "__main__":
    main()
