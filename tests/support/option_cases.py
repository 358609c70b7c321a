"""A case for every option of every command: two calls that differ in that option alone.

A call is a dictionary from the names of options to what stands on the command line for them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from duffdp import Ledger
from duffdp.audit import EngineCheck
from duffdp.statistics.registry import REGISTRY, SUMMARIES

Words = tuple[str, ...]
Call = dict[str, Words]
ABSENT: Words = ()


@dataclass(frozen=True)
class Case:
    """An option with a value, beside the same call with another one or without it."""

    after: Words
    before: Words = ABSENT
    context: Call = field(default_factory=dict)  # what both calls have beside the usual
    codes: tuple[int, int] = (0, 0)
    stdin: str | None = None  # the file that is piped into both


def case(after: str, before: str = "", codes: tuple[int, int] = (0, 0), **context: str) -> Case:
    """The same from text, cut at spaces; `|` marks a space within a value."""
    stdin = context.pop("stdin", None)
    parts = {name: words(text) for name, text in context.items()}
    return Case(words(after), words(before), parts, codes, stdin)


def words(text: str) -> Words:
    return tuple(part.replace("|", " ") for part in text.split())


def write_files(folder: Path) -> None:
    """What all calls find in their folder. From the 26th row on every column changes, so a
    condition on any of them changes every statistic.
    """
    header = ("person", "age", "size", "weight", "sex", "word", "cost", "day", "fee", "town")
    lines, objects = [",".join(header)], []
    for i in range(40):
        late = i >= 25
        # The last ages are alike, and so are the first: a mode of its own for each part.
        age, size = (60 + min(i, 36), 200 - 3 * i) if late else (20 + max(i, 2), 100 + 2 * i)
        texts = ("b", "7,5", "03.11.2020") if late else ("a", "1,5", "03.02.2020")
        rest = f"{texts[2]},1.200,Köln" if late else f"{texts[2]},1.050,Ulm"
        lines.append(f'p{i % 9},{age},{size},{i % 7},{"mff"[i % 3]},{texts[0]},"{texts[1]}",{rest}')
        objects.append(f'{{"age": {age}, "size": {size}, "word": "{texts[0]}"}}')
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "titled.csv").write_text("\n".join(["People, of 2020", *lines]) + "\n")
    (folder / "umlaut.csv").write_text("größe\n1\n")
    check = EngineCheck("duckdb", "1.5.6", "2026-11-18", ())
    (folder / "check.json").write_text(json.dumps(check.to_dict()))
    (folder / "fewer.csv").write_text("\n".join(lines[:20]) + "\n")
    (folder / "people.jsonl").write_text("\n".join(objects) + "\n")
    edges = [(i, j) for i in range(8) for j in range(i) if (i + j) % 3]
    for name, some in (("edges.csv", edges), ("other_edges.csv", edges[::2])):
        (folder / name).write_text("a,b\n" + "".join(f"{i},{j}\n" for i, j in some))
    for name in ("one.db", "two.db", "three.db"):
        datasets = [None] if name == "one.db" else ["first", "second"]
        for dataset in datasets:
            Ledger(folder / name, epsilon=5000, dataset=dataset)
    release = '[[release]]\nstatistic = "median"\ncolumn = "age"\nbounds = [0, 120]\n'
    table = '[statistics]\nage = "median"\n[bounds]\nage = [0, 120]\n'
    paid = 'ledger = "two.db"\ndataset = "first"\ncall_id = "as planned"\n'
    for kind, body in (("release", release), ("table", table)):
        plans = {
            "usual": ("people.csv", 500, ""),
            "cheaper": ("people.csv", 400, ""),
            "paid": ("people.csv", 500, paid),
            "piped": ("-", 500, ""),
        }
        for name, (source, epsilon, more) in plans.items():
            start = f'source = "{source}"\nepsilon = {epsilon}\n{more}'
            (folder / f"{name}_{kind}.toml").write_text(start + body)


STATISTICS = {name.replace("_", "-"): REGISTRY[name] for name in SUMMARIES}

# What a statistic's command is called with. An epsilon of 500 leaves no noise to speak of: what
# differs is not the luck of a draw.
TABLES: Call = {
    "data": ("people.csv",),
    "column": words("-c age"),
    "epsilon": words("-e 500"),
    "result_format": words("-f json"),
}
GRAPHS: Call = {
    "data": ("edges.csv",),
    "nodes": words("--nodes 10"),
    "epsilon": words("-e 500"),
    "result_format": words("-f json"),
}
GROUPS = {"by": "--by sex", "keys": "--keys f,m"}
OWN: dict[str, Call] = {
    "quantile": {"q": words("-q 0.25")},
    "trimmed-mean": {"trim": words("--trim 0.1")},
    "top": {"k": words("-k 2")},
    "slope": {"x": words("--x age"), "y": words("--y size"), "bounds": words("--bounds -9 9")},
    "stars": {"k": words("-k 2")},
    "share": {"between": words("--between 0 50")},
    "histogram": {"bins": words("--bins 0,50,120")},
}
PLANNED: Call = {
    "data": ("normal",),
    "n": words("--n 50"),
    "bounds": words("--bounds 0 10"),
    "step": words("--step 1"),
}
OTHERS: dict[str, Call] = {
    "release": {"plan": ("usual_release.toml",), "result_format": words("-f json")},
    "table": {"plan": ("usual_table.toml",), "result_format": words("-f json")},
    "preview": PLANNED | {"epsilon": words("-e 1")},
    "epsilon-for": PLANNED | {"within": words("--within 1")},
    "columns": {"data": ("people.csv",)},
    "profile": {
        "data": ("people.csv",),
        "columns": words("--columns age"),
        "epsilon": words("-e 500"),
        "result_format": words("-f json"),
    },
    "check-engine": {"address": ("people.csv",)},
    "studio": {},
    "audit": {},
    "demo": {},
    "paper": {"out": words("--out figures"), "data": words("--data people.csv")},
    "ledger init": {"path": ("new.db",), "epsilon": words("-e 3")},
    "ledger show": {"path": ("two.db",), "dataset": words("--dataset first")},
    "ledger verify": {"path": ("two.db",)},
    "": {},
}


def usual(command: str) -> Call:
    """The call that cases of a command start from."""
    if command not in STATISTICS:
        return OTHERS[command]
    entry = STATISTICS[command]
    if entry.of_graphs:
        return GRAPHS | OWN.get(command, {})
    call = dict(TABLES)
    if entry.of_pairs:
        del call["column"]
    if entry.outputs.startswith("grid"):
        call["bounds"] = words("--bounds 0 120")
    return call | OWN.get(command, {})


LATE_COST = {"where": "--where cost|>|3", "types": "--types cost=double"}
LATE_DAY = {"where": "--where day|>|'2020-06-01'", "types": "--types day=date"}
LATE_FEE = {"where": "--where fee|>|1100", "types": "--types fee=integer", "decimal": "--decimal ,"}
LATE_TOWN = {"where": "--where town|=|'Köln'"}
TITLED = {"data": "titled.csv"}
DAY_AS_TEXT = {"where": "--where day|=|'2020-11-03'", "date_format": "--date-format %d.%m.%Y"}
TYPES = "--types age=integer,size=integer,word=text"
LATE_SQL = "--sql SELECT|age,|size,|word|FROM|data|WHERE|word|=|'b'"
# The cases of options that many commands have.
SHARED: dict[str, Case] = {
    "data": case("fewer.csv", "people.csv"),
    "pipe": case("--pipe jsonl", codes=(4, 0), data="-", stdin="people.jsonl"),
    "types": case("--types day=date", **DAY_AS_TEXT),
    "decimal": case("--decimal ,", **LATE_COST),
    "date_format": case("--date-format %d.%m.%Y", **LATE_DAY),
    "thousands": case("--thousands .", **LATE_FEE),
    "encoding": case("--encoding windows-1252", **LATE_TOWN),
    "skip_rows": case("--skip-rows 1", codes=(4, 0), **TITLED),
    "sql": case(LATE_SQL, types=TYPES),
    "column": case("-c size", "-c age"),
    "epsilon": case("-e 400", "-e 500"),
    "bounds": case("--bounds 0 60", "--bounds 0 120"),
    "digits": case("--digits 1", "--digits 2", bounds=""),
    "step": case("--step 25"),
    "categories": case("--categories a,c", "--categories a,b", column="-c word", bounds=""),
    "by": case("--by word", "--by sex", keys="--keys f,m"),
    "keys": case("--keys m,f", "--keys f,m", by="--by sex"),
    "where": case("--where word|=|'b'"),
    "unit": case("--unit person"),
    "contributions": case("--contributions 2", unit="--unit person"),
    "groups_per_person": case("--groups-per-person 2", unit="--unit person", **GROUPS),
    "other": case("--other rest", by="--by word", keys="--keys a"),
    "finding": case("--finding 0.5", by="--by word", keys="--keys pattern:[ab]"),
    "suppress_below": case("--suppress-below 20", **GROUPS),
    "interval": case("--interval 0.9"),
    "simultaneous": case("--simultaneous", interval="--interval 0.9", **GROUPS),
    "covers": case("--covers population", interval="--interval 0.9"),
    "ledger": case("--ledger one.db"),
    "dataset": case("--dataset second", "--dataset first", ledger="--ledger two.db"),
    "call_id": case("--call-id once", ledger="--ledger one.db"),
    "result_format": case("-f csv", "-f json"),
    "out": case("--out out.json"),
    "csv_separator": case("--csv-separator ;", result_format="-f csv"),
    "csv_decimal": case("--csv-decimal ,", codes=(0, 2), result_format="-f csv"),
    "report": case("--report page.md"),
    "registry": case("--registry entry.yaml"),
    "title": case("--title Ages", report="--report page.md"),
    "author": case("--author Office", report="--report page.md"),
    "engine_check": case("--engine-check check.json", report="--report page.md"),
    "quiet": case("--quiet"),
    "explain": case("--explain"),
    # Parameters of statistics.
    "q": case("-q 0.75", "-q 0.25"),
    "trim": case("--trim 0.4", "--trim 0.1"),
    "k": case("-k 3", "-k 2"),
    "between": case("--between 0 90", "--between 0 50"),
    "values": case("--values 90,91", "--values 30,31,32", between=""),
    "bins": case("--bins 0,30,120", "--bins 0,50,120"),
    "nonnegative": case("--negative"),
    "adds_up": case("--adds-up"),
    "zero_below": case("--zero-below 9000"),
    "confidence": case("--confidence 0.8"),
    "x": case("--x weight", "--x age"),
    "y": case("--y weight", "--y size"),
    "nodes": case("--nodes 20", "--nodes 10"),
}
FILE = {"data": "people.csv", "column": "-c age", "n": "", "bounds": "--bounds 0 120"}
WORDS = FILE | {"column": "-c word", "bounds": "", "step": "", "statistic": "--statistic mode"}
PAIRS = FILE | {"column": "", "bounds": "--bounds -9 9", "statistic": "--statistic slope"}
SHARES = FILE | {"bounds": "", "step": "", "statistic": "--statistic share"}
BINS = {"statistic": "--statistic histogram", "bins": "--bins 0,1,10", "step": ""}
FIRST = {"output": "--output [0,|1)"}
SMALL = {"n": "--n 10", "bounds": "--bounds 0 4"}
PLANNING: dict[str, Case] = {
    "data": case("uniform", "normal"),
    "column": case("-c size", "-c age", **FILE | {"column": ""}),
    "where": case("--where word|=|'b'", **FILE),
    "types": case("--types day=date", **FILE, **DAY_AS_TEXT),
    "decimal": case("--decimal ,", **FILE, **LATE_COST),
    "date_format": case("--date-format %d.%m.%Y", **FILE, **LATE_DAY),
    "thousands": case("--thousands .", **FILE, **LATE_FEE),
    "encoding": case("--encoding windows-1252", **FILE, **LATE_TOWN),
    "skip_rows": case("--skip-rows 1", codes=(4, 0), **FILE | TITLED),
    "sql": case(LATE_SQL, **FILE, types=TYPES),
    "n": case("--n 500", "--n 50"),
    "statistic": case("--statistic mean"),
    "q": case("-q 0.9", "-q 0.25", statistic="--statistic quantile"),
    "trim": case("--trim 0.4", "--trim 0.1", statistic="--statistic trimmed-mean"),
    "values": case("--values 30", "--values 90,91,92,93,94", **SHARES),
    "between": case("--between 0 25", "--between 0 90", **SHARES),
    "bins": case("--bins 0,2,4,6,8,10", "--bins 0,5,10", **BINS | {"bins": ""}),
    "nonnegative": case("--negative", **BINS),
    "adds_up": case("--adds-up", **BINS),
    "zero_below": case("--zero-below 9000", **BINS),
    "k": case("-k 3", "-k 1", statistic="--statistic top"),
    "x": case("--x size", "--x age", **PAIRS, y="--y weight"),
    "y": case("--y weight", "--y size", **PAIRS, x="--x age"),
    "bounds": case("--bounds 0 100", "--bounds 0 10"),
    "digits": case("--digits 1", "--digits 2", **FILE | {"bounds": "", "step": ""}),
    "step": case("--step 5", "--step 1"),
    "categories": case("--categories a,b,c,d,e", "--categories a,b", **WORDS),
    "contributions": case("--contributions 3"),
    "group_size": case("--group-size 20"),
    "half_between": case("--half-between 4 6", "--half-between 2 8"),
    "interval": case("--interval 0.9"),
    "covers": case("--covers population", interval="--interval 0.9"),
    "delta": case("--delta 0.01", "--delta 0.000001", mechanism="--mechanism smooth-laplace"),
    "draws": case("--draws 40", "--draws 5", statistic="--statistic std"),
    "mechanism": case("--mechanism duff", "--mechanism best"),
}
# Plans that name a ledger, a data set and a call: the options have precedence.
PAID = {
    kind: {
        "ledger": case("--ledger three.db", plan=f"paid_{kind}.toml"),
        "dataset": case("--dataset second", plan=f"paid_{kind}.toml"),
        "call_id": case("--call-id another", plan=f"paid_{kind}.toml"),
        "plan": case(f"cheaper_{kind}.toml", f"usual_{kind}.toml"),
        "pipe": case("--pipe jsonl", codes=(4, 0), plan=f"piped_{kind}.toml", stdin="people.jsonl"),
        "check": case("--check"),
        "source": case("--source fewer.csv"),
    }
    for kind in ("release", "table")
}
# The cases of one command.
CASES: dict[str, dict[str, Case]] = {
    "count": {
        "column": case("-c age", column=""),
        "finding": case(
            "--finding 0.5", by="--by word", keys="--keys pattern:[ab]", epsilon="-e 9"
        ),
    },
    "histogram": {
        "categories": case("--categories a,c", "--categories a,b", column="-c word", bins=""),
    },
    "slope": {"bounds": case("--bounds -1 1", "--bounds -9 9"), "step": case("--step 0.5")},
    "triangles": {"data": case("other_edges.csv", "edges.csv")},
    "stars": {"data": case("other_edges.csv", "edges.csv")},
    "release": PAID["release"],
    "table": PAID["table"],
    "profile": {
        name: SHARED[name]
        for name in (
            *("data", "pipe", "types", "decimal", "date_format", "thousands", "encoding"),
            *("skip_rows", "sql", "epsilon", "by", "keys", "where", "unit", "contributions"),
            *("ledger", "dataset", "call_id", "result_format", "out", "report", "title"),
            *("author", "csv_separator", "csv_decimal"),
        )
    }
    | {
        "quiet": case("--quiet", out="--out out.json"),
        "columns": case("--columns size", "--columns age"),
        "bounds": case("--bounds age 0 60", "--bounds age 0 120"),
    },
    "preview": PLANNING
    | {"epsilon": case("-e 2", "-e 1"), "picture": case("--picture errors.svg")},
    "epsilon-for": PLANNING
    | {
        "within": case("--within 2", "--within 1"),
        "probability": case("--probability 0.5"),
        # Nobody keeps the error of an empty selection small: without the option it is refused.
        **{n: replace(PLANNING[n], codes=(2, 0)) for n in ("types", "decimal", "thousands")},
        "encoding": replace(PLANNING["encoding"], codes=(0, 2)),
        "date_format": replace(PLANNING["date_format"], codes=(2, 0)),
        "values": case("--values 30", "--values 90,91,92,93,94", **SHARES, within="--within 0.1"),
        "between": case("--between 0 25", "--between 0 90", **SHARES, within="--within 0.1"),
        "bins": case("--bins 0,2,10", "--bins 0,1,10", (0, 2), **BINS | FIRST | {"bins": ""}),
        "nonnegative": case("--negative", **BINS, **FIRST),
        "adds_up": case("--adds-up", **BINS, draws="--draws 10", n="--n 5"),
        "zero_below": case("--zero-below 5", **BINS, **FIRST),
        "k": case("-k 3", "-k 1", (0, 2), statistic="--statistic top"),
        "categories": case(
            "--categories a,b,c,d,e", "--categories a,b", **WORDS, within="--within 0.5"
        ),
        "statistic": case("--statistic mode"),
        "interval": case("--interval 0.9", **SMALL),
        "covers": case("--covers population", interval="--interval 0.9", **SMALL),
        "width": case("--width 3", "--width 2", within="", interval="--interval 0.9", **SMALL),
        "output": case("--output [0,|1)", **BINS),
    },
    "columns": {
        "data": case("edges.csv", "people.csv"),
        "types": case("--types age=integer"),
        "encoding": case("--encoding cp1252", data="umlaut.csv"),
        "skip_rows": case("--skip-rows 1", data="titled.csv"),
    },
    "studio": {
        "file": case("people.csv"),
        "port": case("--port 8000"),
        "no_browser": case("--no-browser"),
    },
    "audit": {
        "lower_bound": case("--lower-bound", draws="--draws 10", processes="--processes 1"),
        "draws": case(
            "--draws 20", "--draws 10", lower_bound="--lower-bound", processes="--processes 1"
        ),
        "rows": case("--rows 5", codes=(0, 2)),  # too few to replay
        "command": case("median", codes=(0, 2)),  # only with --replay
    },
    "demo": {"folder": case("elsewhere")},
    "paper": {
        "out": case("--out elsewhere", "--out figures"),
        "data": case("--data fewer.csv", "--data people.csv"),
    },
    "ledger init": {
        "path": case("other.db", "new.db"),
        "epsilon": case("-e 4", "-e 3"),
        "delta": case("--delta 0.001"),
        "dataset": case("--dataset visits"),
    },
    "ledger show": {
        "path": case("three.db", "one.db", dataset=""),
        "dataset": case("--dataset second", "--dataset first"),
        "delta": case("--delta 0.001"),
        "listing_format": case("--format json"),
    },
    "ledger verify": {
        "path": case("one.db", "two.db"),
        "head": case("--head 0123", codes=(0, 3)),
    },
    "": {"version": case("--version")},
}
# Options whose effect is not in what a command prints, writes or returns.
ELSEWHERE: dict[tuple[str, str], str] = {
    ("audit", "processes"): "only time; with 1 it runs in this process, on which "
    "audit_verdict_test.py relies",
    ("check-engine", "address"): "engine_check_test.py checks engines",
    ("check-engine", "out"): "engine_check_test.py reads what is written",
    **{
        (command, "all_digits"): "command_table_test.py; whole numbers have no others"
        for command in (*STATISTICS, "release", "table", "profile")
    },
    ("audit", "replay"): "replay_test.py replays commands",
    ("", "install_completion"): "command_edges_test.py installs it",
    ("", "show_completion"): "command_edges_test.py shows it",
}


def case_of(command: str, option: str) -> Case | None:
    """The case of an option, if there is one."""
    own = CASES.get(command, {}).get(option)
    if own is not None:
        return own
    entry = STATISTICS.get(command)
    if entry is not None and option == "mechanism":
        return Case(("--mechanism", entry.choices[1]), ("--mechanism", entry.choices[0]))
    if entry is None and command not in PAID:
        return None
    return SHARED.get(option)
