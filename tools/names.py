"""Count the vague names of a source tree, and the names that several classes or modules define.

    python tools/names.py [FOLDER] [--words] [--shared] [--constants]

A binding is a place that gives a name to something: a variable, an argument, a function, a class or
an attribute. It is vague if it is a participle, a quantifier or another word that does not say what
the thing is (`found`, `many`, `given`). FOLDER is `src/duffdp` if it is left out.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

# Participles, quantifiers, pronouns and places that do not say what a thing is. `other` (of
# `__eq__`), `within` (a parameter of margins) and the like are terms, and not in the list.
VAGUE = """
    about again ahead alike alone among answered apart around asked away beside beyond both built
    called chosen come drawn each enough every everything few found further gets given gone got
    held here holds kept known left like made makes many meant met mixed more most much near needed
    nothing one others own past ready rest said same seen several shown some something such taken
    tell telling there these things told took upto used wanted what which who whole whose worth
"""


def bindings(tree: ast.Module) -> Iterator[str]:
    """Every binding of a name, each time that it is bound."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def definitions(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The classes, functions and constants that a module defines, each with its kind."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name, "class"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, "function"
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        yield name.id, "constant" if name.id.lstrip("_").isupper() else "value"


def constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The numbers that a module gives a name in capitals, each with its value as it is written."""
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for name, value in pairs:
                is_constant = isinstance(name, ast.Name) and name.id.strip("_").isupper()
                if is_constant and is_number(value):
                    yield name.id.lstrip("_"), ast.unparse(value)


def is_number(node: ast.expr) -> bool:
    """Whether an expression is a number, an expression of numbers, or a tuple of them."""
    match node:
        case ast.Constant(value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.UnaryOp(_, operand):
            return is_number(operand)
        case ast.BinOp(left, _, right):
            return is_number(left) and is_number(right)
        case ast.Call(ast.Name("Fraction" | "Decimal"), numbers):
            return all(map(is_number, numbers))
        case ast.Tuple(numbers):
            return bool(numbers) and all(map(is_number, numbers))
    return False


def is_vague(name: str) -> bool:
    return name.strip("_").lower() in VAGUE.split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("src/duffdp"))
    parser.add_argument("--words", action="store_true", help="list the vague names by number")
    parser.add_argument("--shared", action="store_true", help="list names with several definitions")
    parser.add_argument(
        "--constants", action="store_true", help="list numeric constants with several values"
    )
    options = parser.parse_args()
    totals: Counter[str] = Counter()
    vague: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    lines: Counter[str] = Counter()
    words: Counter[str] = Counter()
    places: dict[tuple[str, str], set[str]] = defaultdict(set)
    values: dict[str, dict[str, str]] = defaultdict(dict)
    for path in sorted(options.folder.rglob("*.py")):
        module = path.relative_to(options.folder)
        package = module.parts[0] if len(module.parts) > 1 else "(top)"
        text = path.read_text()
        tree = ast.parse(text)
        modules[package] += 1
        lines[package] += text.count("\n")
        for name in bindings(tree):
            totals[package] += 1
            if is_vague(name):
                vague[package] += 1
                words[name] += 1
        for name, value in constants(tree):
            values[name][str(module)] = value
        if module.name != "__init__.py":
            for name, kind in definitions(tree):
                if not name.startswith("_"):
                    places[name, kind].add(str(module))
    print(f"{'package':<12} {'modules':>7} {'lines':>7} {'bindings':>8} {'vague':>6} {'share':>6}")
    for package in sorted(totals):
        _row(package, modules[package], lines[package], totals[package], vague[package])
    counts = (modules, lines, totals, vague)
    _row("all", *(sum(count.values()) for count in counts))
    print()
    shared = {key: homes for key, homes in places.items() if len(homes) > 1}
    for kind, plural in (
        ("class", "classes"),
        ("function", "functions"),
        ("constant", "constants"),
    ):
        several = [name for name, other in shared if other == kind]
        print(f"names of several {plural}: {len(several)}")
    uneven = {name: homes for name, homes in values.items() if len({*homes.values()}) > 1}
    twice = [name for name, homes in values.items() if len(homes) > 1 and name not in uneven]
    print(f"numeric constants: {len(values)}, with several values: {len(uneven)}")
    print(f"numeric constants that are written twice with one value: {len(twice)}")
    if options.constants:
        print()
        for name in sorted([*uneven, *twice]):
            homes = values[name].items()
            print(f"{name}: {', '.join(f'{value} in {home}' for home, value in homes)}")
    if options.words:
        print()
        for name, count in words.most_common():
            print(f"{name:<16} {count:>5}")
    if options.shared:
        print()
        for (name, kind), homes in sorted(shared.items(), key=lambda pair: (pair[0][1], pair[0])):
            if kind != "value":
                print(f"{kind:<9} {name}: {', '.join(sorted(homes))}")


def _row(package: str, modules: int, lines: int, bindings: int, vague: int) -> None:
    share = vague / bindings if bindings else 0.0
    print(f"{package:<12} {modules:>7} {lines:>7} {bindings:>8} {vague:>6} {share:>6.1%}")


if __name__ == "__main__":
    main()
