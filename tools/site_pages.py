"""What the site has beside the files of docs/: the pages at the root of the project, the notebook,
and links from names to their reference. `mkdocs` calls the functions `on_...`.
"""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
# Pages at the root of the project, and where they are on the site.
ADDED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "SECURITY.md": "security-policy.md",
    "demo/DATA.md": "demo-data.md",
}
API = runpy.run_path(str(ROOT / "docs" / "api.py"))
ANCHOR = re.compile(r'^<a id="([^"]+)"></a>\n\n(#+ .*)$', re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)([^)]*)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of docs/."""
    pages = {place: _moved(ROOT / name) for name, place in ADDED.items()}
    pages["index.md"] = "---\nhide: [navigation]\n---\n\n" + pages["index.md"]
    pages["get-started/notebook.md"] = notebook(ROOT / "docs" / "get-started" / "notebook.ipynb")
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    (section,) = (part for part in config.nav or [] if "Reference" in part)
    titles = {"All names": "index.md", "Shared parameters": "shared.md"}
    titles |= {title: API["file_name"](title) for title in API["reference"]()}
    section["Reference"].insert(
        0, {"Python API": [{title: f"reference/api/{name}"} for title, name in titles.items()]}
    )
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Examples as sessions, without the marks that only tests read."""
    markdown = re.sub(r"^```python\n(?=>>>)", "```pycon\n", markdown, flags=re.MULTILINE)
    markdown = re.sub(r"[ ]+# doctest: .*$", "", markdown, flags=re.MULTILINE)
    markdown = markdown.replace("\n\n```\n", "\n```\n").replace("<BLANKLINE>", "")
    if page.file.src_uri.startswith("reference/api/"):
        return ANCHOR.sub(r"\2 {#\1}", markdown)
    return _with_references(markdown, page.file.src_uri)


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


def _with_references(markdown: str, place: str) -> str:
    """Public names in running text lead to their reference; links and code are left alone."""
    pages = {
        name: API["file_name"](title)
        for title, names in API["reference"]().items()
        for name in names
    }
    name = re.compile(rf"(?<!\[)`({'|'.join(map(re.escape, pages))})`")
    root = "../" * place.count("/")

    def link(found: re.Match[str]) -> str:
        return f"[`{found[1]}`]({root}reference/api/{pages[found[1]]}#{found[1]})"

    parts = re.split(r"(^```.*?^```$|^    [^\n]*$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if i % 2 else name.sub(link, part) for i, part in enumerate(parts))


def _moved(path: Path) -> str:
    """A page from the root with its links as they are on the site."""

    def moved(link: re.Match[str]) -> str:
        target = (path.parent / link[1]).resolve()
        if "://" in link[1] or not target.is_relative_to(ROOT):
            return link[0]
        name = str(target.relative_to(ROOT))
        return f"]({ADDED.get(name, name.removeprefix('docs/'))}{link[2]})"

    return LINK.sub(moved, path.read_text(encoding="utf-8"))
