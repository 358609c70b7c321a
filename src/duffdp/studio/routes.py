"""Which address of the studio answers with what."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from duffdp.errors import DuffError
from duffdp.studio.frame import STATIC
from duffdp.studio.pages import render
from duffdp.studio.releases import Asked
from duffdp.studio.workshop import Workshop

MOST_AT_ONCE, MOST_WAITING, MOST_STREAMS = 2, 12, 12
TICK = 0.1  # seconds between looks at a release that is being made
PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"  # it brings its own style
TYPES = {
    "table.csv": "text/csv",
    "table.json": "application/json",
    "page.html": "text/html",
    "plan.toml": "application/toml",
    "plan.py": "text/x-python",
}
Found = TypeVar("Found")


class Pages:
    """All pages but the first: each takes what was asked to the workshop."""

    def __init__(self, workshop: Workshop, csrf: str) -> None:
        self._workshop, self._csrf = workshop, csrf
        self._slots = asyncio.Semaphore(MOST_AT_ONCE)
        self._waiting = self._streams = 0
        routes = [
            Route("/plan", self.plan, methods=["POST"]),
            Route("/preview", self.preview, methods=["POST"]),
            Route("/sample", self.sample, methods=["POST"]),
            Route("/download/{name}", self.download, methods=["POST"]),
            Route("/release", self.ask, methods=["POST"]),
            Route("/release/{number}", self.release),
            Route("/release/{number}/start", self.start, methods=["POST"]),
            Route("/release/{number}/events", self.events),
            Route("/release/{number}/{name}", self.file),
        ]
        handlers: Any = {DuffError: _told, 404: _nothing, 405: _nothing, Exception: _unexpected}
        self.app = Starlette(routes=routes, exception_handlers=handlers)
        self.app.mount("/static", StaticFiles(directory=STATIC))

    async def plan(self, request: Request) -> Response:
        """The whole plan for a form: after buttons that change which fields there are."""
        given = await self._work(lambda: self._workshop.plan(_form(request)))
        name = "plan" if request.headers.get("x-fragment") else "plan_page"
        return HTMLResponse(render(name, csrf=self._csrf, **given))

    async def preview(self, request: Request) -> Response:
        """What the plan would give: after every change of a field."""
        gone = threading.Event()

        async def watch() -> None:
            while not await request.is_disconnected():
                await asyncio.sleep(TICK)
            gone.set()  # a newer change is on its way: nobody waits for this answer

        watching = asyncio.create_task(watch())
        try:
            given = await self._work(lambda: self._workshop.preview(_form(request), gone.is_set))
        finally:
            watching.cancel()
        return HTMLResponse(render("outcome", **given))

    async def sample(self, request: Request) -> Response:
        """Public records that stand for those of a column."""
        said = await self._work(lambda: self._workshop.add_sample(_form(request)))
        return PlainTextResponse(said)

    async def download(self, request: Request) -> Response:
        """The plan as a file."""
        name = request.path_params["name"]
        text = await self._work(lambda: self._workshop.plan_file(name, _form(request)))
        return _attached(name, text)

    async def ask(self, request: Request) -> Response:
        """Write down a release, and show what it would cost."""
        asked = await self._work(lambda: self._workshop.ask(_form(request)))
        return RedirectResponse(f"/release/{asked.number}", 303)

    async def release(self, request: Request) -> Response:
        """One release: to be confirmed, being made, or made."""
        asked = self._workshop.releases.get(request.path_params["number"])
        return HTMLResponse(render("release", csrf=self._csrf, asked=asked))

    async def start(self, request: Request) -> Response:
        """Make a release; a second click on the same button does nothing."""
        number, given = request.path_params["number"], dict(_form(request))
        self._workshop.releases.start(number, given.get("attempt", ""))
        return RedirectResponse(f"/release/{number}", 303)

    async def events(self, request: Request) -> Response:
        """How far a release is, until it is made."""
        asked = self._workshop.releases.get(request.path_params["number"])
        if self._streams >= MOST_STREAMS:
            return PlainTextResponse("Too many pages wait at once. Reload one later.", 503)
        return StreamingResponse(self._progress(request, asked), media_type="text/event-stream")

    async def file(self, request: Request) -> Response:
        """A file of a release that is made."""
        asked = self._workshop.releases.get(request.path_params["number"])
        name = request.path_params["name"]
        if name not in asked.files:
            raise DuffError("there is no such file of this release.")
        if name == "page.html" and "show" in request.query_params:
            headers = {"content-security-policy": PAGE_POLICY}
            return HTMLResponse(asked.files[name], headers=headers)
        return _attached(name, asked.files[name])

    async def _progress(self, request: Request, asked: Asked) -> AsyncIterator[str]:
        self._streams += 1
        try:
            told = None
            while told is None or asked.state in ("waiting", "running"):
                now = {
                    "state": asked.state,
                    "finished": asked.finished,
                    "of": len(asked.cost.releases),
                }
                if now != told:
                    yield f"data: {json.dumps(now)}\n\n"
                    told = now
                await asyncio.sleep(TICK)
                if await request.is_disconnected():
                    return
            yield f"data: {json.dumps({'state': asked.state})}\n\n"
        finally:
            self._streams -= 1

    async def _work(self, function: Callable[[], Found]) -> Found:
        """Work in a thread, some at once and a few more waiting."""
        async with self._slot():
            return await run_in_threadpool(function)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[None]:
        if self._waiting >= MOST_WAITING:
            raise DuffError("the studio is busy. Wait a moment and try again.")
        self._waiting += 1
        try:
            async with self._slots:
                yield
        finally:
            self._waiting -= 1


async def _told(request: Request, error: Exception) -> Response:
    return _said(request, str(error), 400)


async def _nothing(request: Request, error: Exception) -> Response:
    return _said(request, "There is no such page.", 404)


async def _unexpected(request: Request, error: Exception) -> Response:
    """Never a traceback, nor what the error says: it may quote data."""
    said = f"Something unexpected went wrong ({type(error).__name__}). Reload the page."
    return _said(request, said, 500)


def _said(request: Request, text: str, status: int) -> Response:
    """What is wrong, in words: in the place of a part of a page, or as one with a way back."""
    name = "problem" if request.headers.get("x-fragment") else "message"
    return HTMLResponse(render(name, text=text, field=""), status)


def _form(request: Request) -> list[tuple[str, str]]:
    """The fields of a form, which the guard has read."""
    found: list[tuple[str, str]] = request.scope["state"]["form"]
    return found


def _attached(name: str, text: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=TYPES[name], headers=headers)
