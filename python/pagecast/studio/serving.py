"""Runs the server of the studio on the loopback address until Ctrl-C."""

import errno
import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

import uvicorn

from pagecast.arguments import shown
from pagecast.errors import ArgumentError, ScenarioError
from pagecast.studio.app import make_app
from pagecast.studio.session import Session
from pagecast.workloads import format_of

__all__ = ["Server", "serve"]

_LOOPBACK = "127.0.0.1"
_WINDOWS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
"""Variables that tell of a browser with windows; one in the terminal would take it over."""


class Server(uvicorn.Server):
    """A studio's server, whose port is bound when it is made.

    Parameters
    ----------
    session : Session
    port : int
        0 for a free one.

    Raises
    ------
    ArgumentError
        The port cannot be had.
    """

    def __init__(self, session: Session, port: int = 0) -> None:
        self.session = session
        self.opening: threading.Thread | None = None
        """What tells a browser of the address."""
        self.socket = _bound(port)
        token = secrets.token_urlsafe()
        self.address = f"http://{_LOOPBACK}:{self.socket.getsockname()[1]}/{token}/"
        config = uvicorn.Config(
            make_app(session, token),
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
            ws="none",
        )
        super().__init__(config)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop simulations at once, and the server after them."""
        self.session.stop()
        super().handle_exit(sig, frame)

    def serve_until_stopped(self) -> None:
        """Serve until `should_exit` is set or a signal comes, which is then raised."""
        try:
            self.run(sockets=[self.socket])
        finally:
            self.session.stop()
            self.socket.close()


def serve(
    path: Path,
    *,
    overrides: Sequence[str] = (),
    port: int = 0,
    seed: int = 0,
    has_browser: bool = True,
    say: Callable[[str], None],
) -> None:
    """Serve the studio of a scenario until Ctrl-C.

    Parameters
    ----------
    path : Path
        A scenario in TOML.
    overrides : sequence of str
        As for ``--set``, in every forecast.
    port : int
        Of the loopback address; 0 for a free one.
    seed : int
    has_browser : bool
        Open the page in the user's browser, where there are windows.
    say : callable
        Gets the address.

    Raises
    ------
    ScenarioError
        It is no TOML file, or cannot be read; what is wrong inside of it is said in the page.
    ArgumentError
        The port cannot be had.
    KeyboardInterrupt
    """
    form = format_of(path)
    if form is not None:
        raise ScenarioError(
            f"{shown(path)}: a workload ({form}) has no machine; write a scenario whose process has "
            "from = the file"
        )
    session = Session(path, overrides, seed=seed)
    session.watched.read()
    server = Server(session, port)
    say(server.address)
    if has_browser and any(os.environ.get(name) for name in _WINDOWS):
        server.opening = threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True)
        server.opening.start()
    server.serve_until_stopped()


def _bound(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((_LOOPBACK, port))
        found.listen(
            64
        )  # now, so that another server on the port is noticed, and requests before the start wait
    except OSError as error:
        found.close()
        why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be had ({error.strerror})"
        raise ArgumentError(f"--port {port}: {why}; choose another one, or leave it out") from None
    return found
