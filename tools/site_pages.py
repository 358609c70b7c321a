"""What the site has beside the files of docs/: the pages at the root of the project, a page of
reference for each group of public names, and the notebook. `mkdocs` calls the functions `on_...`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import duffdp

ROOT = Path(__file__).parents[1]
# Pages at the root of the project, and where they are on the site.
ADDED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "SECURITY.md": "security-policy.md",
    "demo/DATA.md": "demo-data.md",
}
# Every public name of the package stands in one group: the build fails for one that does not.
GROUPS: dict[str, tuple[str, ...]] = {
    "Middles and quantiles": ("median", "quantile", "quantiles", "describe", "distribution"),
    "Means and sums": ("mean", "trimmed_mean", "sum"),
    "Counts": ("count", "share", "histogram", "mode", "top"),
    "Spread and slopes": ("std", "variance", "iqr", "slope"),
    "Graphs": ("triangles", "stars"),
    "Tables and plans": ("table", "CodeBook", "Plan", "TablePlan", "release", "ladder", "reach"),
    "What comes out": ("Release", "Table", "CrossTable", "Distribution"),
    "Comparisons": ("compare", "Comparison", "Ranking"),
    "Possible answers": ("Grid", "Digits", "Categories", "Pattern", "Bins", "StepFunction"),
    "Where records are": ("TextFile", "Query", "columns", "profile", "Profile", "ColumnProfile"),
    "Budget and planning": (
        *("Ledger", "preview", "Preview", "epsilon_for", "EpsilonPlan"),
        *("Loss", "PrivacyUnit", "StatisticFact", "MechanismFact"),
    ),
    "Errors": ("DuffError", "BoundsError", "BudgetExceeded", "LedgerError", "UnsupportedData"),
}
MODULES = {
    "statistics": "Statistics",
    "mechanisms": "Mechanisms",
    "report": "Reports",
    "testing": "Testing",
    "audit": "Audit",
}
IN_TESTING = ("check_statistic", "Counterexample")
LINK = re.compile(r"\]\(([^)#\s]+)([^)]*)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of docs/."""
    pages = {place: _moved(ROOT / name) for name, place in ADDED.items()}
    pages["index.md"] = "---\nhide: [navigation]\n---\n\n" + pages["index.md"]
    pages |= {_place(title): _page(title, names) for title, names in reference().items()}
    pages["get-started/notebook.md"] = notebook(ROOT / "docs" / "get-started" / "notebook.ipynb")
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    (section,) = (part for part in config.nav or [] if "Reference" in part)
    section["Reference"].append({"Python": [{title: _place(title)} for title in reference()]})
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Examples as sessions, without the marks that only tests read."""
    markdown = re.sub(r"^```python\n(?=>>>)", "```pycon\n", markdown, flags=re.MULTILINE)
    markdown = re.sub(r"[ ]+# doctest: .*$", "", markdown, flags=re.MULTILINE)
    markdown = markdown.replace("\n\n```\n", "\n```\n").replace("<BLANKLINE>", "")
    in_api = page.file.src_uri.startswith("reference/api/")
    return markdown if in_api else _with_references(markdown)


def reference() -> dict[str, list[str]]:
    """The public names that each page of reference describes, by its title."""
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted([*listed, *MODULES, "research"]) == sorted(duffdp.__all__), (
        "a public name without a group: GROUPS of tools/site_pages.py"
    )
    pages = {title: [f"duffdp.{name}" for name in names] for title, names in GROUPS.items()}
    for module, title in MODULES.items():
        names = IN_TESTING if module == "testing" else getattr(duffdp, module).__all__
        pages[title] = [f"duffdp.{module}.{name}" for name in names]
    for part in duffdp.research.__all__:
        names = getattr(duffdp.research, part).__all__
        pages[f"Research: {part}"] = [f"duffdp.research.{part}.{name}" for name in names]
    return pages


def notebook(path: Path) -> str:
    """The notebook as a page: texts, cells and what they gave."""
    parts: list[str] = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [_output(output) for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        return f"![What the cell drew](data:image/png;base64,{data['image/png'].strip()})"
    if "text/html" in data:
        html = "".join(data["text/html"])
        return f'<div class="notebook-output">{re.sub(chr(10) + "+", chr(10), html)}</div>'
    return f"```text\n{''.join(data['text/plain'])}\n```"


def _with_references(markdown: str) -> str:
    """Public names in running text lead to their reference; links and code are left alone."""
    known = "|".join(re.escape(name) for names in reference().values() for name in names)
    name = re.compile(rf"(?<!\[)`({known})`")
    parts = re.split(r"(^```.*?^```$|^    [^\n]*$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if i % 2 else name.sub(r"[`\1`][\1]", part) for i, part in enumerate(parts))


def _moved(path: Path) -> str:
    """A page from the root with its links as they are on the site."""

    def moved(link: re.Match[str]) -> str:
        target = (path.parent / link[1]).resolve()
        if "://" in link[1] or not target.is_relative_to(ROOT):
            return link[0]
        name = str(target.relative_to(ROOT))
        return f"]({ADDED.get(name, name.removeprefix('docs/'))}{link[2]})"

    return LINK.sub(moved, path.read_text(encoding="utf-8"))


def _page(title: str, names: list[str]) -> str:
    return "\n\n".join([f"# {title}", *(f"::: {name}" for name in names)]) + "\n"


def _place(title: str) -> str:
    return f"reference/api/{re.sub('[^a-z]+', '-', title.lower())}.md"
