"""The pages of the studio: addresses and the HTML that answers them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import jinja2
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

from duffdp._studio.choices import FORM, sentence
from duffdp._studio.jobs import ReleaseJob
from duffdp._studio.state import StudioState
from duffdp._text import visible
from duffdp.errors import DuffError
from duffdp.report.formats import rounded
from duffdp.report.picker import script_policy

_MAX_REQUEST_THREADS, _MAX_WAITING, _MAX_STREAMS = 2, 12, 12
_POLL_SECONDS = 0.1  # between looks at a running release
# A report has its own style, and one script that compares two groups.
_REPORT_POLICY = (
    f"default-src 'none'; style-src 'unsafe-inline'; {script_policy()}; sandbox allow-scripts"
)
_MEDIA_TYPES = {
    "table.csv": "text/csv",
    "table.json": "application/json",
    "page.html": "text/html",
    "profile.csv": "text/csv",
    "profile.html": "text/html",
    "profile.json": "application/json",
    "plan.toml": "application/toml",
    "plan.py": "text/x-python",
}
_STATIC = Path(__file__).parent / "static"
_Result = TypeVar("_Result")


class Pages:
    """All pages but the first: each passes its form to the state and renders the answer."""

    def __init__(self, state: StudioState, csrf: str) -> None:
        self._state, self._csrf = state, csrf
        self._threads = asyncio.Semaphore(_MAX_REQUEST_THREADS)
        self._waiting = self._streams = 0
        routes = [
            Route("/plan", self.plan, methods=["POST"]),
            Route("/preview", self.preview, methods=["POST"]),
            Route("/sample", self.sample, methods=["POST"]),
            Route("/download/{name}", self.download, methods=["POST"]),
            Route("/release", self.add_release, methods=["POST"]),
            Route("/profile", self.add_profile, methods=["POST"]),
            Route("/release/{number}", self.release),
            Route("/release/{number}/start", self.start, methods=["POST"]),
            Route("/release/{number}/events", self.events),
            Route("/release/{number}/{name}", self.file),
        ]
        handlers: Any = {
            DuffError: _user_error,
            404: _not_found,
            405: _not_found,
            Exception: _unexpected_error,
        }
        self.app = Starlette(routes=routes, exception_handlers=handlers)
        self.app.mount("/static", StaticFiles(directory=_STATIC))

    async def plan(self, request: Request) -> Response:
        """The whole plan for a form: after buttons that change which fields there are."""
        values = await self._work(lambda: self._state.plan(_form(request)))
        name = "plan" if request.headers.get("x-fragment") else "plan_page"
        return HTMLResponse(_render(name, csrf=self._csrf, **values))

    async def preview(self, request: Request) -> Response:
        """The expected errors of the plan: after every change of a field."""
        cancelled = threading.Event()

        async def watch() -> None:
            while not await request.is_disconnected():
                await asyncio.sleep(_POLL_SECONDS)
            cancelled.set()  # a newer change is on its way: nobody waits for this answer

        watcher = asyncio.create_task(watch())
        try:
            values = await self._work(lambda: self._state.preview(_form(request), cancelled.is_set))
        finally:
            watcher.cancel()
        return HTMLResponse(_render("outcome", **values))

    async def sample(self, request: Request) -> Response:
        """Use public records as a sample for a column."""
        message = await self._work(lambda: self._state.add_sample(_form(request)))
        return PlainTextResponse(message)

    async def download(self, request: Request) -> Response:
        """The plan as a file."""
        name = request.path_params["name"]
        text = await self._work(lambda: self._state.plan_file(name, _form(request)))
        return _attachment(name, text)

    async def add_release(self, request: Request) -> Response:
        """Write down a release, and show what it would cost."""
        job = await self._work(lambda: self._state.add_release(_form(request)))
        return RedirectResponse(f"/release/{job.number}", 303)

    async def add_profile(self, request: Request) -> Response:
        """Write down a first look at the file, and show what it would cost."""
        job = await self._work(lambda: self._state.add_profile(_form(request)))
        return RedirectResponse(f"/release/{job.number}", 303)

    async def release(self, request: Request) -> Response:
        """One release: to be confirmed, running, or made."""
        job = self._state.jobs.get(request.path_params["number"])
        return HTMLResponse(_render("release", csrf=self._csrf, job=job))

    async def start(self, request: Request) -> Response:
        """Start a release; a second click on the same button does nothing."""
        number, fields = request.path_params["number"], dict(_form(request))
        self._state.jobs.start(number, fields.get("attempt", ""))
        return RedirectResponse(f"/release/{number}", 303)

    async def events(self, request: Request) -> Response:
        """The progress of a release, until it is made."""
        job = self._state.jobs.get(request.path_params["number"])
        if self._streams >= _MAX_STREAMS:
            return PlainTextResponse("Too many pages are waiting. Reload this one later.", 503)
        return StreamingResponse(self._progress(request, job), media_type="text/event-stream")

    async def file(self, request: Request) -> Response:
        """A file of a release that is made."""
        job = self._state.jobs.get(request.path_params["number"])
        name = request.path_params["name"]
        if name not in job.files:
            raise DuffError("this release has no such file.")
        if name.endswith(".html") and "show" in request.query_params:
            headers = {"content-security-policy": _REPORT_POLICY}
            return HTMLResponse(job.files[name], headers=headers)
        return _attachment(name, job.files[name])

    async def _progress(self, request: Request, job: ReleaseJob) -> AsyncIterator[str]:
        self._streams += 1
        try:
            sent = None
            while sent is None or job.state in ("waiting", "running"):
                now = {"state": job.state, "finished": job.finished, "of": len(job.cost.releases)}
                if now != sent:
                    yield f"data: {json.dumps(now)}\n\n"
                    sent = now
                await asyncio.sleep(_POLL_SECONDS)
                if await request.is_disconnected():
                    return
            yield f"data: {json.dumps({'state': job.state})}\n\n"
        finally:
            self._streams -= 1

    async def _work(self, function: Callable[[], _Result]) -> _Result:
        """Run a function in a thread; a few at once and a few more waiting."""
        async with self._thread():
            return await run_in_threadpool(function)

    @asynccontextmanager
    async def _thread(self) -> AsyncIterator[None]:
        if self._waiting >= _MAX_WAITING:
            raise DuffError("the studio is busy. Wait a moment and try again.")
        self._waiting += 1
        try:
            async with self._threads:
                yield
        finally:
            self._waiting -= 1


async def _user_error(request: Request, error: Exception) -> Response:
    text = sentence(error.worded(FORM)) if isinstance(error, DuffError) else str(error)
    return _error_page(request, text, 400)


async def _not_found(request: Request, error: Exception) -> Response:
    return _error_page(request, "This page does not exist.", 404)


async def _unexpected_error(request: Request, error: Exception) -> Response:
    """Neither a traceback nor the message of the error: it may quote data."""
    text = f"Something unexpected went wrong ({type(error).__name__}). Reload the page."
    return _error_page(request, text, 500)


def _error_page(request: Request, text: str, status: int) -> Response:
    """An error in words: as a part of the page that sent the request, or as a page of its own."""
    name = "problem" if request.headers.get("x-fragment") else "message"
    return HTMLResponse(_render(name, text=text, field=""), status)


def _form(request: Request) -> list[tuple[str, str]]:
    """The fields of a form, which the guard has read."""
    fields: list[tuple[str, str]] = request.scope["state"]["form"]
    return fields


def _attachment(name: str, text: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=_MEDIA_TYPES[name], headers=headers)


def _render(name: str, **values: Any) -> str:
    """The page of a template: all texts are escaped."""
    return _environment().get_template(f"{name}.html.jinja").render(**values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("duffdp._studio", "templates"),
        autoescape=True,
        finalize=_visible,  # for every text, so that none can be forgotten
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["rounded"] = lambda number: rounded(float(number))
    return environment


def _visible(value: object) -> object:
    """A text without control characters; markup as it is."""
    if hasattr(value, "__html__"):
        return value
    text = str(value)
    return text if "\n" in text else visible(text)
