"""What test files share: every engine in turn, and a command in this process."""

from __future__ import annotations

import pytest

import postgres
import servers
from command_line import words_of
from engines import ENGINES
from java import provide_java


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items):
    """One process for all that needs Spark, which is slow, and one for each kind of server: to
    start them takes longer than most tests. And a Java, for the examples on pages too.
    """
    for item in items:
        if "collation_test" in item.nodeid or "ibis_backends_test" in item.nodeid:
            item.add_marker(pytest.mark.xdist_group("servers"))
        elif "postgres" in item.nodeid or "addresses_test" in item.nodeid:
            item.add_marker(pytest.mark.xdist_group("postgres"))
    with_spark = [
        item for item in items if "spark" in item.nodeid or "engine_table_test" in item.nodeid
    ]
    for item in with_spark:
        item.add_marker(pytest.mark.xdist_group("spark"))
        item.add_marker(pytest.mark.slow)
    if with_spark:
        provide_java()


def pytest_sessionfinish():
    """No server stays behind."""
    postgres.stop()
    servers.stop()


@pytest.fixture(params=ENGINES)
def engine(request):
    """The name of every engine in turn."""
    return request.param


@pytest.fixture
def call(capsys):
    """A command in this process, for speed: exit code, output, errors. It is quiet, unless the
    notes that every call has are the subject.
    """
    from duffdp._cli.app import run

    def called(*arguments, quiet=True):
        code = run(words_of(arguments, quiet))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        assert not quiet or err.count("\n") <= 1
        return code, out, err

    return called
