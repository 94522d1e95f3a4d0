"""The routes of the studio: its page, and the questions that the page asks."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from pagecast.errors import PagecastError
from pagecast.studio.guard import Guard
from pagecast.studio.session import Asked, Session, Superseded

__all__ = ["make_app"]

_STATIC: Final = Path(__file__).parent / "static"
_TYPES: Final = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def make_app(session: Session, token: str) -> ASGIApp:
    """Make the application.

    Parameters
    ----------
    session : Session
    token : str
        The first part of every path.

    Returns
    -------
    ASGI application
    """
    files = {
        path.relative_to(_STATIC).as_posix(): path for path in _STATIC.rglob("*") if path.suffix in _TYPES
    }

    async def static(request: Request) -> Response:
        path = files.get(request.path_params.get("name") or "index.html")
        if path is None:
            return PlainTextResponse("not here\n", 404)
        return FileResponse(path, media_type=_TYPES[path.suffix])

    async def revision(_: Request) -> Response:
        return JSONResponse({"revision": session.watched.revision})

    async def forecast(request: Request) -> Response:
        asked = _asked(await request.body())
        if asked is None:
            return PlainTextResponse("no question\n", 400)
        return JSONResponse(await run_in_threadpool(_answered, lambda: session.forecast(asked)))

    async def copy(request: Request) -> Response:
        asked, what = _asked(await request.body()), request.path_params["what"]
        if asked is None or what not in ("toml", "command"):
            return PlainTextResponse("no question\n", 400)
        return JSONResponse(await run_in_threadpool(_answered, lambda: {"text": session.copied(what, asked)}))

    routes = [
        Route("/api/revision", revision),
        Route("/api/forecast", forecast, methods=["POST"]),
        Route("/api/copy/{what}", copy, methods=["POST"]),
        Route("/{name:path}", static),
    ]
    return Guard(Starlette(routes=routes), token)


def _answered(answer: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Give an answer, or what kept it from being given; a thread of the server must not fail."""
    try:
        return answer()
    except Superseded:
        return {"superseded": True}
    except PagecastError as error:
        message = str(error)
    except BaseException as error:  # a broken promise of the core (a Rust panic) is no `Exception`
        message = f"this is a mistake in pagecast, not yours: {type(error).__name__}: {error}"
    return {"error": {"file": "", "line": None, "message": message}}


def _asked(body: bytes) -> Asked | None:
    """Read a question; None if it is none."""
    try:
        found = json.loads(body)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    values, models = found.get("set", {}), found.get("models", [])
    if not isinstance(models, list) or not isinstance(values, Mapping):
        return None
    texts = [found.get("page", ""), found.get("known", ""), found.get("host") or "", *models]
    if not all(isinstance(one, str) for one in (*texts, *values.values())):
        return None
    return Asked(
        page=found.get("page", "")[:64],
        overrides=tuple(f"{key}={value}" for key, value in values.items()),
        models=tuple(dict.fromkeys(models)),
        host=found.get("host"),
        known=found.get("known", ""),
    )
