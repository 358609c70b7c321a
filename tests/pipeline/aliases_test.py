"""Names of parameters and values as other libraries have them work wherever the documented ones do:
in Python, on the command line, in plans. Documentation and errors have the documented name.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import polars as pl
import pytest

import duffdp
from duffdp import DuffError, Plan, TablePlan, _parameters
from duffdp._cli.app import run
from duffdp._parameters import Parameter
from duffdp._pipeline.signatures import release_parameters
from duffdp.statistics.registry import REGISTRY, SUMMARIES

PARAMETERS = [one for one in vars(_parameters).values() if isinstance(one, Parameter)]
NAMES = [(alias, one) for one in PARAMETERS for alias in one.aliases]
VALUES = [(alias, one) for one in PARAMETERS for alias in one.value_aliases]
ROWS = 60
FRAME = pl.DataFrame(
    {
        "x": [i % 17 for i in range(ROWS)],
        "y": [i * i % 23 for i in range(ROWS)],
        "g": [("a", "b")[i % 2] for i in range(ROWS)],
        "h": [("c", "d")[i // 2 % 2] for i in range(ROWS)],
        "who": [i // 4 for i in range(ROWS)],
    }
)
SETTINGS = {
    "unit": {"unit": "who"},
    "contributions": {"unit": "who", "contributions": 3},
    "groups_per_person": {"unit": "who", "groups_per_person": 2, "by": "h", "keys": ["c", "d"]},
    "mechanism": {"mechanism": "best"},
}
NEEDS = {
    "quantile": {"q": 0.5, "bounds": (0, 20)},
    "quantiles": {"qs": [0.25, 0.75], "bounds": (0, 20)},
    "trimmed_mean": {"trim": 0.25, "bounds": (0, 20)},
    "count": {},
    "share": {"between": (0, 5)},
    "histogram": {"bins": [0, 5, 20]},
    "top": {"k": 1, "column": "g", "categories": ["a", "b"]},
    "slope": {"x": "x", "y": "y", "bounds": (-2, 2)},
    "mode": {"categories": ["a", "b"], "column": "g"},
    "triangles": {"nodes": 60},
    "stars": {"nodes": 60, "k": 2},
}
NAMED = [
    pytest.param(name, alias, parameter, id=f"{name}-{alias}")
    for name in REGISTRY
    for alias, parameter in (*NAMES, *VALUES)
    if parameter in release_parameters(REGISTRY[name])
]


def with_alias(options: dict[str, object], alias: str, parameter: Parameter) -> dict[str, object]:
    """The options with the alias instead of the documented name or value."""
    if alias in parameter.value_aliases:
        return options | {parameter.name: alias}
    return {alias if name == parameter.name else name: value for name, value in options.items()}


def test_the_names_that_other_libraries_have_are_aliases() -> None:
    assert dict(NAMES).keys() == {"privacy_unit", "max_rows_per_person", "max_groups_per_person"}
    assert dict(VALUES).keys() == {"auto"}


@pytest.mark.parametrize(("name", "alias", "parameter"), NAMED)
def test_functions_take_aliases(name: str, alias: str, parameter: Parameter) -> None:
    spec = REGISTRY[name]
    options = {"epsilon": 1, "rng": 3, **NEEDS.get(name, {"bounds": (0, 20)})}
    data: object = FRAME
    if spec.of_graphs:
        data = [(i, (i * 7) % 60) for i in range(60) if i != (i * 7) % 60]
    elif not spec.of_pairs:
        options = {"column": "x"} | options
    options |= SETTINGS[parameter.name]
    function = getattr(duffdp, name)
    positional = (data,)
    if spec.of_pairs:
        options["data"], positional = FRAME, ()
    documented = function(*positional, **options).to_dict()
    released = function(*positional, **with_alias(options, alias, parameter)).to_dict()
    for one in (documented, released):
        del one["time"]
    assert released == documented


@pytest.mark.parametrize(("alias", "parameter"), [*NAMES, *VALUES])
def test_plans_and_tables_take_aliases(alias: str, parameter: Parameter, tmp_path: Path) -> None:
    options = with_alias(SETTINGS[parameter.name], alias, parameter)
    groups = {name: options.pop(name) for name in ("by", "keys") if name in options}
    release = {"statistic": "median", "column": "x", "bounds": [0, 20], **groups}
    usual = SETTINGS[parameter.name]
    shared = {name: value for name, value in usual.items() if name not in groups}
    expected = Plan([release], epsilon=1, **shared).check().releases
    assert Plan([release], epsilon=1, **options).check().releases == expected
    assert Plan([release | options], epsilon=1).check().releases == expected
    table = TablePlan({"x": "median"}, epsilon=1, bounds={"x": (0, 20)}, **groups, **options)
    expected_table = TablePlan(
        {"x": "median"}, epsilon=1, bounds={"x": (0, 20)}, **groups, **shared
    )
    assert table.check().releases == expected_table.check().releases
    FRAME.write_parquet(tmp_path / "people.parquet")
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in options.items())
    grouping = "".join(f"{name} = {json.dumps(value)}\n" for name, value in groups.items())
    start = 'source = "people.parquet"\nepsilon = 1\n'
    released = '[[release]]\nstatistic = "median"\ncolumn = "x"\nbounds = [0, 20]\n'
    for text in (start + lines + released + grouping, start + released + grouping + lines):
        (tmp_path / "plan.toml").write_text(text)
        facts = Plan.from_toml(tmp_path / "plan.toml").check().releases
        assert [one.unit for one in facts.values()] == [one.unit for one in expected.values()]
    text = start + lines + grouping + '[statistics]\nx = "median"\n[bounds]\nx = [0, 20]\n'
    (tmp_path / "table.toml").write_text(text)
    facts = TablePlan.from_toml(tmp_path / "table.toml").check().releases
    assert facts["x_median"].unit == expected_table.check().releases["x_median"].unit


@pytest.mark.parametrize("command", [name.replace("_", "-") for name in SUMMARIES])
def test_commands_take_aliases(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    parameters = release_parameters(REGISTRY[command.replace("-", "_")])
    code = run([command, "--help"])
    shown = capfd.readouterr().out
    assert code == 0
    for alias, parameter in NAMES:
        if parameter in parameters:
            assert f"{parameter.option}, --{alias.replace('_', '-')}" in shown


@pytest.mark.parametrize(("alias", "parameter"), [*NAMES, *VALUES])
def test_a_command_with_an_alias_releases_the_same(
    alias: str, parameter: Parameter, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "people.parquet"
    FRAME.write_parquet(path)
    shown = []
    for options in (
        SETTINGS[parameter.name],
        with_alias(SETTINGS[parameter.name], alias, parameter),
    ):
        words = ["count" if parameter.name != "mechanism" else "median", str(path), "-e", "1000"]
        if parameter.name == "mechanism":
            words += ["-c", "x", "--bounds", "0", "20"]
        for name, value in options.items():
            text = ",".join(value) if isinstance(value, list) else str(value)
            words += [f"--{name.replace('_', '-')}", text]
        assert run([*words, "-f", "json"]) == 0
        shown.append(json.loads(capfd.readouterr().out))
        del shown[-1]["time"]
    assert shown[0] == shown[1]


def test_other_functions_take_aliases() -> None:
    profile = {"epsilon": 50, "columns": ["x"], "rng": 1}
    documented = duffdp.profile(FRAME, unit="who", contributions=2, **profile)
    look = duffdp.profile(FRAME, privacy_unit="who", max_rows_per_person=2, **profile)
    assert (look.columns, look.unit) == (documented.columns, documented.unit)
    shape = {"n": 50, "bounds": (0, 1), "data_sets": 1, "step": 0.1}
    (row,) = duffdp.preview("uniform", epsilon=1, mechanisms=["auto"], **shape).rows()
    assert row["mechanism"] == "best"
    needed = {"within": 0.2, "probability": 0.9, **shape}
    assert duffdp.epsilon_for("uniform", mechanism="auto", **needed).mechanism == "best"


def test_a_name_and_its_alias_are_refused() -> None:
    with pytest.raises(DuffError, match="unit and privacy_unit name the same parameter"):
        duffdp.count(FRAME, epsilon=1, unit="who", privacy_unit="who")


def test_signatures_have_the_documented_names_alone() -> None:
    aliases = {alias for alias, _ in NAMES}
    for name in duffdp.__all__:
        member = getattr(duffdp, name)
        if callable(member):
            try:
                names = inspect.signature(member).parameters
            except ValueError:
                continue
            assert not aliases & set(names), name
    stubs = Path(duffdp.__file__).parent.rglob("*.pyi")
    for stub in stubs:
        assert not any(alias in stub.read_text() for alias in aliases)
