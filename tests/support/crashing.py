"""Children that release under a ledger and are killed at random moments: prints what came out of
them. Run by faults_test.py.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time

import duffdp


def child(path: str, turn: int, out: int) -> None:
    ledger = duffdp.Ledger(path)
    for i in range(10**6):
        call = f"{turn}-{i}"
        release = duffdp.median(
            [1, 2, 3], epsilon=0.0001, bounds=(0, 10**6), step=1, ledger=ledger.call(call)
        )
        os.write(out, f"{call} {release.value}\n".encode())


def main(path: str, turns: int, seed: int) -> None:
    moments, seen, broken = random.Random(seed), {}, 0
    for call in ("first", "second"):
        begin = time.perf_counter()
        duffdp.median(
            [1, 2, 3],
            epsilon=0.0001,
            bounds=(0, 10**6),
            step=1,
            ledger=duffdp.Ledger(path).call(call),
        )
    longest = 12 * (time.perf_counter() - begin)  # a few releases, however slow the disk is
    for turn in range(turns):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            child(path, turn, writing)
        os.close(writing)
        time.sleep(moments.uniform(0.0, longest))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with os.fdopen(reading) as lines:
            seen |= dict(line.split() for line in lines if line.endswith("\n"))
        try:
            duffdp.Ledger(path).verify()
        except duffdp.DuffError:
            broken += 1
    print(json.dumps({"seen": seen, "broken": broken}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
