"""Every statistic by its name. The file of a statistic is loaded when its specification is used."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from duffdp._alternatives import use_instead
from duffdp.errors import Argument, DuffError

if TYPE_CHECKING:
    from duffdp.statistics.spec import StatisticSpec

# In the order of pages and of the command line: the file of the statistic, and the line by which
# its command describes itself; a statistic without a line has no command.
_STATISTICS = {
    "median": ("quantile", "A private median of a column, overall or by group."),
    "quantile": ("quantile", "Private quantiles of a column, overall or by group."),
    "quantiles": ("quantiles", ""),
    "mean": ("mean", "A private mean of a column, overall or by group."),
    "sum": ("sum", "A private sum of a column, overall or by group."),
    "trimmed_mean": (
        "trimmed_mean",
        "A private mean of a column without its lowest and highest records.",
    ),
    "variance": ("variance", "A private variance of a column, overall or by group."),
    "std": ("variance", "A private standard deviation of a column, overall or by group."),
    "iqr": ("iqr", "A private interquartile range of a column, overall or by group."),
    "mode": ("mode", "The most common value of a column, released privately, overall or by group."),
    "describe": (
        "describe",
        "A private summary of a column: count, mean, quartiles, 1% and 99%, for one epsilon.",
    ),
    "distribution": (
        "distribution",
        "A private distribution of a column: quantiles, shares and a band around them.",
    ),
    "count": ("count", "A private number of rows, or of people, overall or by group."),
    "share": (
        "share",
        "A private share of the rows with some values, or with values between two ends.",
    ),
    "histogram": (
        "histogram",
        "Private counts of rows in public bins or categories; all share one epsilon.",
    ),
    "top": ("top", "The most common values of a column in order, released privately."),
    "slope": (
        "slope",
        "A private slope of one column over another (Theil-Sen).",
    ),
    "triangles": (
        "triangles",
        "A private number of triangles of a graph; the guarantee protects one edge.",
    ),
    "stars": ("stars", "A private number of k-stars of a graph; the guarantee protects one edge."),
}
#: The line by which each command describes itself, by the name of its statistic.
SUMMARIES = {name: summary for name, (_, summary) in _STATISTICS.items() if summary}


class _Registry(Mapping[str, "StatisticSpec"]):
    """Specifications by name, each loaded on first use."""

    def __getitem__(self, name: str) -> StatisticSpec:
        return _load(name)

    def __contains__(self, name: object) -> bool:
        return name in _STATISTICS

    def __iter__(self) -> Iterator[str]:
        return iter(_STATISTICS)

    def __len__(self) -> int:
        return len(_STATISTICS)


@cache
def _load(name: str) -> StatisticSpec:
    """The specification in the file of a statistic."""
    module, _ = _STATISTICS[name]
    specs: tuple[StatisticSpec, ...] = import_module(f"duffdp.statistics.{module}").SPECS
    return next(spec for spec in specs if spec.name == name)


REGISTRY = _Registry()


def statistic_spec(name: object) -> StatisticSpec:
    """The specification of a statistic, or an error that lists all names."""
    if not isinstance(name, str) or name not in REGISTRY:
        if not isinstance(name, str):
            raise DuffError(f"statistic must be one of {', '.join(REGISTRY)}, got {name!r:.60}.")
        hint = use_instead(name, REGISTRY) or f" Known are {', '.join(REGISTRY)}."
        raise DuffError(f"there is no statistic {name!r:.60}.{hint}")
    return REGISTRY[name]


@cache
def _owners() -> dict[str, list[str]]:
    """The statistics that have each parameter of their own."""
    owners: dict[str, list[str]] = {}
    for spec in REGISTRY.values():
        for name in spec.parameter_names:
            owners.setdefault(name, []).append(spec.name)
    return owners


def check_parameter_names(spec: StatisticSpec, names: Container[str]) -> None:
    """An error if a parameter is missing, or is one of other statistics."""
    optional = {parameter.name for parameter in spec.parameters if not parameter.required}
    own_names = spec.parameter_names
    for name, owners in _owners().items():
        if name in optional or (name in names) == (name in own_names):
            continue
        if name in names:
            raise DuffError(
                *(Argument(name), f" is only valid for {', '.join(owners)}, "),
                f"got it for {spec.name}. Leave it out.",
            )
        example = next(one.example for one in spec.parameters if one.name == name)
        raise DuffError(
            *(f"{spec.name} needs ", Argument(name), ". Pass for example "),
            *(Argument(name, example), "."),
        )
