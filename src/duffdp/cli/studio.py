"""`duffdp studio`."""

from __future__ import annotations

from typing import Annotated

import typer

File = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help="The data, a file of this folder; chosen on the page too."),
]
Port = Annotated[int, typer.Option("--port", help="Where to listen; 0 for any that is free.")]
NoBrowser = Annotated[
    bool, typer.Option("--no-browser", help="Print the address and open nothing.")
]


def studio(file: File = None, port: Port = 0, no_browser: NoBrowser = False) -> None:
    """Plan a release in the browser, make it, and hand it over.

    A page for this machine alone: it listens on 127.0.0.1, its address holds a secret, and it
    reads and writes in the folder that it is started in and nowhere else. Ctrl-C ends it.
    """
    from duffdp.studio.serve import serve

    def tell(address: str, for_once: str) -> None:
        print(address, flush=True)
        if not no_browser:
            import threading
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(for_once,), daemon=True).start()

    serve(file, port, tell)
