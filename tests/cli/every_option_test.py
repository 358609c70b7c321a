"""Every option of every command changes what the command prints, writes, charges or returns."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import webbrowser
from contextlib import closing
from functools import cache
from itertools import chain, count

import click
import numpy as np
import pytest

from duffdp._cli.app import application
from duffdp.audit import cases as audited_cases
from option_cases import (
    ABSENT,
    CASES,
    ELSEWHERE,
    OTHERS,
    SHARED,
    STATISTICS,
    case_of,
    usual,
    write_files,
)


def commands(command, name=""):
    """Every command with the names of its options and arguments."""
    yield name, [parameter.name for parameter in command.params]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for part in command.list_commands(context):
            yield from commands(command.get_command(context, part), f"{name} {part}".strip())


EVERY = dict(commands(application))
OPTIONS = {name: options for name, options in EVERY.items() if options}
CHANGING = re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00)?|[0-9a-f]{64}")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    return folder


@pytest.fixture
def observed(call, files, tmp_path, monkeypatch):
    """Run a call in a folder of its own, and return all that can be seen of it but the time."""
    number = count()

    @cache
    def run(command, arguments, stdin, _):
        folder = tmp_path / str(next(number))
        shutil.copytree(files, folder)
        monkeypatch.chdir(folder)
        monkeypatch.setattr(os, "urandom", np.random.default_rng(1).bytes)  # there is no --seed
        with open(os.devnull if stdin is None else stdin) as pipe:
            monkeypatch.setattr("sys.stdin", pipe)
            code, *texts = call(*command.split(), *arguments, quiet=False)
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        texts += (f"{path.relative_to(folder)}: {content(path)}" for path in paths)
        return code, *(CHANGING.sub("", text) for text in texts)

    def observed(command, options, stdin, times=1):
        """The same call is run once, or once more for the second time."""
        return run(command, tuple(chain(*options.values())), stdin, times)

    return observed


def content(path):
    if path.suffix == ".db":
        with closing(sqlite3.connect(path)) as ledger:
            return "\n".join(ledger.iterdump())
    return path.read_text(errors="replace")


def make_quick(command, monkeypatch):
    """What takes minutes or never ends says instead what it was called with, or does a part."""
    if command == "studio":
        from duffdp._studio import server

        def tell_address(file, port, tell):
            print(file, port)
            tell("address", "address for once")

        monkeypatch.setattr(server, "serve", tell_address)
        monkeypatch.setattr(webbrowser, "open", lambda address: print("opened", address))
        monkeypatch.setattr("threading.Thread.start", lambda thread: thread.run())
    elif command == "paper":
        from duffdp.research.experiments import run

        monkeypatch.setattr(run, "run", lambda out, data: print(out, data))
    elif command == "audit":
        laws, releases = list(audited_cases.mechanism_cases())[:1], audited_cases.attack_cases()[:1]
        monkeypatch.setattr(audited_cases, "mechanism_cases", lambda: laws)
        monkeypatch.setattr(audited_cases, "attack_cases", lambda: releases)


def is_tried(command, option):
    """True for the command's own options, and for every third of those that statistics share.

    A shared option is one `Parameter`, and the commands of statistics are made of parameters by one
    function: each shared option is tried with a third of the statistics, and each statistic with a
    third of them. `plan_options_test.py` tries every statistic with every one of them.
    """
    others = [name for name in STATISTICS if option in OPTIONS[name]]
    own = option not in SHARED or option in CASES.get(command, {})
    if own or command not in others or len(others) < 6:
        return True
    return (list(SHARED).index(option) + others.index(command)) % 3 == 0


@pytest.mark.parametrize("command", OPTIONS)
def test_every_option_matters(command, observed, monkeypatch):
    make_quick(command, monkeypatch)
    faults = []
    same = [observed(command, usual(command), None, times) for times in (1, 2)]
    assert same[0] == same[1]  # what differs below is not chance
    for option in OPTIONS[command]:
        if (command, option) in ELSEWHERE:
            continue
        case = case_of(command, option)
        if case is None:
            faults.append(f"{option}: add a case to option_cases.py")
            continue
        if not is_tried(command, option):
            continue
        assert ABSENT != case.after != case.before
        around = {**usual(command), **case.context}
        calls = [{**around, option: words} for words in (case.before, case.after)]
        first, other = (observed(command, call, case.stdin) for call in calls)
        shown = f"{first[:3]} and {other[:3]}"
        if (first[0], other[0]) != case.codes:
            faults.append(f"{option}: exit codes are not {case.codes}: {shown}")
        elif first == other:
            faults.append(f"{option} changes nothing: {shown}")
    assert not faults, "\n".join(faults)


def test_every_shared_option_is_tried():
    for option in SHARED:
        commands = [name for name in OPTIONS if option in OPTIONS[name]]
        assert any(is_tried(command, option) for command in commands), option


def test_every_case_is_of_an_option():
    assert {*OPTIONS} == {*STATISTICS, *OTHERS}
    everywhere = {option for options in OPTIONS.values() for option in options}
    assert {*SHARED} <= everywhere
    for command, cases in CASES.items():
        assert {*cases} <= {*OPTIONS[command]}, command
    for command, option in ELSEWHERE:
        assert option in OPTIONS[command]
