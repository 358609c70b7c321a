"""The server of the studio: the first page at once, all others when they are asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from duffdp.studio.folder import Folder
from duffdp.studio.frame import first_page
from duffdp.studio.guard import Guard, Message, Receive, Send, answer

if TYPE_CHECKING:
    from duffdp.studio.workshop import Workshop


class Studio:
    """One start of the studio, for one folder and perhaps one file of it.

    What computes and what lays out pages is loaded when it is first needed: the first page does
    without it, and is there sooner.
    """

    def __init__(self, folder: Folder, source: str, port: int) -> None:
        self._folder, self._source = folder, source
        self.guard = Guard(self._answer, port)

    @cached_property
    def workshop(self) -> Workshop:
        """What computes."""
        from duffdp.studio.workshop import Workshop

        return Workshop(self._folder, self._source)

    @cached_property
    def _pages(self) -> Any:
        from duffdp.studio.routes import Pages

        return Pages(self.workshop, self.guard.csrf).app

    @property
    def begun(self) -> bool:
        """Whether a release was begun, which may have been charged."""
        return "workshop" in self.__dict__ and self.workshop.releases.begun

    def close(self) -> None:
        """End what was begun."""
        if "workshop" in self.__dict__:
            self.workshop.releases.stop()

    async def _answer(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["path"] == "/" and scope["method"] != "POST":
            page = first_page(self.guard.csrf, self._source)
            await answer(send, 200, page, {"content-type": "text/html; charset=utf-8"})
        else:
            await self._pages(scope, receive, send)
