"""What the rest of the house has to know about a statistic: one entry each, beside its distance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from duffdp.parameters import Choice

Parameters = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    """One draw of a release: the statistic that is asked, the mechanism that answers by name, and
    its share of epsilon.

    `columns` names the numbers that come out; they are candidates of the domain, or counts of
    records if not `on_domain`.
    """

    statistic: Any  # has what the mechanism needs: windows, a profile of ranks, a count or a ladder
    mechanism: str
    columns: tuple[str, ...]
    share: Fraction = Fraction(1)
    utility: str | None = None
    on_domain: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """A statistic that can be released.

    Parameters
    ----------
    name
        Of the verb, the command and the entry in a plan.
    parts
        What is drawn, for checked parameters and a choice of mechanism.
    read
        The parameters it takes, each with the check that reads it.
    title
        What a page calls it, given the parameters.
    summary
        What its command says about itself; empty for a statistic without a command of its own.
    shape
        Whether a release without groups is one value, a list of them or a dictionary.
    outputs
        The public set: a grid, a grid or categories, or the counts that a graph can have.
    several
        The statistic, and its parameter, that stand for this one where its own parameter is a list.
    lines
        What the numbers of a list or dictionary are, above their column on a page.
    label
        What a number of a list or dictionary is called, given its column.
    sort
        Whether the values of a group are sorted after they are drawn.
    choices
        What `mechanism` may be.
    examples
        Parameters for which the installed library is audited.
    distance_bound
        Which bound on the distance of an output holds, if any: "any" as it stands, "one" if it is
        at least 1 (an empty data set is one record away from everything), "mean" with that of the
        mean.
    planned
        Which local sensitivities the baselines of planning need, for statistics that can be
        planned.
    """

    name: str
    parts: Callable[[Parameters, Choice], tuple[Part, ...]]
    title: Callable[[Parameters], str]
    summary: str = ""
    read: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    shape: Literal["value", "list", "dictionary"] = "value"
    outputs: Literal["grid", "grid or categories", "counts"] = "grid"
    several: tuple[str, str] | None = None
    lines: str = "quantile"
    label: Callable[[str], str] = str
    sort: bool = False
    choices: tuple[Choice, ...] = ("best", "duff")
    examples: tuple[Parameters, ...] = ({},)
    distance_bound: Literal["any", "one", "mean"] | None = None
    planned: Literal["quantile", "mean", "mode"] | None = None

    @property
    def of_graphs(self) -> bool:
        """Whether records are edges of a graph."""
        return self.outputs == "counts"

    def for_parameters(self, given: Parameters) -> tuple[str, Parameters]:
        """The statistic that these parameters ask for: that of several values where one is a
        list.
        """
        if self.several is None:
            return self.name, given
        ((name, values),) = ((name, given[name]) for name in self.read)
        if not isinstance(values, list | tuple):
            return self.name, given
        return (
            (self.several[0], {self.several[1]: tuple(values)})
            if len(values) != 1
            else (self.name, {name: values[0]})
        )

    def checked(self, given: Parameters) -> dict[str, Any]:
        """The parameters, read."""
        return {name: read(given[name]) for name, read in self.read.items()}
