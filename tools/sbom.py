"""The bill of materials of the wheel: CycloneDX JSON from pyproject.toml and the bundled data.

    python tools/sbom.py            writes sbom.cdx.json
    python tools/sbom.py --check    fails if the file is not up to date

The wheel carries it (PEP 770). It has no time and no random number: two builds are the same.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BILL = ROOT / "sbom.cdx.json"
NOT_AT_RUN_TIME = ("dev", "site", "all")  # tests and pages, and all others together
DATA = ("adult.parquet", "vertebral_column.csv", "visits.csv")


def bill() -> dict[str, Any]:
    """The bill of materials: the package, what it requires, what it can use, and data in it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = _version()
    required = [_package(text, "required", []) for text in project["dependencies"]]
    optional: dict[str, dict[str, Any]] = {}
    for extra, texts in project["optional-dependencies"].items():
        for text in texts if extra not in NOT_AT_RUN_TIME else ():
            if _name(text) == "duffdp":
                continue
            found = optional.setdefault(_name(text), _package(text, "optional", []))
            found["properties"].append({"name": "duffdp:extra", "value": extra})
    components = [*required, *(optional[name] for name in sorted(optional)), *map(_data, DATA)]
    root = f"pkg:pypi/duffdp@{version}"
    content: dict[str, Any] = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": "duffdp",
                "version": version,
                "purl": root,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": root, "dependsOn": [part["bom-ref"] for part in components]},
        ],
    }
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"serialNumber": f"urn:uuid:{number}", **content}


def _version() -> str:
    text = (ROOT / "src" / "duffdp" / "version.py").read_text(encoding="utf-8")
    found = re.search(r'"([^"]+)"\n', text.partition("__version__")[2])
    assert found is not None
    return found[1]


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found is not None
    return found[0].lower()


def _package(requirement: str, scope: str, properties: list[dict[str, str]]) -> dict[str, Any]:
    """A package of the index; which version is installed is not known when a wheel is built."""
    address = f"pkg:pypi/{_name(requirement)}"
    return {
        "type": "library",
        "bom-ref": address,
        "name": _name(requirement),
        "purl": address,
        "scope": scope,
        "properties": [*properties, {"name": "duffdp:requirement", "value": requirement}],
    }


def _data(name: str) -> dict[str, Any]:
    """Data of the demo, which the wheel contains."""
    content = (ROOT / "demo" / name).read_bytes()
    return {
        "type": "data",
        "bom-ref": f"duffdp/demo/{name}",
        "name": f"duffdp/demo/{name}",
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}],
        "properties": [{"name": "duffdp:license", "value": "duffdp/demo/DATA.md"}],
    }


def main() -> None:
    """Write the bill, or compare it."""
    text = json.dumps(bill(), indent=2) + "\n"
    if "--check" not in sys.argv:
        BILL.write_text(text, encoding="utf-8")
    elif not BILL.exists() or BILL.read_text(encoding="utf-8") != text:
        sys.exit("sbom.cdx.json is not up to date. Run: python tools/sbom.py")


if __name__ == "__main__":
    main()
