"""The web server of the studio: it listens on this machine alone."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from duffdp._optional import need
from duffdp._studio.folder import Folder
from duffdp._studio.guard import App, Guard, Message, Receive, Send, send_response
from duffdp._text import as_html
from duffdp.errors import ChargeNote, DuffError

if TYPE_CHECKING:
    from duffdp._studio.state import StudioState

_LOCAL_HOST = "127.0.0.1"
_EXTRA = "studio"
_TITLE = "duffdp studio"
_TEMPLATES = Path(__file__).parent / "templates"


def serve(source: str | None, port: int, announce: Callable[[str, str], None]) -> None:
    """Serve the working folder until the process is stopped.

    `announce` is called once before that, with the address to open and a one-time address for the
    browser that we launch.
    """
    for package in ("starlette", "uvicorn", "jinja2"):
        need(package, _EXTRA)
    from uvicorn import Config, Server

    folder = Folder(Path.cwd())
    file = "" if source is None else folder.relative(source)
    if file:
        folder.source(file)
    listener = _listen(port)
    try:
        studio = Studio(folder, file, listener.getsockname()[1])
        config = Config(
            studio.guard,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            loop="asyncio",
            http="h11",
            timeout_graceful_shutdown=2,
        )
        try:
            announce(studio.guard.address, studio.guard.one_time_address)
            Server(config).run(sockets=[listener])
        except KeyboardInterrupt as error:
            if not studio.may_have_charged:
                error.add_note(ChargeNote("nothing was charged"))
            raise
        finally:
            studio.close()
    finally:
        listener.close()


def _listen(port: int) -> socket.socket:
    # IPPROTO_TCP by name: asyncio then sets TCP_NODELAY and answers without delay.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((_LOCAL_HOST, port))
    except (OSError, OverflowError):
        listener.close()
        raise DuffError(
            f"the port {port} cannot be used. Pass another one, or --port 0 for any free port."
        ) from None
    listener.listen(64)
    return listener


class Studio:
    """One start of the studio, for one folder and optionally one file of it.

    The first page needs neither the template engine nor the computing part, which are loaded with
    the second request, so the browser shows something sooner.
    """

    def __init__(self, folder: Folder, source: str, port: int) -> None:
        self._folder, self._source = folder, source
        self.guard = Guard(self._respond, port)

    @cached_property
    def state(self) -> StudioState:
        """The computing part."""
        from duffdp._studio.state import StudioState

        return StudioState(self._folder, self._source)

    @cached_property
    def _pages(self) -> App:
        from duffdp._studio.pages import Pages

        return Pages(self.state, self.guard.csrf).app

    @property
    def may_have_charged(self) -> bool:
        """True if a release was started, which may have been charged."""
        return "state" in self.__dict__ and self.state.jobs.started

    def close(self) -> None:
        """Wait for a running release, and start no other."""
        if "state" in self.__dict__:
            self.state.jobs.stop()

    async def _respond(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] == "/" and scope["method"] != "POST":
            page = self._first_page()
            await send_response(send, 200, page, {"content-type": "text/html; charset=utf-8"})
        else:
            await self._pages(scope, receive, send)

    def _first_page(self) -> str:
        """The page that requests the plan of a file, filled in without a template engine."""
        parts = ((_TEMPLATES / f"{name}.html").read_text("utf-8") for name in _FIRST_PAGE)
        page = "".join(parts)
        for name, text in (("title", _TITLE), ("csrf", self.guard.csrf), ("source", self._source)):
            page = page.replace(f"{{{{ {name} }}}}", as_html(text))
        return page


_FIRST_PAGE = ("head", "frame", "foot")
