"""Builds wheel and sdist, installs each into empty environments and tries them from a folder that
knows nothing of the project.

    python tools/dist.py [--extras bare cli all] [--python python3.12 ...] [--lowest]

Other interpreters are those that the machine has. With --lowest the oldest versions of all that
the package asks for are installed (by uv), and the tests that need no Spark run on them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
# What examples need beside the package: frames bring their own library.
EXTRAS = {"bare": ("", ()), "cli": ("[cli]", ()), "all": ("[all]", ("pandas", "polars"))}
LOWEST = ("facts", "distance", "domain", "law", "release", "records", "ledger", "plan", "frames")

BARE = """
import duffdp
assert duffdp.median([3, 4, 5], epsilon=1e6, bounds=(0, 9), step=1).value == 4
try:
    duffdp.median("people.csv", column="age", epsilon=1.0, bounds=(0, 120))
except duffdp.DuffError as error:
    assert "pip install 'duffdp[" in str(error), error
else:
    raise AssertionError("a file without a reader")
"""
PAGES = """
import doctest, os, sys
flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
for page in sys.argv[1:]:
    failed, tried = doctest.testfile(page, module_relative=False, optionflags=flags)
    print(f"{os.path.basename(page)}: {tried} examples, {failed} failed")
    assert tried and not failed
"""


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("--extras", nargs="+", choices=EXTRAS, default=list(EXTRAS))
    read.add_argument("--python", nargs="+", default=[sys.executable])
    read.add_argument("--lowest", action="store_true")
    given = read.parse_args()
    with tempfile.TemporaryDirectory(prefix="duffdp-dist-") as place:
        if given.lowest:
            lowest(Path(place))
            return
        artifacts = build(Path(place))
        for number, python in enumerate(given.python):
            for artifact in artifacts:
                for extra in given.extras:
                    name = f"{number}-{artifact.suffix[1:]}-{extra}"
                    installed(artifact, extra, Path(place) / name, python)


def build(place: Path) -> list[Path]:
    """A wheel and an sdist, of which names and contents are checked."""
    shutil.rmtree(DIST, ignore_errors=True)
    python = environment(place / "build", sys.executable, "build", "twine")
    run(python, "-m", "build", "--outdir", DIST, ROOT)
    wheel, sdist = *DIST.glob("*.whl"), *DIST.glob("*.tar.gz")
    run(python, "-m", "twine", "check", "--strict", wheel, sdist)
    names = zipfile.ZipFile(wheel).namelist()
    for needed in ("duffdp/py.typed", "duffdp/demo/adult.parquet", "duffdp/demo/DATA.md"):
        assert needed in names, f"{needed} is not in the wheel"
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in names)
    return [wheel, sdist]


def installed(artifact: Path, extra: str, place: Path, interpreter: str) -> None:
    """One artifact in an empty environment, tried from an empty folder."""
    began = time.monotonic()
    options, others = EXTRAS[extra]
    python = environment(place / "venv", interpreter, f"{artifact}{options}", *others)
    folder = place / "empty"
    folder.mkdir()
    if extra == "bare":
        run(python, "-c", BARE, cwd=folder)
    else:
        run(python.parent / "duffdp", "demo", cwd=folder)
        for command in commands():
            run("bash", "-c", command, cwd=folder, path=python.parent)
        pages = [ROOT / "docs" / "tutorial.md"]
        if extra == "all":
            pages = [
                path
                for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
                if ">>> " in path.read_text(encoding="utf-8")
            ]
            (folder / "tests").mkdir()  # the data of two pages, which are in no package
            (folder / "tests" / "data").symlink_to(ROOT / "tests" / "data")
        run(python, "-c", PAGES, *pages, cwd=folder)
    shutil.rmtree(place)
    seconds = time.monotonic() - began
    print(f"{artifact.name}{options} on {interpreter}: fine, {seconds:.0f} s", flush=True)


def commands() -> list[str]:
    """The commands of the README, as they stand there."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").replace("\\\n", " ")
    found = [line.strip() for line in text.splitlines() if line.startswith("    duffdp ")]
    assert found
    return found


def lowest(place: Path) -> None:
    """The tests on the oldest versions of what the package asks for."""
    python = environment(place / "uv", sys.executable, "uv")
    target = place / "lowest"
    run(python.parent / "uv", "venv", "--quiet", "--python", sys.executable, target)
    run(
        *(python.parent / "uv", "pip", "install", "--quiet", "--resolution", "lowest-direct"),
        *("--python", target / "bin" / "python", "--editable", f"{ROOT}[dev]"),
    )
    run(python.parent / "uv", "pip", "list", "--python", target / "bin" / "python")
    files = [f"tests/{name}_test.py" for name in LOWEST]
    run(target / "bin" / "python", "-m", "pytest", "-m", "not slow", *files, cwd=ROOT)


def environment(place: Path, interpreter: str, *packages: str) -> Path:
    """The Python of a new environment with these packages."""
    run(interpreter, "-m", "venv", place)
    python = place / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def run(*words: object, cwd: Path | None = None, path: Path | None = None) -> None:
    """A program that must succeed, without what this environment would add."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    known = {name: value for name, value in os.environ.items() if name not in hidden}
    if path is not None:
        known["PATH"] = f"{path}{os.pathsep}{known['PATH']}"
    subprocess.run([str(word) for word in words], check=True, cwd=cwd, env=known)


if __name__ == "__main__":
    main()
