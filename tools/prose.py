"""Count what makes prose hard to read: odd phrases, long sentences, long lines.

    python tools/prose.py [FOLDER] [--show PATTERN]

FOLDER is the root of a checkout, this one if it is left out. The texts are the README, the pages of
docs/, help and docstrings of public names, errors, and the templates of the report and the studio.
Code, tables and inline code are left out. With --show every place of a pattern is listed.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Folders of pages that are not for users, and such pages of versions without folders.
PROOFS = {"explanation", "review", "theory", "engines", "comparison", "paper", "reviewers"}
PROOFS |= {"security", "trusted-base"}
WIDTH, LONG = 100, 35
LONG_SENTENCE, LONG_LINE = f"sentence above {LONG} words", f"line above {WIDTH}"
PATTERNS = {
    "file of text": r"\bfiles? of text\b",
    "in the place of": r"\bin the place of\b",
    "causal ', for'": r", for (?!example|instance)(?:[\w'-]+ ){1,4}?"
    r"(?:is|are|was|were|has|have|do|does|needs?|takes?|may|can|will|would|falls?|rises|holds?)\b",
    "stands": r"\bstands?\b(?!-)",
    "so that": r"\bso that\b",
    "what is/was": r"\bwhat (?:is|was|are|were)\b",
    "whatever, whoever": r"\bwh(?:at|o|om|ich)ever\b",
    "on the average": r"\bon the average\b",
    "by itself": r"\bby itself\b",
    "betray, tell": r"\b(?:betrays?|tells?|told)\b",
    "law": r"\blaws?\b",
    "verb": r"\bverbs?\b",
    "95 %": r"\d %",
}
COMPILED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in PATTERNS.items()}


@dataclass(frozen=True)
class Passage:
    """Text of one kind, and the file and line where it begins."""

    kind: str
    path: Path
    line: int
    text: str


def passages(root: Path) -> Iterator[Passage]:
    """Every passage of the checkout at `root`."""
    for path in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        # Help and docstrings are counted where they are written.
        if path.name != "commands.md" and path.parent.name != "api":
            for line, text in markdown_paragraphs(path.read_text(encoding="utf-8")):
                yield Passage(kind_of(path), path, line, text)
    for path in sorted((root / "src").rglob("*.py")):
        yield from source_passages(path, root)
    for path in sorted((root / "src").rglob("*.jinja")):
        text = re.sub(r"\{[%#{].*?[%#}]\}|<[^>]*>", " ", path.read_text(encoding="utf-8"))
        for line, words in enumerate(text.splitlines(), 1):
            if words.strip():
                yield Passage("templates", path, line, words)


def kind_of(path: Path) -> str:
    """The kind of a page: what users read, or proofs and what reviewers read."""
    if path.name == "README.md":
        return "README"
    return "proofs" if {path.parent.name, path.stem} & PROOFS else "pages"


def markdown_paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Line and words of each paragraph and list item; not code, tables and headings."""
    text = re.sub(r"^```.*?^```", lambda code: "\n" * code[0].count("\n"), text, flags=re.M | re.S)
    start, words = 0, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        row = line.strip()
        code = line.startswith("    ") and not words
        if (
            not row
            or code
            or row.startswith(("|", "#", "!", "<"))
            or re.match(r"[-*] |\d+\. ", row)
        ):
            if words:
                yield start, words
            start, words = number, ""
            row = row[2:] if row.startswith(("- ", "* ")) else ""
        if row:
            start, words = (start if words else number), f"{words} {row}".strip()


def source_passages(path: Path, root: Path) -> Iterator[Passage]:
    """Docstrings of public names, help of options and commands, and errors of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = path.relative_to(root / "src").parts
    command = any(part.lstrip("_") == "cli" for part in inside)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            kind = "help" if command else "docstrings"
            if docstring := ast.get_docstring(node):
                for line, text in docstring_paragraphs(docstring):
                    yield Passage(kind, path, node.lineno + line, text)
        elif isinstance(node, ast.keyword) and node.arg in ("help", "summary", "more"):
            yield from literals("help", path, node.value)
        elif isinstance(node, ast.Raise) and node.exc is not None:
            yield from literals("errors", path, node.exc)


def docstring_paragraphs(docstring: str) -> Iterator[tuple[int, str]]:
    """Paragraphs of a docstring and the explanations of its parameters.

    Left out are headings, examples, and names: of parameters, and of public methods.
    """
    lines = [*docstring.splitlines(), ""]
    start, words, methods = 1, "", False
    for number, (line, following) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1):
        row = line.strip()
        heading = following.startswith("---")
        methods = row == "Methods" if heading else methods
        name = not line.startswith(" ") and following.startswith("    ")
        if not row or heading or name or methods or row.startswith((">>>", "...", "---")):
            if words:
                yield start, words
            words = ""
        else:
            start, words = (start if words else number), f"{words} {row}".strip()


def literals(kind: str, path: Path, node: ast.AST) -> Iterator[Passage]:
    """Texts in an expression."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value:
            yield Passage(kind, path, part.lineno, part.value)


def sentences(text: str) -> list[str]:
    """Sentences of a paragraph; each inline code counts as one word."""
    plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "CODE", text))
    return re.split(r"(?<=[.!?:])\s+(?=[A-Z\[*(\d\"])", plain)


def findings(root: Path) -> dict[str, dict[str, list[tuple[Passage, str]]]]:
    """Places of each pattern, by kind of text."""
    found: dict[str, dict[str, list[tuple[Passage, str]]]] = defaultdict(lambda: defaultdict(list))
    for passage in passages(root):
        plain = re.sub(r"`[^`]*`", "CODE", passage.text)
        for name, pattern in COMPILED.items():
            for match in pattern.finditer(plain):
                around = plain[max(0, match.start() - 40) : match.end() + 40]
                found[name][passage.kind].append((passage, around))
        if passage.kind in ("README", "pages", "proofs", "docstrings"):
            for sentence in sentences(passage.text):
                if len(sentence.split()) > LONG:
                    found[LONG_SENTENCE][passage.kind].append((passage, sentence))
    for path in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        if path.parent.name == "api":
            continue
        kind = kind_of(path)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > WIDTH and not line.lstrip().startswith(("|", "![")):
                found[LONG_LINE][kind].append((Passage(kind, path, number, line), line[:90]))
    return found


def main() -> None:
    read = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    read.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1])
    read.add_argument("--show", metavar="PATTERN")
    options = read.parse_args()
    found = findings(options.folder)
    if options.show:
        for kind, places in found[options.show].items():
            for passage, around in places:
                path = passage.path.relative_to(options.folder)
                print(f"{kind}  {path}:{passage.line}  {' '.join(around.split())}")
        return
    kinds = ("README", "pages", "proofs", "docstrings", "help", "errors", "templates")
    words = Counter[str]()
    for passage in passages(options.folder):
        words[passage.kind] += len(passage.text.split())
    print("| pattern |", " | ".join(kinds), "| all |")
    print("| --- |", " | ".join("--:" for _ in kinds), "| --: |")
    for name in (*PATTERNS, LONG_SENTENCE, LONG_LINE):
        counts = [len(found[name][kind]) for kind in kinds]
        print(f"| {name} |", " | ".join(map(str, counts)), f"| {sum(counts)} |")
    print("| words |", " | ".join(f"{words[kind]:,}" for kind in kinds), f"| {words.total():,} |")


if __name__ == "__main__":
    main()
