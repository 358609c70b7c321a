"""Database servers of the machine that compare text loosely, started when they are first asked for:
MariaDB, and a PostgreSQL with ICU, which the one of `postgres.py` lacks.

A process of its own runs each and ends it when whoever asked for it has ended, in whatever way.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

SECONDS = 120  # until a server listens
MARIADB, POSTGRES = "mariadb", "postgresql"
_PLACES = os.pathsep.join(
    [
        os.environ.get("PATH", os.defpath),
        "/usr/sbin",
        *map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)),
    ]
)
_PROGRAMS = {MARIADB: ("mariadb-install-db", "mariadbd"), POSTGRES: ("initdb", "postgres")}
_READY = re.compile(r"ready (for|to accept) connections")
_PACKAGES = {MARIADB: "mariadb-server", POSTGRES: "postgresql"}  # of Debian
_SOCKETS = {MARIADB: "socket", POSTGRES: ".s.PGSQL.5432"}
LOG = "log"
_numbers = itertools.count()
_keepers: list[subprocess.Popen[str]] = []


def missing(name: str) -> str | None:
    """Why a server cannot be started here; None if its programs are here."""
    for program in _PROGRAMS[name]:
        if shutil.which(program, path=_PLACES) is None:
            return f"there is no {program} here: apt-get install {_PACKAGES[name]}"
    if name == MARIADB and importlib.util.find_spec("pymysql") is None:
        return "there is no pymysql here"
    return None


def keep(name: str) -> None:
    """Run a server until the input ends; it listens at a socket in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix=f"duffdp-{name}-"))
    make, serve = (shutil.which(program, path=_PLACES) for program in _PROGRAMS[name])
    data, options, user = folder / "data", [], None
    if name == MARIADB:
        own = ["--user=root"] if os.getuid() == 0 else []
        made = [make, "--no-defaults", f"--datadir={data}", "--skip-test-db", *own]
        made += ["--auth-root-authentication-method=normal"]
        options = ["--no-defaults", f"--datadir={data}", f"--socket={folder / 'socket'}", *own]
        options += ["--skip-networking", f"--pid-file={folder / 'pid'}"]
        options += ["--innodb-use-native-aio=0"]  # which containers may forbid
    else:
        if os.getuid() == 0:  # as whom it does not run
            user = "postgres"
            shutil.chown(folder, user)
        made = [make, "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"]
        made += ["--locale=C"]
        options = ["-D", str(data), "-k", str(folder), "-c", "listen_addresses=", "-F"]
    server = None
    with open(folder / LOG, "w") as log:
        output: dict[str, Any] = {"stdout": log, "stderr": log, "cwd": folder, "user": user}
        if subprocess.run(made, **output).returncode == 0:
            server = subprocess.Popen([serve, *options], **output)
    end = time.monotonic() + SECONDS
    # A socket is there before the server answers on it; the log says when it does.
    while server and time.monotonic() < end and server.poll() is None:
        if _READY.search((folder / LOG).read_text(errors="replace")):
            break
        time.sleep(0.05)
    print(folder, flush=True)
    sys.stdin.read()
    if server:
        server.send_signal(signal.SIGINT if name == POSTGRES else signal.SIGTERM)  # no waiting
        server.wait()
    shutil.rmtree(folder, ignore_errors=True)


def folder(name: str) -> Path:
    """The folder with the files and the socket of a server that runs; a test is skipped, with the
    end of the server's log, if it does not start.
    """
    place = _started(name)
    if not (place / _SOCKETS[name]).exists():
        lines = (place / LOG).read_text(errors="replace").splitlines()
        pytest.skip(f"{name} does not start here: {' | '.join(lines[-5:])}")
    return place


@functools.cache
def _started(name: str) -> Path:
    """The folder of a server, after it has started or failed to."""
    keeper = subprocess.Popen(
        [sys.executable, __file__, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _keepers.append(keeper)
    assert keeper.stdout is not None
    return Path(keeper.stdout.readline().strip())


def stop() -> None:
    """End the servers and wait until what they wrote is gone, if they run."""
    for connected in (mariadb, postgres):
        if connected.cache_info().currsize:
            connected().disconnect()
    for keeper in _keepers:
        keeper.communicate()
    _keepers.clear()
    for cached in (_started, mariadb, postgres):
        cached.cache_clear()


@functools.cache
def mariadb() -> Any:
    """A connection of ibis to MariaDB, by a driver that is written in Python."""
    import pymysql

    pymysql.install_as_MySQLdb()
    import ibis

    socket = str(folder(MARIADB) / "socket")
    connection = pymysql.connect(unix_socket=socket, user="root", autocommit=True)
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE tests CHARACTER SET utf8mb4")
        cursor.execute("USE tests")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about zones, whose names the server has not been given
        return ibis.mysql.from_connection(connection)


def mariadb_table(columns: str, rows: list[tuple[Any, ...]]) -> Any:
    """A table of MariaDB with these columns, as SQL declares them."""
    server, name = mariadb(), f"rows_{next(_numbers)}"
    with server.con.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        if rows:
            marks = ", ".join(["%s"] * len(rows[0]))
            cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    return server.table(name)


@functools.cache
def postgres() -> Any:
    """A connection of ibis to the PostgreSQL with ICU, where the collation `loose` and the type
    citext take ANN and ann for one.
    """
    import ibis

    server = ibis.connect(postgres_address())
    server.raw_sql(
        "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    ).close()
    server.raw_sql("CREATE EXTENSION IF NOT EXISTS citext").close()
    return server


def postgres_address(table: str = "") -> str:
    """Where that server listens, with a table if one is named."""
    address = f"postgresql://postgres@/postgres?host={folder(POSTGRES)}"
    return f"{address}::{table}" if table else address


def postgres_table(columns: str, rows: list[tuple[Any, ...]]) -> str:
    """The name of a table there with these columns, as SQL declares them."""
    server, name = postgres(), f"rows_{next(_numbers)}"
    with server.con.transaction(), server.con.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({columns})")
        if rows:
            marks = ", ".join(["%s"] * len(rows[0]))
            cursor.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    return name


if __name__ == "__main__":
    keep(sys.argv[1])
