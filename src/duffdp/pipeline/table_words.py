"""What columns of a table are asked for, in the words of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from duffdp.errors import BoundsError, DuffError
from duffdp.parameters import Interval, plain_number, read_q, share_text
from duffdp.pipeline.suppression import COUNT
from duffdp.pipeline.toml import refuse_unknown
from duffdp.statistics.entry import Entry
from duffdp.statistics.registry import entry

USUAL = 0.95  # the confidence by which a group is told from an empty one, without intervals
FOR_ALL = (
    *("column", "by", "keys", "margin", "unit", "contributions", "groups_per_person", "weight"),
    *("simultaneous", "suppress_below"),
)
_EXAMPLES = {"bounds": "(0, 120)", "step": "1", "categories": '["yes", "no"]'}


class Wanted(NamedTuple):
    """One release that a column is asked for: its name, and what its columns begin with where it
    has several.
    """

    name: str
    stem: str
    words: dict[str, Any]


def columns_of(given: dict[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Bounds, steps and categories, each by the column that they are for."""
    for name, columns in given.items():
        if columns is not None and not isinstance(columns, Mapping):
            raise BoundsError(
                f"{name} of a table are given for each column, got {columns!r:.60}. Pass for "
                f'example {name}={{"age": {_EXAMPLES[name]}}}.'
            )
    return {name: columns or {} for name, columns in given.items()}


def asked_for(
    statistics: Any, columns: Mapping[str, Mapping[str, Any]], interval: Any, mechanism: str
) -> list[Wanted]:
    """The count, and what each column is asked for."""
    if not isinstance(statistics, Mapping) or not statistics:
        raise DuffError(
            "a table needs a mapping from columns to what is asked of each, got "
            f'{statistics!r:.60}. Pass for example {{"age": ["median", "mean"]}}.'
        )
    for name, given in columns.items():
        refuse_unknown(given, statistics, name)
    count = {"statistic": COUNT, "name": COUNT, "interval": interval, "contributions": 1}
    found = [Wanted(COUNT, COUNT, count)]  # people are counted, each of them once
    for column, given in statistics.items():
        for one in _asked_of(column, given):
            known = entry(one.words["statistic"])
            if known.of_pairs or known.of_graphs:
                raise DuffError(f"{one.name}: {known.name} is no statistic of one column.")
            if known.shape == "distribution":
                raise DuffError(
                    f"{one.name}: a distribution is no number of a table. Ask for quantiles, or "
                    "for the distribution by itself."
                )
            own = {name: columns[name][column] for name in columns if column in columns[name]}
            words = _public_set(one, known, column, own) | one.words
            parameters = {name: words.get(name) for name in known.read}
            asked = entry(known.for_parameters(parameters)[0])
            usual = mechanism if mechanism in asked.choices else asked.choices[0]
            if asked.has_interval(words.get("mechanism", usual)) and _cheap_ends(asked):
                words = {"interval": interval} | words
            found.append(one._replace(words=words | {"column": column, "name": one.name}))
    return found


def together(
    asked: list[dict[str, Any]], wanted: Interval, again: Mapping[str, tuple[Any, ...]]
) -> list[dict[str, Any]]:
    """Releases with intervals that hold all together: by the union bound each release may miss an
    equal part of what the table may, and its margins count as releases of their own.
    """
    with_ends = [words for words in asked if words.get("interval") is not None]
    many = sum(1 + len(again[words["name"]]) for words in with_ends)
    held = {"interval": 1 - (1 - wanted.confidence) / many, "simultaneous": True}
    return [words | held if words.get("interval") is not None else words for words in asked]


def _cheap_ends(known: Entry) -> bool:
    """Whether numbers get intervals without being asked for: ends of their own for several numbers
    would leave little of epsilon for each.
    """
    return known.shape == "value" or not known.ends_are_drawn


def _asked_of(column: Any, given: Any) -> list[Wanted]:
    """What one column is asked for: numbers are quantiles, drawn together if there are several."""
    if not isinstance(column, str):
        raise DuffError(f"a column is named by a text, got {column!r:.60}.")
    listed = list(given) if isinstance(given, list | tuple) else [given]
    shares = [read_q(one) for one in listed if plain_number(one) is not None]
    found, quantiles = [], False
    for one in listed:
        if plain_number(one) is not None:
            if quantiles:
                continue
            quantiles = True
            name = share_text(shares[0]) if len(shares) == 1 else "quantiles"
            words: dict[str, Any] = {"statistic": "quantile", "q": shares}
            found.append(Wanted(f"{column}_{name}", column, words))
            continue
        words = dict(one) if isinstance(one, Mapping) else {"statistic": one}
        for word in words:
            if word in FOR_ALL:
                raise DuffError(
                    f"the column {column!r} of the table is asked with {word!r}, which is for the "
                    "whole table. Leave it out there."
                )
        try:
            known = entry(words.get("statistic"))
        except DuffError as error:
            raise DuffError(f"the column {column!r} of the table: {error}") from None
        named = words.pop("name", None)
        if named is not None and (not isinstance(named, str) or not named):
            raise DuffError(f"name must be a text, got {named!r:.60}.")
        found.append(Wanted(named or f"{column}_{known.name}", named or column, words))
    if not found:
        raise DuffError(
            f'the column {column!r} of the table is asked for nothing. Pass for example "median".'
        )
    return found


def _public_set(one: Wanted, known: Entry, column: str, own: dict[str, Any]) -> dict[str, Any]:
    """What of bounds, step and categories of a column a statistic takes."""
    listed = {"categories": own["categories"]} if "categories" in own else {}
    bounded = {name: value for name, value in own.items() if name != "categories"}
    need: tuple[str, ...] = ()
    if known.outputs == "grid":
        found, need = bounded, ("bounds",)
    elif known.outputs == "grid or categories":
        found, need = listed or bounded, ("categories", "bounds")
    else:
        counted = known.outputs == "own or categories" and "bins" not in one.words
        found = listed if counted else {}
    if need and not any(name in found or name in one.words for name in need):
        raise BoundsError(
            f"{one.name}: {' or '.join(need)} of the column {column!r} are missing, and never come "
            f"from the data. Pass for example {need[0]}={{{column!r}: {_EXAMPLES[need[0]]}}}."
        )
    return found
