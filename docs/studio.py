"""Makes the picture of studio.md: `python docs/studio.py`.

It opens the studio in a browser, plans a table and takes a picture of the page.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(
    0, str(ROOT / "tests" / "support")
)  # which know how to start a studio and a browser

from browser import chromium  # noqa: E402
from studio import running, with_data  # noqa: E402

PICTURE = Path(__file__).parent / "images" / "studio.png"
SIZE = {"width": 1280, "height": 1010}
LEVELS = ("HS-grad", "Some-college", "Bachelors", "Masters", "Doctorate")


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        running(with_data(Path(folder)), "adult.parquet") as address,
    ):
        page = browser.new_page(viewport=SIZE)
        page.goto(address)
        page.wait_for_selector("#outcome .headline")
        page.select_option("#by\\.0", "education")
        page.wait_for_selector("#keys\\.0")
        page.fill("#keys\\.0", "\n".join(LEVELS))
        page.check("#statistic\\.0\\.mean")
        page.wait_for_selector("text=Mean of age")
        page.evaluate("() => scrollTo(0, 0)")
        page.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()
