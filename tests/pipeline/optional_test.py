"""Heavy packages are imported when used; without one, an error says what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

from duffdp import DuffError
from duffdp._optional import load


def test_importing_the_package_imports_nothing_heavy():
    heavy = "{'scipy', 'matplotlib', 'pandas', 'rich'}"
    code = f"import duffdp, sys; print(*{{m.split('.')[0] for m in sys.modules}} & {heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_absence_is_explained(monkeypatch):
    with pytest.raises(DuffError, match=r"pip install 'duffdp\[research\]'"):
        load("no_such_package.special", "research")
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    from duffdp import Grid
    from duffdp.research import guarantees, sensitivity

    with pytest.raises(DuffError, match="this needs scipy"):
        guarantees.inverse_smoothing(sensitivity.median([1, 2, 4], Grid(0, 9, 1)), 30.0)


@pytest.mark.parametrize(
    ("package", "extra", "path", "sql"),
    [
        ("openpyxl", "excel", "people.xlsx", None),
        ("zstandard", "files", "people.csv.zst", None),
        ("sqlglot", "sql", "people.csv", "SELECT age * 2 AS twice FROM data"),
    ],
)
def test_files_and_queries_say_what_they_need(monkeypatch, tmp_path, package, extra, path, sql):
    import duffdp
    from duffdp._engines.sql.parse import read_query

    read_query.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / path).write_bytes(b"age\n30\n")
    with pytest.raises(DuffError, match=rf"needs {package}.* 'duffdp\[{extra}\]'"):
        duffdp.count(
            tmp_path / path if sql is None else duffdp.Query(tmp_path / path, sql), epsilon=1
        )
