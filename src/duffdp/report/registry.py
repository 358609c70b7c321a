"""Entries for the OpenDP deployments registry, filled from the facts of releases.

What only people know comes from `sources`; what nobody answered is left as a question.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from duffdp._pipeline.release import Release
from duffdp._pipeline.sources import read_sources
from duffdp._text import parameter_text
from duffdp.errors import DuffError
from duffdp.report import sentences
from duffdp.report.hazards import hazard_answers
from duffdp.report.results import result_tables

SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
PRODUCTS = (
    "Summary statistics",
    "Machine learning model",
    "Dataset",
    "Synthetic data",
    "Interactive API",
    "SQL queries",
)
STATUSES = (
    "Converted",
    "Draft",
    "Pending",
    "Changes Required",
    "Approved",
    "Approved (Update Requested)",
    "Approved (Pending)",
)
VARIANTS = ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom")
QUESTION = "Question: "
#: What an entry asks of people, by its name in `sources`.
QUESTIONS = {
    "curator": "Who publishes the data product?",
    "purpose": "What is the data product intended for?",
    "region": "Which region do the data describe, and whose laws apply?",
    "sector": f"Which sector do the data describe: {', '.join(SECTORS)}?",
    "actors": "Who may see the data and the data product, and who is trusted with what?",
    "justification": "How were epsilon, the unit and the statistics chosen, and why?",
}


class Rule(NamedTuple):
    """A rule for one field of an entry: its type, its choices, and whether it is required."""

    kind: type | tuple[type, ...] = str
    choices: tuple[Any, ...] = ()
    required: bool = False
    check: Callable[[Any], bool] = lambda value: True


def _is_date(value: Any) -> bool:
    try:
        dt.date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_list_of_texts(value: Any) -> bool:
    return bool(value) and all(isinstance(item, str) for item in value)


TEXT, NEEDED_TEXT = Rule(), Rule(required=True)
TEXT_LIST = Rule(list, required=True, check=_is_list_of_texts)
#: The rules of the registry for an entry (opendp/deployments-registry-data, commit 3e9c812). A part
#: that is a dictionary has fields of its own; a part whose first field is needed is needed only if
#: it is there, except `basic`.
RULES: dict[str, Any] = {
    "url_slug": NEEDED_TEXT,
    "status": Rule(choices=STATUSES, required=True),
    "tier": Rule(int, (1, 2, 3), required=True),
    "deployment": {
        "basic": {
            "name": NEEDED_TEXT,
            "data_curators": TEXT_LIST,
            "intended_use": NEEDED_TEXT,
            "data_product_type": Rule(choices=PRODUCTS, required=True),
            "data_product_region": NEEDED_TEXT,
            "description": NEEDED_TEXT,
            "publication_date": Rule(required=True, check=_is_date),
            "data_product_sector": Rule(choices=SECTORS),
        },
        "dp_variant": {
            "variant_name": Rule(choices=VARIANTS),
            "data_domain": TEXT,
            "unprotected_quantities": TEXT,
        },
        "privacy_loss": {
            "privacy_unit": TEXT,
            "privacy_unit_details": TEXT,
            "privacy_parameters": {
                "epsilon": Rule((int, float)),
                "delta": Rule((int, float, str)),
                "rho": Rule((int, float)),
            },
            "privacy_parameters_details": TEXT,
        },
        "deployment_model": {
            "model_name": Rule(choices=("Local", "Central", "Shuffle", "Federated", "Varies")),
            "model_name_details": TEXT,
            "actors": TEXT,
            "release_type": Rule(choices=("One release", "Many releases")),
            "release_type_details": TEXT,
            "data_source_type": Rule(choices=("Static", "Dynamic")),
            "data_source_type_details": TEXT,
            "access_type": Rule(choices=("Interactive", "Non-interactive")),
            "access_type_details": TEXT,
        },
        "accounting": {"post_processing": TEXT, "composition": TEXT},
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": TEXT,
            "mechanisms": TEXT,
            "justification": TEXT,
        },
        "administrative": {"sources": TEXT, "notes": TEXT, "registry_authors": TEXT_LIST},
    },
}
NEEDED_PARTS = ("deployment", "deployment.basic")


def registry_entry(
    releases: object,
    *,
    title: str = "Private release",
    author: str | None = None,
    sources: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Make an entry for the OpenDP deployments registry from releases.

    Parameters
    ----------
    releases
        A table, one release, several, or a mapping from a heading to each.
    title, author
        The name of the data product, and who fills in the entry.
    sources
        Facts that no release contains, in your words: `curator`, `purpose`, `region`, `sector`,
        `actors` and `justification`, and those of `write`.

    Returns
    -------
    dict
        The entry. Unanswered fields begin with "Question: ".

    Privacy
    -------
    Made from public facts alone, without a released value. A seeded release is refused.

    References
    ----------
    Dwork, Kohli and Mulligan, "Differential privacy in practice: expose your epsilons!" (Journal
    of Privacy and Confidentiality 9, 2019).

    Examples
    --------
    >>> import duffdp
    >>> release = duffdp.median([31, 35, 40], epsilon=1.0, bounds=(0, 120), step=1)
    >>> entry = duffdp.report.registry_entry(release, sources={"region": "Nowhere"})
    >>> entry["deployment"]["privacy_loss"]["privacy_parameters"], entry["tier"]
    ({'epsilon': 1.0}, 2)
    >>> entry["deployment"]["basic"]["intended_use"]
    'Question: What is the data product intended for?'
    """
    _, named = result_tables(releases)
    unnamed = [release for _, release in named]
    if not all(release.secure for release in unnamed):
        raise DuffError(
            "a release with a seed is not private, so it cannot be registered. Leave rng out."
        )
    answers = read_sources(sources)
    if answers.get("sector", SECTORS[0]) not in SECTORS:
        raise DuffError(
            f"sources: sector must be one of {', '.join(SECTORS)}, got {answers['sector']!r:.40}."
        )

    def answer(name: str) -> str:
        return answers.get(name, f"{QUESTION}{QUESTIONS[name]}")

    epsilon = math.fsum(release.epsilon for release in unnamed)
    hazards = {each.topic: each.text for each in hazard_answers(named, None, answers)}
    sector = {"data_product_sector": answers["sector"]} if "sector" in answers else {}
    delta = max(release.delta for release in unnamed)
    date = min(release.time for release in unnamed).date().isoformat()
    entry: dict[str, Any] = {
        "url_slug": _slug(title, answers.get("curator"), date),
        "status": "Draft",
        "tier": 3 if not set(QUESTIONS) - set(answers) and author is not None else 2,
        "deployment": {
            "basic": {
                "name": title,
                "data_curators": [answer("curator")],
                "intended_use": answer("purpose"),
                "data_product_type": "Summary statistics",
                "data_product_region": answer("region"),
                "description": _description(unnamed),
                "publication_date": date,
                **sector,
            },
            "dp_variant": {
                "variant_name": "Approximate DP" if delta else "Pure DP",
                "data_domain": "All tables with the same columns, of any size. Each record is read "
                "on a public set of values.",
                "unprotected_quantities": _lines(_once(unnamed, sentences.assumed_public)),
            },
            "privacy_loss": {
                "privacy_unit": _unit(unnamed),
                "privacy_unit_details": _lines(_once(unnamed, sentences.protected)),
                "privacy_parameters": {"epsilon": epsilon, **({"delta": delta} if delta else {})},
                "privacy_parameters_details": _lines(
                    [
                        f"{_name(release)}: epsilon {parameter_text(release.epsilon)}"
                        for release in unnamed
                    ]
                ),
            },
            "deployment_model": {
                "model_name": "Central",
                "actors": answer("actors"),
                "release_type": "One release",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": hazards["Bias"],
                "composition": "The epsilons of the releases add up. Groups with public keys are "
                "disjoint, so one epsilon covers all groups of a release.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": _lines(
                    [f"{name}: {text}" for name, text in answers.items() if name not in QUESTIONS]
                )
                or f"{QUESTION}Where do bounds and keys come from, and when was the plan fixed?",
                "mechanisms": _lines(
                    [*_once(unnamed, sentences.mechanism), *_versions(unnamed), hazards["Timing"]]
                ),
                "justification": answer("justification"),
            },
            "administrative": {
                "registry_authors": [author or f"{QUESTION}Who fills in this entry?"],
            },
        },
    }
    problems = entry_problems(entry)
    assert not problems, problems
    return entry


def _slug(title: str, curator: str | None, date: str) -> str:
    """The slug that the registry makes of the name, the curator and the year."""
    parts = [title, date[:4]] if curator is None else [title, curator, date[:4]]
    return "-".join(re.sub(r"\W+", "-", part.lower()) for part in parts).replace("_", "-")


def _description(releases: Sequence[Release]) -> str:
    names = "; ".join(dict.fromkeys(_name(release) for release in releases))
    return f"{names[0].upper()}{names[1:]}."


def _name(release: Release) -> str:
    """The statistic of a release, of which column, and by what."""
    title = f"{release.title[0].lower()}{release.title[1:]}"
    of = "" if release.column is None else f" of {release.column}"
    return f"{title}{of} by {', '.join(release.by)}" if release.by else f"{title}{of}"


def _unit(releases: Sequence[Release]) -> str:
    return "; ".join(dict.fromkeys(release.unit.counted for release in releases))


def _versions(releases: Sequence[Release]) -> list[str]:
    return list(
        dict.fromkeys(
            f"Drawn with duffdp {release.version}, exactly, from the operating system's randomness."
            for release in releases
        )
    )


def _once(releases: Sequence[Release], text: Callable[[Release], list[str]]) -> list[str]:
    return list(dict.fromkeys(line for release in releases for line in text(release) if line))


def _lines(texts: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def open_questions(entry: Mapping[str, Any]) -> list[str]:
    """The questions of an entry that nobody has answered."""
    has_sector = "data_product_sector" in entry["deployment"]["basic"]
    questions = [] if has_sector else [QUESTIONS["sector"]]
    return questions + [
        text.removeprefix(QUESTION)
        for _, value in _values(entry)
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str) and text.startswith(QUESTION)
    ]


def _values(part: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in part.items():
        if isinstance(value, Mapping):
            yield from _values(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def entry_problems(entry: object, rules: Mapping[str, Any] = RULES, path: str = "") -> list[str]:
    """The problems for which the registry would refuse an entry."""
    if not isinstance(entry, Mapping):
        return [f"{path or 'the entry'} has fields of its own"]
    problems = [f"{path}{name} is no field" for name in entry if name not in rules]
    for name, rule in rules.items():
        place = f"{path}{name}"
        if name not in entry:
            if place in NEEDED_PARTS or (isinstance(rule, Rule) and rule.required):
                problems.append(f"{place} is missing")
        elif isinstance(rule, Rule):
            problems += _value_problems(place, entry[name], rule)
        else:
            problems += entry_problems(entry[name], rule, f"{place}.")
    return problems


def _value_problems(place: str, value: object, rule: Rule) -> list[str]:
    if not isinstance(value, rule.kind) or isinstance(value, bool):
        return [f"{place} has the type {type(value).__name__}"]
    if rule.choices and value not in rule.choices:
        return [f"{place} is not one of {', '.join(map(str, rule.choices))}"]
    return [] if rule.check(value) else [f"{place} is not in the format of the registry"]


def registry_text(entry: Mapping[str, Any]) -> str:
    """An entry as YAML; the open questions are comments after its first line, where the registry
    looks for the slug.
    """
    questions = [f"# {question}" for question in open_questions(entry)]
    head = ["# Open questions; search for 'Question:' below.", *questions] if questions else []
    rest = {name: value for name, value in entry.items() if name != "url_slug"}
    return "\n".join([f"url_slug: {entry['url_slug']}", *head, *_yaml(rest, "")]) + "\n"


def _yaml(part: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, value in part.items():
        if isinstance(value, Mapping):
            yield f"{indent}{name}:"
            yield from _yaml(value, f"{indent}  ")
        elif isinstance(value, list):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {_scalar(item)}" for item in value)
        elif isinstance(value, str) and "\n" in value and value.replace("\n", "").isprintable():
            yield f"{indent}{name}: |-"
            yield from (f"{indent}  {line}" for line in value.split("\n"))
        else:
            yield f"{indent}{name}: {_scalar(value)}"


def _scalar(value: object) -> str:
    """A number, or a quoted text: what JSON quotes, YAML reads as the same text."""
    return json.dumps(value)


def check_registry_path(path: Path) -> None:
    """Refuse a file name that the registry would refuse."""
    if not re.fullmatch(r"[a-z0-9_]+\.yaml", path.name):
        raise DuffError(
            "--registry needs a file name of lowercase letters, digits and _ that ends in "
            ".yaml, got "
            f"{path.name!r}. Pass for example --registry entry.yaml."
        )
