"""`duffdp demo`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from duffdp.errors import DuffError

FILES = ("adult.parquet", "vertebral_column.csv", "education.toml", "DATA.md")


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to write them; made if need be.")
    ] = Path("demo"),
) -> None:
    """Write the data that the examples of the documentation use, with their licence."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in FILES:
            shutil.copyfile(_bundled() / name, folder / name)
    except shutil.SameFileError:
        pass  # they are there already
    except OSError as error:
        raise DuffError(
            f"cannot write into {str(folder)!r} ({error.strerror}). Pass another folder."
        ) from None
    print(f"{', '.join(FILES)} in {folder}")


def _bundled() -> Path:
    """The folder in an installed package; in a clone of the project it lies beside the source."""
    package = Path(__file__).parents[1]
    return next(
        place for place in (package / "demo", package.parents[1] / "demo") if place.exists()
    )
