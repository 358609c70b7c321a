"""The build: one version everywhere, and a bill of materials that is up to date and has no time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import duffdp

ROOT = Path(__file__).parents[2]
BILL = ROOT / "sbom.cdx.json"


def test_the_bill_is_up_to_date():
    subprocess.run([sys.executable, ROOT / "tools" / "sbom.py", "--check"], check=True)


def test_the_bill_lists_what_the_package_can_use():
    bill = json.loads(BILL.read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["serialNumber"])
    assert "timestamp" not in bill["metadata"]
    assert bill["metadata"]["component"]["version"] == duffdp.__version__
    scopes = {part["name"]: part.get("scope") for part in bill["components"]}
    assert scopes["numpy"] == "required"
    assert scopes["duckdb"] == scopes["scipy"] == "optional"
    assert "pytest" not in scopes
    data = {part["name"] for part in bill["components"] if part["type"] == "data"}
    forced = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    bundled = set(forced["targets"]["wheel"]["force-include"].values())
    assert data == {name for name in bundled if name.endswith((".parquet", ".csv"))}
    references = [part["bom-ref"] for part in bill["components"]]
    assert len(set(references)) == len(references)
    assert bill["dependencies"][0]["dependsOn"] == references


def test_the_wheel_carries_the_bill():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"][
        "targets"
    ]
    assert wheel["wheel"]["sbom-files"] == [BILL.name]


def test_there_is_one_version():
    assert f"version: {duffdp.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    changes = re.findall(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changes[0] == duffdp.__version__
