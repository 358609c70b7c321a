"""`duffdp columns`, `check-engine`, `studio`, `demo` and `paper`: commands that release nothing
themselves.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from duffdp._cli.options import FILE, option
from duffdp._optional import load
from duffdp._parameters import ENCODING, SKIP_ROWS, TEXT_FILE_OPTIONS, TYPES
from duffdp.errors import DuffError

DEMO_FILES = ("adult.parquet", "visits.csv", "vertebral_column.csv", "education.toml", "DATA.md")


@click.command()
@click.argument("file", required=False, type=click.Path())
@click.option("--port", default=0, help="The port to listen on; 0 for any free one.")
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
def studio(file: str | None, port: int, no_browser: bool) -> None:
    """Plan a table in the browser, release it, and write a report.

    FILE: the data, a file in this folder; you can also choose it in the browser. The studio is a
    local web app. It listens on 127.0.0.1, its address contains a secret, and it reads and writes
    only in the folder where it was started. Press Ctrl-C to stop it.
    """
    from duffdp._studio.server import serve

    def announce(address: str, browser_address: str) -> None:
        print(address, flush=True)
        if not no_browser:
            import threading
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(browser_address,), daemon=True).start()

    serve(file, port, announce)


@click.command(params=[option(one, default=None) for one in (TYPES, ENCODING, SKIP_ROWS)])
@click.argument("data", metavar="FILE", type=click.Path())
def columns(data: str, **options: Any) -> None:
    """List the columns of a file with their declared types.

    FILE: a file, folder or table, as for the statistics. Reads no record and costs no epsilon.
    """
    from duffdp._cli.dialects import COMMAND_LINE
    from duffdp._cli.output import table
    from duffdp._cli.source import data_source
    from duffdp._engines.table import columns as column_types
    from duffdp._pipeline.notes import about_header

    unset = dict.fromkeys(["sql", *(one.name for one in TEXT_FILE_OPTIONS)])
    source = data_source({**unset, **options, "data": data})
    types = column_types(source)
    rows = [{"column": name, "type": kind} for name, kind in types.items()]
    header = [note.worded(COMMAND_LINE) for note in about_header(source)]
    table(rows, ["only names and types were read; nothing was charged", *header])


@click.command("check-engine")
@click.argument("address")
@click.option("--out", type=FILE, help="Write the result into this file, as JSON.")
def check_engine(address: str, out: Path | None) -> None:
    """Check that a database counts exactly.

    ADDRESS: postgresql://user@host/database, mysql://..., sc://host:port for Spark Connect, or any
    other address that ibis accepts. Writes public records into a temporary table, runs every kind
    of counting request and every statistic on them, and compares the answers with exact ones. The
    records are of kinds that some databases misread. Reads no other table and costs no epsilon. The
    exit code is 1 if an answer was wrong.
    """
    import json

    from duffdp.audit import check_engine as check

    result = check(address)
    print(result)
    if out is not None:
        out.write_text(json.dumps(result.to_dict(), indent=2) + "\n")
    if not result.ok:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("folder", default="demo", type=FILE)
def demo(folder: Path) -> None:
    """Write the data files that the documentation uses, with their licenses.

    FOLDER: the folder to write to; created if it does not exist.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in DEMO_FILES:
            shutil.copyfile(_demo_folder() / name, folder / name)
    except shutil.SameFileError:
        pass  # they are there already
    except OSError as error:
        raise DuffError(
            f"cannot write into {str(folder)!r} ({error.strerror}). Pass another folder."
        ) from None
    print(f"{', '.join(DEMO_FILES)} in {folder}")


def _demo_folder() -> Path:
    """The folder in an installed package, or beside the source in a clone of the repository."""
    package = Path(__file__).parents[1]
    return next(
        place for place in (package / "demo", package.parents[1] / "demo") if place.exists()
    )


@click.command()
@click.option("--out", required=True, type=FILE, help="The folder for paper.md and its figures.")
@click.option(
    "--data",
    required=True,
    type=FILE,
    help="The file demo/vertebral_column.csv, which duffdp demo writes.",
)
def paper(out: Path, data: Path) -> None:
    """Run the experiments of the paper.

    Writes figures, tables, and paper.md, which compares each claim with the measurement.
    """
    if not data.is_file():
        raise DuffError(
            f"there is no file {str(data)!r}. Pass demo/vertebral_column.csv, which "
            "duffdp demo writes."
        )
    for package in ("scipy", "matplotlib", "rich"):
        load(package, "paper")
    from duffdp.research.experiments.run import run

    out.mkdir(parents=True, exist_ok=True)
    run(out, data)
    print(f"written: {out / 'paper.md'} and {out / 'paper'}")
