"""Start the studio: a socket of this machine alone, and the address to open."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

from duffdp.errors import ChargeNote, DuffError
from duffdp.optional import need
from duffdp.studio.folder import Folder

LOCAL = "127.0.0.1"
EXTRA = "studio"


def serve(source: str | None, port: int, tell: Callable[[str, str], None]) -> None:
    """Serve the working folder until the process is stopped; `tell` gets the address first, and one
    that a browser can be started with, once.
    """
    for package in ("starlette", "uvicorn", "jinja2"):
        need(package, EXTRA)
    from uvicorn import Config, Server

    from duffdp.studio.server import Studio

    folder = Folder(Path.cwd())
    named = "" if source is None else folder.relative(source)
    if named:
        folder.source(named)
    listening = _listen(port)
    try:
        studio = Studio(folder, named, listening.getsockname()[1])
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
            tell(studio.guard.address, studio.guard.address_for_once)
            Server(config).run(sockets=[listening])
        except KeyboardInterrupt as error:
            if not studio.begun:
                error.add_note(ChargeNote("nothing was charged"))
            raise
        finally:
            studio.close()
    finally:
        listening.close()


def _listen(port: int) -> socket.socket:
    # By its name, for only then are answers sent without waiting for more of them (TCP_NODELAY).
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOCAL, port))
    except (OSError, OverflowError):
        listening.close()
        raise DuffError(
            f"the port {port} cannot be used. Pass another one, or --port 0 for any."
        ) from None
    listening.listen(64)
    return listening
