"""Makes the pictures of choose-a-statistic.md by running the examples above them:
`python docs/gallery.py`.

What an example calls `picture` is saved: axes of matplotlib, or a page as Chromium shows it, which
is left as it was where there is no Chromium.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
doctest.register_optionflag("NUMBERS_VARY")  # of tools/pages.py

PAGE = Path(__file__).resolve().parent / "how-to" / "choose-a-statistic.md"
EXAMPLE = re.compile(
    r"```python\n(.*?)\n```\n(?:\n!\[[^\]]*\]\(\.\./(images/\w+\.png)\))?", re.DOTALL
)


def examples() -> list[tuple[str, str]]:
    """The code of every example on the page, and the name of its picture; "" for none."""
    parser = doctest.DocTestParser()
    return [
        ("".join(example.source for example in parser.get_examples(code)), name)
        for code, name in EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
    ]


def save(picture: Any, path: Path) -> None:
    """Axes by matplotlib, the file of a page by a browser."""
    if not isinstance(picture, Path):
        picture.figure.savefig(path, dpi=150)
        return
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print(f"no Chromium: {path.name} is left as it was")
        return
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    shot = [f"--screenshot={path}", "--window-size=900,1145", picture.resolve().as_uri()]
    subprocess.run([browser, *options, *shot], check=True, capture_output=True)


def main() -> None:
    known: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:  # with the demo data, as a reader has them
        (Path(folder) / "demo").symlink_to(PAGE.parents[2] / "demo")
        os.chdir(folder)
        for code, name in examples():
            exec(code, known)
            if name:
                save(known["picture"], PAGE.parents[1] / name)
        os.chdir(PAGE.parent)


if __name__ == "__main__":
    main()
