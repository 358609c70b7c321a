"""What test files share: every engine in turn, and a command in this process."""

from __future__ import annotations

import pytest

import postgres
from engines import ENGINES
from java import provide_java


def pytest_collection_modifyitems(items):
    """One process for all that needs Spark, and one for PostgreSQL: to start them takes longer than
    most tests. And a Java, for the examples on pages too.
    """
    for item in items:
        if "postgres" in item.nodeid or "addresses_test" in item.nodeid:
            item.add_marker(pytest.mark.xdist_group("postgres"))
    with_spark = [item for item in items if "spark" in item.nodeid]
    for item in with_spark:
        item.add_marker(pytest.mark.xdist_group("spark"))
    if with_spark:
        provide_java()


def pytest_sessionfinish():
    """No server stays behind."""
    postgres.stop()


@pytest.fixture(
    params=[
        pytest.param(name, marks=pytest.mark.slow) if name == "spark" else name for name in ENGINES
    ]
)
def engine(request):
    """The name of every engine in turn; Spark is the slow one."""
    return request.param


@pytest.fixture
def call(capsys):
    """A command in this process, for speed: exit code, output, errors."""
    from duffdp.cli.app import run

    def called(*arguments):
        code = run([str(part) for part in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert err.count("\n") <= 1
        return code, out, err

    return called
