"""Writes the pages of docs/reference/api from the docstrings: `python docs/api.py`."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import duffdp

FOLDER = Path(__file__).parent / "reference" / "api"
# Every public name has one group, or the script fails.
GROUPS: dict[str, tuple[str, ...]] = {
    "Medians and quantiles": ("median", "quantile", "quantiles", "describe", "distribution"),
    "Means and sums": ("mean", "trimmed_mean", "sum"),
    "Counts": ("count", "share", "histogram", "mode", "top"),
    "Spread and slopes": ("std", "variance", "iqr", "slope"),
    "Graphs": ("triangles", "stars"),
    "Tables and plans": ("table", "CodeBook", "Plan", "TablePlan", "release", "ladder", "reach"),
    "Results": ("Release", "Table", "CrossTable", "Distribution"),
    "Comparisons": ("compare", "Comparison", "Ranking"),
    "Possible answers": ("Grid", "Digits", "Categories", "Pattern", "Bins", "StepFunction"),
    "Data sources": ("TextFile", "Query", "columns", "profile", "Profile", "ColumnProfile"),
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
SHARED_BY = 5  # functions that explain a parameter in the same words
METHODS = "Methods"
SECTION = re.compile(r"(?m)^([A-Z]\w+)\n-{3,}\n")


def reference() -> dict[str, list[str]]:
    """The public names that each page describes, by its title."""
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted([*listed, *MODULES, "research"]) == sorted(duffdp.__all__), (
        "a public name without a group: GROUPS of docs/api.py"
    )
    pages = {title: [f"duffdp.{name}" for name in names] for title, names in GROUPS.items()}
    for module, title in MODULES.items():
        names = IN_TESTING if module == "testing" else getattr(duffdp, module).__all__
        pages[title] = [f"duffdp.{module}.{name}" for name in names]
    for part in duffdp.research.__all__:
        names = getattr(duffdp.research, part).__all__
        pages[f"Research: {part}"] = [f"duffdp.research.{part}.{name}" for name in names]
    return pages


def file_name(title: str) -> str:
    """The file of the page with this title."""
    return f"{re.sub('[^a-z]+', '-', title.lower())}.md"


def pages() -> dict[str, str]:
    """Every file of the folder with its text."""
    texts = {file_name(title): page(title, names) for title, names in reference().items()}
    return {"index.md": index(), "shared.md": shared_page()} | texts


@cache
def shared() -> dict[str, str]:
    """Parameters that many functions explain in the same words, and these words."""
    counts = Counter(
        item
        for names in reference().values()
        for name in names
        if not inspect.isclass(value := named(name))
        for title, body in titled(inspect.getdoc(value) or "")[1]
        if title == "Parameters"
        for item in items(body)
    )
    return {name: text for (name, text), count in counts.most_common() if count >= SHARED_BY}


def shared_page() -> str:
    """The page of parameters that many functions have."""
    lead = "What these parameters mean in every function that takes them."
    listed = [f"- `{name}`:\n{text}" for name, text in sorted(shared().items())]
    return "\n\n".join(["# Shared parameters", lead, "\n".join(listed)]) + "\n"


def index() -> str:
    """The list of all public names."""
    lines = [
        "# Python API\n",
        "These pages list every public name. They are made from the docstrings, which `help`",
        "prints. [Shared parameters](shared.md) explains the parameters of many functions.\n",
        "A method that these pages do not list is internal and may change at any time.\n",
        "| page | names |",
        "| --- | --- |",
    ]
    for title, names in reference().items():
        place = file_name(title)
        links = ", ".join(f"[`{name.rpartition('.')[2]}`]({place}#{name})" for name in names)
        lines.append(f"| [{title}]({place}) | {links} |")
    return "\n".join(lines) + "\n"


def page(title: str, names: list[str]) -> str:
    """One page with the entries of its names."""
    parts, shown = [f"# {title}"], dict[Any, str]()
    for name in names:
        parts += entry(name, named(name), shown)
    return "\n\n".join(parts) + "\n"


def named(name: str) -> Any:
    """The object with this public name."""
    value: Any = duffdp
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def entry(name: str, value: Any, shown: dict[Any, str]) -> Iterator[str]:
    """Heading, signature and docstring of a name, and the methods of a class.

    `shown` holds the anchors of methods on this page: an inherited method has one entry.
    """
    yield f'<a id="{name}"></a>\n\n## {name}'
    if inspect.isclass(value):
        if is_made_by_users(value) and (form := signature(name, value)):
            yield form
        yield from sections(inspect.getdoc(value) or "")
        own = []
        if listed := members(value):
            links = []
            for member, method in listed:
                code = getattr(method, "__func__", method)
                if code not in shown:
                    own.append((member, method))
                links.append(f"[`{member}`](#{shown.setdefault(code, f'{name}.{member}')})")
            yield f"**{METHODS}**"
            yield textwrap.fill(", ".join(links), 100, break_on_hyphens=False)
        for member, method in own:
            yield f'<a id="{name}.{member}"></a>\n\n### {name.rpartition(".")[2]}.{member}'
            if callable(method) and (form := signature(member, method)):
                yield form
            yield from sections(inspect.getdoc(method) or "")
    else:
        if form := signature(name, value):
            yield form
        yield from sections(inspect.getdoc(value) or "")


def is_made_by_users(kind: type) -> bool:
    """True if users call the class; an Attributes section marks results of other calls."""
    _, parts = titled(inspect.getdoc(kind) or "")
    is_protocol = getattr(kind, "_is_protocol", False)
    return not (issubclass(kind, Exception) or is_protocol or "Attributes" in dict(parts))


def members(kind: type) -> list[tuple[str, Any]]:
    """Public methods and properties: those that the class or a base lists under Methods."""
    names = [name for base in kind.__mro__ for name in listed_methods(base)]
    return [(name, getattr(kind, name)) for name in dict.fromkeys(names)]


def listed_methods(kind: type) -> list[str]:
    """The names in the Methods section of the class's own docstring."""
    _, parts = titled(inspect.cleandoc(vars(kind).get("__doc__") or ""))
    return [name for title, body in parts if title == METHODS for name in re.findall(r"\w+", body)]


def signature(name: str, value: Any) -> str:
    """The call as a block of code, one parameter per line where it is long."""
    try:
        form = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    shown = [
        typed(each) if each.default is each.empty else plain(each)
        for each in form.parameters.values()
        if each.name != "self"
    ]
    kinds = [each.kind for each in form.parameters.values() if each.name != "self"]
    for place, kind in enumerate(kinds):
        if kind is inspect.Parameter.KEYWORD_ONLY:
            if inspect.Parameter.VAR_POSITIONAL not in kinds[:place]:
                shown.insert(place, "*")
            break
    result = form.return_annotation
    ending = "" if result is form.empty or inspect.isclass(value) else f" -> {text_of(result)}"
    line = f"{name}({', '.join(shown)}){ending}"
    if len(line) > 95:
        line = f"{name}(\n" + "".join(f"    {one},\n" for one in shown) + f"){ending}"
    return f"```text\n{line}\n```"


def typed(parameter: inspect.Parameter) -> str:
    """A parameter without a default, such as `data: Any` or `**parameters: Any`."""
    name, _, annotation = str(parameter).partition(": ")
    return f"{name}: {text_of(parameter.annotation)}" if annotation else name


def text_of(annotation: Any) -> str:
    """An annotation as it was written."""
    annotation = getattr(annotation, "__forward_arg__", annotation)
    return (
        annotation.strip("'")
        if isinstance(annotation, str)
        else inspect.formatannotation(annotation)
    )


def plain(parameter: inspect.Parameter) -> str:
    """A parameter with its default, without the quotes around its annotation."""
    default = parameter.default
    shown = repr(default) if not inspect.isclass(default) else default.__name__
    shown = "..." if shown == "<factory>" else shown
    shown = re.sub(r"<(?:function )?([\w.]+)[^>]*>", r"\1", shown)
    kind = "" if parameter.annotation is parameter.empty else f": {text_of(parameter.annotation)}"
    return f"{parameter.name}{kind} = {shown}"


def titled(docstring: str) -> tuple[str, list[tuple[str, str]]]:
    """The text before the first section, and the sections by title."""
    lead, *rest = SECTION.split(docstring)
    return lead, list(zip(rest[::2], rest[1::2], strict=True))


def items(body: str) -> list[tuple[str, str]]:
    """Names with their indented explanations."""
    found: list[tuple[str, list[str]]] = []
    for line in body.strip("\n").splitlines():
        if line and not line.startswith(" "):
            found.append((line.strip(), []))
        elif line.strip() and found:
            found[-1][1].append(f"  {line.strip()}")
    return [(name, "\n".join(lines)) for name, lines in found]


def sections(docstring: str) -> Iterator[str]:
    """A docstring as Markdown: text, lists of parameters, examples as code."""
    lead, parts = titled(docstring)
    if lead.strip():
        yield lead.strip()
    for title, body in parts:
        if title == METHODS:  # follows the others, with inherited names
            continue
        yield f"**{title}**"
        if title in ("Parameters", "Attributes", "Returns", "Raises", "Yields"):
            own = [(name, text) for name, text in items(body) if shared().get(name) != text]
            others = [name for name, text in items(body) if shared().get(name) == text]
            lines = [f"- `{name}`:\n{text}" for name, text in own]
            if title == "Parameters" and others:
                words = ", ".join(f"`{name}`" for name in others)
                lines += textwrap.wrap(
                    f"- {words}: see [shared parameters](shared.md).", 100, subsequent_indent="  "
                )
            yield "\n".join(lines)
        elif title == "Examples":
            yield f"```python\n{inspect.cleandoc(body).strip()}\n```"
        else:
            yield body.strip()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    texts = pages()
    for path in FOLDER.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
