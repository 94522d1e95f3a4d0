"""Lets requests of the studio's own page through, and no others.

A page of another site that somebody has open at the same time must learn nothing and start nothing: it knows
no token (`secrets`), its requests name its own origin, and a name of its own that leads to 127.0.0.1 (DNS
rebinding) is no loopback host. The policy of the answers lets the page load nothing from elsewhere.
"""

import secrets
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "Guard"]

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""Of every answer."""

_HOSTS: Final = ("127.0.0.1", "localhost")
_MOST_BYTES: Final = 1 << 20
"""Of a question."""


class Guard:
    """ASGI middleware: checks host, token, origin and size, and adds the headers.

    Parameters
    ----------
    app : ASGI application
        Sees paths without the token.
    token : str
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            return  # the page opens no web socket

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        token, _, rest = scope["path"].removeprefix("/").partition("/")
        status = self._refused(scope, token)
        if status:
            await PlainTextResponse("not here\n", status)(scope, receive, with_headers)
            return
        path = f"/{rest}"
        await self._app(
            dict(scope) | {"path": path, "raw_path": path.encode(), "root_path": f"/{token}"},
            receive,
            with_headers,
        )

    def _refused(self, scope: Scope, token: str) -> int:
        """Give the status of a request that is refused, otherwise 0."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        port = scope["server"][1]
        if host not in {f"{name}:{port}" for name in _HOSTS}:
            return 421
        if not secrets.compare_digest(token.encode(), self._token.encode()):
            return 404
        if scope["method"] in ("GET", "HEAD"):
            return 0
        if scope["method"] != "POST":
            return 405
        if headers.get("origin") != f"http://{host}":
            return 403
        if headers.get("content-type", "").partition(";")[0] != "application/json":
            return 415
        size = headers.get("content-length", "")
        return 0 if size.isdigit() and int(size) <= _MOST_BYTES else 413
