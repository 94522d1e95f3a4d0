"""A real browser, driven by its DevTools protocol: the distribution's Chromium without a window."""

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import websocket

__all__ = ["Browser", "Page", "find_chromium"]

PATIENCE_S = 60.0
"""A test fails after that; nothing is judged by its time."""

KEYS = {
    "Tab": 9,
    "Enter": 13,
    "Escape": 27,
    "Space": 32,
    "End": 35,
    "Home": 36,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
}
TEXTS = {"Enter": "\r", "Space": " "}


def find_chromium() -> str | None:
    """Find the browser of the distribution."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """A browser with a profile of its own."""

    def __init__(self, program: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="browser", ignore_cleanup_errors=True)
        options = [
            "--headless=new",
            "--no-first-run",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-extensions",
            "--hide-scrollbars",
            "--force-color-profile=srgb",
            "--remote-debugging-port=0",
            f"--user-data-dir={self._folder.name}",
        ]
        if os.geteuid() == 0:
            options.append("--no-sandbox")  # Chromium's own refuses root
        self._process = subprocess.Popen(
            [program, *options, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            self._port = self._find_port()
        except BaseException:
            self.close()
            raise

    def _find_port(self) -> int:
        place = Path(self._folder.name) / "DevToolsActivePort"
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and self._process.poll() is None:
            with suppress(OSError, IndexError, ValueError):
                return int(place.read_text().splitlines()[0])
            time.sleep(0.05)
        raise RuntimeError("the browser does not start")

    def open(self, address: str, **view: int) -> "Page":
        """Open a page in a window of its own: a tab behind another one draws nothing."""
        with urllib.request.urlopen(
            f"http://127.0.0.1:{self._port}/json/version", timeout=PATIENCE_S
        ) as answer:
            whole = Page(json.load(answer)["webSocketDebuggerUrl"], is_page=False)
        target = whole.call("Target.createTarget", url="about:blank", newWindow=True)["targetId"]
        whole.close()
        page = Page(f"ws://127.0.0.1:{self._port}/devtools/page/{target}")
        page.resize(**({"width": 1280, "height": 900} | view))
        page.call("Page.navigate", url=address)
        page.wait("location.protocol == 'http:' && document.readyState == 'complete'")
        return page

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()


class Page:
    """A page in a window; with `is_page` false the browser as a whole."""

    def __init__(self, address: str, *, is_page: bool = True) -> None:
        self._socket = websocket.create_connection(address, timeout=PATIENCE_S, suppress_origin=True)
        self._numbers = itertools.count(1)
        self.messages: list[str] = []
        """What the page complained about."""
        self.requests: list[str] = []
        """The addresses that it asked for."""
        self._is_page = is_page
        for domain in ("Page", "Runtime", "Log", "Network") if is_page else ():
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters):
        """Call a method of the protocol and give its result."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._note(message)

    def _note(self, message) -> None:
        parameters = message.get("params", {})
        match message.get("method"):
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                self.messages.append(details.get("exception", {}).get("description", details["text"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning"):
                self.messages.append(str([each.get("value") for each in parameters["args"]]))
            case "Log.entryAdded" if parameters["entry"]["level"] == "error":
                self.messages.append(parameters["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])

    def ask(self, expression: str):
        """Give the value of an expression."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def wait(self, expression: str):
        """Wait until an expression is true, and give its value."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if value := self.ask(expression):
                return value
            time.sleep(0.02)
        raise AssertionError(f"never true: {expression}; {self.messages}")

    def text(self, selector: str) -> str:
        """Give the text of an element."""
        return self.ask(f"document.querySelector({json.dumps(selector)}).textContent")

    def click(self, selector: str) -> None:
        """Click into the middle of an element, wherever it has to be scrolled to."""
        self._press_at(*self._middle(selector))

    def _middle(self, selector: str) -> tuple[float, float]:
        found = self.ask(
            f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center", behavior: "instant"}});
            const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()"""
        )
        return found[0], found[1]

    def _press_at(self, x: float, y: float) -> None:
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            button = "none" if kind == "mouseMoved" else "left"
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, clickCount=1)

    def point(self, selector: str, share: float = 0.5) -> None:
        """Move the mouse to a place across an element."""
        x, y, width = self.ask(
            f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center", behavior: "instant"}});
            const b = e.getBoundingClientRect(); return [b.x, b.y + b.height / 2, b.width]; }})()"""
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + share * width, y=y)

    def drag(self, selector: str, begin: float, end: float) -> None:
        """Drag from one place across an element to another, both as shares of its width."""
        x, y, width = self.ask(
            f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center", behavior: "instant"}});
            const b = e.getBoundingClientRect(); return [b.x, b.y + b.height / 2, b.width]; }})()"""
        )
        move = {"y": y, "button": "left", "buttons": 1, "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + begin * width, y=y)
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x + begin * width, **move)
        for step in range(1, 9):
            place = x + (begin + (end - begin) * step / 8) * width
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=place, **move)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + end * width, **move)

    def press(self, key: str, times: int = 1, *, shift: bool = False) -> None:
        """Press a key."""
        code = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        modifiers = 8 if shift else 0
        for _ in range(times):
            text = {"text": TEXTS[key]} if key in TEXTS else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", modifiers=modifiers, **code, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", modifiers=modifiers, **code)

    def type(self, text: str) -> None:
        """Type a text into what has the focus, in place of what is there."""
        self.ask("document.activeElement.select()")
        self.call("Input.insertText", text=text)

    def resize(self, width: int, height: int) -> None:
        """Make the window so large, in pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def prefer(self, scheme: str) -> None:
        """Ask for a light or a dark page."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """Save what is seen, or all of the page."""
        found = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """Close the window."""
        if self._is_page:
            with suppress(RuntimeError, websocket.WebSocketException, OSError):
                self.call("Page.close")
        self._socket.close()
