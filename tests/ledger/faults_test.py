"""Faults with real processes: many at once, killed ones, full and read-only disks, damaged
files.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import duffdp
from duffdp import BudgetExceeded, Ledger, LedgerError

SUPPORT = Path(__file__).parents[1] / "support"
AGES = {"bounds": (0, 120), "step": 1}


def python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "budget.db", epsilon=1)


def test_sixteen_processes_spend_the_budget_and_no_more(ledger):
    """160 charges of 1/100 against a budget of 1: exactly 100 are granted and written down."""
    code = (
        "import sys, duffdp\n"
        "granted = 0\n"
        "for _ in range(10):\n"
        "    try:\n"
        "        duffdp.median([1, 2, 3], epsilon=0.01, bounds=(0, 120), step=1, "
        "ledger=sys.argv[1])\n"
        "        granted += 1\n"
        "    except duffdp.BudgetExceeded:\n"
        "        pass\n"
        "print(granted)"
    )
    command = [sys.executable, "-c", code, str(ledger.path)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(16)]
    granted = [int(process.communicate(timeout=120)[0]) for process in processes]
    assert sum(granted) == len(ledger.charges()) == 100
    assert ledger.remaining() == 0
    assert ledger.verify().charges == 100


def test_many_processes_make_one_ledger(tmp_path):
    code = "import sys, duffdp; duffdp.Ledger(sys.argv[1], epsilon=1)"
    path = tmp_path / "budget.db"
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(8)]
    assert [process.wait(timeout=120) for process in processes] == [0] * 8
    assert Ledger(path).verify().entries == 1


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_hundred_kills(tmp_path):
    """No release without its charge, no broken file, and a retry of what was seen gives the same
    value for nothing.
    """
    path = tmp_path / "budget.db"
    Ledger(path, epsilon=1000)
    ran = subprocess.run(
        [sys.executable, SUPPORT / "crashing.py", path, "100", "7"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    found = json.loads(ran.stdout)
    ledger = Ledger(path)
    charged = [charge["call"] for charge in ledger.charges()]
    assert found["broken"] == 0
    assert len(found["seen"]) > 50
    assert set(found["seen"]) <= set(charged)
    verified = ledger.verify()
    assert verified.releases >= len(found["seen"])
    assert (
        verified.charges > verified.releases
    )  # some were killed between the charge and the release
    for call, value in list(found["seen"].items())[:5]:
        again = duffdp.median(
            [1, 2, 3], epsilon=0.0001, bounds=(0, 10**6), step=1, ledger=ledger.call(call)
        )
        assert str(again.value) == value
    assert len(ledger.charges()) == len(charged)


FULL = """
import pathlib, sys, duffdp
folder = pathlib.Path(sys.argv[1])
ledger = duffdp.Ledger(folder / "budget.db", epsilon=1)
filler = open(folder / "filler", "wb", buffering=0)
try:
    while True:
        filler.write(bytes(1024))
except OSError:
    filler.close()
try:
    duffdp.median([1], epsilon=0.1, bounds=(0, 9), step=1, ledger=ledger)
    print("released")
except duffdp.LedgerError as error:
    print(error)
(folder / "filler").unlink()
print(ledger.spent(), ledger.verify().charges)
duffdp.median([1], epsilon=0.1, bounds=(0, 9), step=1, ledger=ledger)
print(ledger.spent(), ledger.verify().charges)
"""


def test_a_full_disk(tmp_path):
    """A file system of 256 KiB, filled to the last block."""
    mount = 'mount -t tmpfs -o size=256k none "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "-m", "sh", "-c", mount, "sh", tmp_path, sys.executable, FULL]
    if (
        not shutil.which("unshare")
        or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode
    ):
        pytest.skip("no right to mount a small file system")
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    refused, before, after = ran.stdout.splitlines()
    assert "the disk is full" in refused
    assert (before, after) == ("0.0 0", "0.1 1")


def test_a_file_that_may_not_grow(ledger):
    """The same by a limit on the size of files."""
    code = (
        "import resource, signal, sys, duffdp\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "print(duffdp.median([1], epsilon=0.1, bounds=(0, 9), step=1, ledger=sys.argv[1]).value)"
    )
    ran = python(code, ledger.path)
    assert ran.stdout == ""
    assert "LedgerError" in ran.stderr
    assert "the disk is full or failing" in ran.stderr
    assert (ledger.spent(), ledger.verify().charges) == (0, 0)


READ_ONLY = """
import os, sys, duffdp, duffdp.ledger.ledger
ages = {"epsilon": 0.01, "bounds": (0, 120), "step": 1}
duffdp.median([1], **ages)
if os.getuid() == 0:
    os.setuid(65534)  # root may write anywhere
charged = lambda: duffdp.median([1], **ages, ledger=sys.argv[1])
made = lambda: duffdp.Ledger(sys.argv[1] + "2", epsilon=1)
for attempt in (charged, made):
    try:
        print("released", attempt())
    except duffdp.LedgerError as error:
        print(error)
print(duffdp.Ledger(sys.argv[1]).remaining())
"""


def test_a_read_only_folder():
    """As an ordinary user, whom the mode of a folder binds; reading the budget is still
    possible. The folder is not of pytest: those are closed to other users.
    """
    with tempfile.TemporaryDirectory() as name:
        ledger = Ledger(Path(name, "budget.db"), epsilon=1)
        ledger.path.chmod(0o444)
        Path(name).chmod(0o555)
        try:
            ran = python(READ_ONLY, ledger.path)
            spent = ledger.spent()
        finally:
            Path(name).chmod(0o700)
    assert ran.stderr == ""
    release, made, remaining = ran.stdout.splitlines()
    assert "read-only" in release
    assert "read-only" in made
    assert remaining == "1.0"
    assert spent == 0


def damage_middle(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 3 : len(data) // 3 * 2] = bytes(len(data) // 3)
    path.write_bytes(data)


DAMAGE = {
    "zeros in the middle": damage_middle,
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "another file": lambda path: path.write_text("hello, this is no ledger at all\n" * 50),
    "empty": lambda path: path.write_bytes(b""),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "gone": lambda path: path.unlink(),
    "header": lambda path: path.write_bytes(b"x" * 100 + path.read_bytes()[100:]),
}


@pytest.mark.parametrize("harm", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_ledger_releases_nothing(ledger, harm):
    for _ in range(40):
        duffdp.median([1], epsilon=0.01, **AGES, ledger=ledger)
    harm(ledger.path)
    for release in (
        lambda: duffdp.median([1], epsilon=0.01, **AGES, ledger=ledger),
        lambda: duffdp.median([1], epsilon=0.01, **AGES, ledger=ledger.path),
        ledger.verify,
    ):
        with pytest.raises(LedgerError):
            release()


SPENT = 0.9


def flips(data, count, seed):
    """Places in a file, most of them where something is written: in zeros there is little to
    break.
    """
    moments = random.Random(seed)
    written = [place for place, byte in enumerate(data) if byte]
    places = moments.choices(written, k=count * 9 // 10) + moments.choices(
        range(len(data)), k=count // 10
    )
    return [(place, moments.randrange(8)) for place in places]


def outcome(path, epsilon):
    """What a release comes to: refused for the file, refused for the budget, or granted."""
    try:
        duffdp.median([1], epsilon=epsilon, **AGES, ledger=path)
    except BudgetExceeded:
        return "too much"
    except LedgerError:
        return "damaged"
    return "granted"


def judge(path, granted):
    """A charge that was granted is found again, or the file is known to be broken and grants no
    more.
    """
    try:
        assert Ledger(path).spent() == (1.0 if granted else SPENT)
        assert Ledger(path).verify().charges == (4 if granted else 3)
    except LedgerError:
        assert outcome(path, 0.05) == "damaged"


def check_flip(path, data, place, bit):
    """One flipped bit: what does not fit is never granted, what fits is granted and kept or
    refused.
    """
    damaged = bytearray(data)
    damaged[place] ^= 1 << bit
    for epsilon, right in ((0.2, "too much"), (0.1, "granted")):
        path.write_bytes(damaged)
        found = outcome(path, epsilon)
        assert found in ("damaged", right), f"bit {bit} of byte {place}: {epsilon} {found}"
        judge(path, found == "granted")
    path.write_bytes(damaged)
    try:
        known = duffdp.Ledger(path, epsilon=1, dataset="data")
        assert known.spent() == SPENT
    except LedgerError:
        pass
    return found


@pytest.fixture
def almost_spent(tmp_path):
    """A small ledger with little left."""
    path = tmp_path / "budget.db"
    ledger = Ledger(path, epsilon=1)
    for _ in range(3):
        duffdp.median([1], epsilon=0.3, **AGES, ledger=ledger)
    assert ledger.spent() == SPENT
    return path


def test_a_flipped_bit_gives_nothing_away(almost_spent):
    data = almost_spent.read_bytes()
    found = [check_flip(almost_spent, data, *flip) for flip in flips(data, 600, 5)]
    assert found.count("damaged") > 400  # every bit of an entry counts
    assert "granted" in found  # and bits that say nothing do not


def no_table(data):
    """The number of tables, one, becomes none."""
    return data[:104] + bytes([data[104] ^ 1]) + data[105:]


HIDDEN = {
    "the table": no_table,
    "the name of the table": lambda data: data.replace(b"entry", b"eftry"),
    "the name of the data set": lambda data: data.replace(b"databudget", b"datebudget"),
}


@pytest.mark.parametrize("hide", HIDDEN.values(), ids=HIDDEN.keys())
def test_damage_that_hides_a_budget_makes_no_new_one(almost_spent, hide):
    """A ledger that is opened with its budget would start again with nothing spent."""
    damaged = hide(almost_spent.read_bytes())
    assert damaged != almost_spent.read_bytes()
    almost_spent.write_bytes(damaged)
    for dataset in ("data", None):
        with pytest.raises(LedgerError):
            Ledger(almost_spent, epsilon=1, dataset=dataset)


@pytest.mark.parametrize(
    ("place", "bit"), [(4096 + 5, 0), (39, 0), (55, 1)], ids=["free space", "free pages", "vacuum"]
)
def test_nothing_is_written_to_broken_pages(almost_spent, place, bit):
    """All entries can still be read, and the next one would be written over them."""
    damaged = bytearray(almost_spent.read_bytes())
    damaged[place] ^= 1 << bit
    almost_spent.write_bytes(damaged)
    assert outcome(almost_spent, 0.1) == "damaged"
    assert almost_spent.read_bytes() == damaged


def test_what_is_written_reads_back(almost_spent):
    """A broken type in the schema, by which SQLite would store the call id 007 as the number 7."""
    damaged = almost_spent.read_bytes().replace(b"call TEXT", b"call TEYT")
    almost_spent.write_bytes(damaged)
    with pytest.raises(LedgerError, match="could not be read back"):
        duffdp.median([1], epsilon=0.1, **AGES, ledger=Ledger(almost_spent).call("007"))
    assert almost_spent.read_bytes() == damaged


def test_a_busy_ledger(ledger, monkeypatch):
    from duffdp.ledger import journal

    monkeypatch.setattr(journal, "LOCK_TIMEOUT", 0.1)
    with (
        ledger._journal.transaction(),
        pytest.raises(LedgerError, match="in use by other processes"),
    ):
        duffdp.median([1], epsilon=0.01, **AGES, ledger=ledger)
    assert ledger.spent() == 0


def test_an_interrupted_charge_is_rolled_back(ledger):
    with pytest.raises(KeyboardInterrupt), ledger._journal.transaction() as view:  # noqa: PT012
        view.add(
            ledger.dataset,
            "charge",
            None,
            {"epsilon": "1/10", "spent": {"epsilon": "1/10", "delta": "0"}},
        )
        raise KeyboardInterrupt
    assert ledger.spent() == 0
