"""What the rest of the house has to know about a statistic: one entry each, beside its distance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from duffdp.parameters import Choice, Covers

if TYPE_CHECKING:
    from duffdp.domain import PublicSet
    from duffdp.domain.default_step import StepRule

Parameters = Mapping[str, Any]
Exact = Callable[[Parameters, Any, Any], Sequence[Any]]
# What is released: a candidate of the domain, a number between those that records count as, a count
# of records, a time that something lasts, another number, or a whole distribution.
NumberKind = Literal["candidate", "average", "count", "duration", "number", "distribution"]
# Whether a release without groups is one value, a list of them, a dictionary or a distribution.
Shape = Literal["value", "list", "dictionary", "distribution"]
NOT_DRAWN = -1  # in the place of a number that a group was not asked for


def exactly(name: str) -> Exact:
    """The function of `statistics/exact.py` with this name, loaded when it is used."""
    return lambda *asked: getattr(import_module("duffdp.statistics.exact"), name)(*asked)


def ends(module: str, name: str) -> WithEnds:
    """The function of that file of statistics with this name, loaded when it is used."""
    return lambda *given: getattr(import_module(f"duffdp.statistics.{module}"), name)(*given)


class Column(NamedTuple):
    """One number of every group: its name, and what it is."""

    name: str
    kind: NumberKind = "candidate"


@dataclass(frozen=True, slots=True)
class Part:
    """One draw of a release: the statistic that is asked, the mechanism that answers by name, and
    its share of epsilon.

    `columns` names the whole numbers that come out, and `kind` says what they are, unless the
    entry makes something else of them (`Entry.finish`).

    The statistic has what the mechanism needs, for the sources of all groups: `windows` of a step
    function, `profiles` of ranks, a `ladder`, or `totals`, whole numbers that get noise, with the
    `sensitivity` by which one record moves all of them together and, if they are sums over levels,
    the `levels(domain)`. It may have `outputs(domain)`, the candidates of its step function where
    they are not those that records are read on; and `given(numbers, domain, epsilon)`, the
    statistic to ask once a group's numbers of earlier parts are drawn, or None if the group is not
    asked, by these numbers and the epsilon of the part. If it is not, its number is -1, and the
    next part that the group is asked gets that epsilon as well: what is spent is the same. The last
    part is always asked. Groups whose statistics are equal are drawn together. And it may have
    `at(epsilon)`, the statistic for a draw that may cost so much.

    `on_coarse_domain` is the mechanism in the place of `mechanism` where candidates are few and
    epsilon is not tiny (`mechanisms/registry.py`): public facts.
    """

    statistic: Any
    mechanism: str
    columns: tuple[str, ...]
    share: Fraction = Fraction(1)
    utility: str | None = None
    kind: NumberKind = "candidate"
    on_coarse_domain: str | None = None


class Promise(NamedTuple):
    """What intervals have to hold, for one group, and what they may be made of."""

    miss: Fraction  # how often an interval may miss what it covers; all together, if they are
    covers: Covers
    together: bool
    epsilon: Fraction  # that a row may cost
    mechanism: Callable[[str, Fraction], Any]  # by its name, with an epsilon

    def each(self, many: int) -> Fraction:
        """How often one interval of so many may miss."""
        return self.miss / many if self.together else self.miss


@dataclass(frozen=True, slots=True)
class Finish:
    """What is made of the numbers that were drawn for a group: post-processing, which costs no
    epsilon and sees no record.

    `columns` of a domain names what is released; `values` makes it of a group's numbers. `on_step`
    is for callers who chose the step, if that makes a difference. `each` is for values that are
    made of the number in their place alone.
    """

    columns: Callable[[PublicSet], tuple[Column, ...]]
    values: Callable[[PublicSet, Sequence[int]], Sequence[Any]]
    on_step: Finish | None = None
    each: bool = False


# What is drawn for numbers with intervals and what becomes of it, from what is drawn without, what
# becomes of that, the checked parameters and what is promised.
WithEnds = Callable[
    [tuple[Part, ...], Finish | None, Parameters, Promise], tuple[tuple[Part, ...], Finish]
]


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
        What a release without groups is.
    outputs
        The public set: a grid, a grid or categories, the counts that a graph can have, one that
        the statistic makes of its own parameters, or that or categories.
    own_domain
        That set, for checked parameters; None if they do not make one.
    step_rule
        What is asked of records, for a choice of mechanism: by it the step is chosen if the caller
        gives none.
    uneven
        Whether candidates may be unevenly spaced, as those of `Digits` are: it asks for their order
        and for no lengths between them.
    check_domain
        Refuses a public set that does not fit the checked parameters.
    said_by_domain
        Those of its parameters that the public set says already.
    column_optional
        Whether rows of a table can be meant, and no column of it.
    several
        The statistic, and its parameter, that stand for this one where its own parameter is a list.
    lines
        What the numbers of a list or dictionary are, above their column on a page.
    optional
        Those of its parameters that may be left out: None is read instead.
    finish
        What becomes of the numbers that the parts drew, for checked parameters and a choice of
        mechanism; if there is nothing, they are released as the parts name them.
    interval
        What is drawn for a value with an interval and what becomes of it: each number is followed
        by its two ends. None if nothing can be promised.
    interval_choices
        The choices of mechanism for which there is one; all of them if not given.
    ends_are_drawn
        Whether its ends cost epsilon of their own; otherwise they follow from noise.
    covers_population
        Whether an interval can be promised for a population, too.
    no_interval
        Why there is none for the statistic, or for some choices, and what to do instead.
    by_epsilon
        What is done in the place of `parts` and `finish` where both depend on what a row may cost:
        for checked parameters, a choice of mechanism, the epsilon of a row, the rows of a person
        and whether there are few candidates, `few` at most.
    adds_up
        Whether the numbers of groups add up to that of all of them together.
    size
        Which of its numbers says how many records there are, if one does.
    label
        What a number of a list or dictionary is called, given its column.
    of_pairs
        Whether records are pairs of numbers, the columns of which are its parameters x and y.
    choices
        What `mechanism` may be.
    examples
        Parameters for which the installed library is audited.
    distance_bound
        Which bound on the distance of an output holds, if any: "any" as it stands, "one" if it is
        at least 1 (an empty data set is one record away from everything), "mean" with that of the
        mean.
    exact
        What is released without any noise, for checked parameters, the records and a public set;
        None for what cannot be planned. Not private.
    baselines
        Which local sensitivities the baselines of planning need; None if it has no baselines.
    """

    name: str
    parts: Callable[[Parameters, Choice], tuple[Part, ...]]
    title: Callable[[Parameters], str]
    summary: str = ""
    read: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    shape: Shape = "value"
    outputs: Literal["grid", "grid or categories", "counts", "own", "own or categories"] = "grid"
    own_domain: Callable[[Parameters], PublicSet | None] | None = None
    step_rule: Callable[[Choice], StepRule] = lambda _: "sum"
    uneven: bool = False
    check_domain: Callable[[Parameters, PublicSet], None] | None = None
    said_by_domain: frozenset[str] = frozenset()
    column_optional: bool = False
    optional: frozenset[str] = frozenset()
    finish: Callable[[Parameters, Choice], Finish | None] = lambda *_: None
    interval: WithEnds | None = None
    interval_choices: tuple[Choice, ...] | None = None
    ends_are_drawn: bool = False
    covers_population: bool = False
    no_interval: str = ""
    by_epsilon: (
        Callable[[Parameters, Choice, Fraction, int, bool], tuple[tuple[Part, ...], Finish]] | None
    ) = None
    few: int = 0
    adds_up: bool = False
    size: str | None = None
    several: tuple[str, str] | None = None
    lines: str = "quantile"
    label: Callable[[str], str] = str
    of_pairs: bool = False
    choices: tuple[Choice, ...] = ("best", "duff")
    examples: tuple[Parameters, ...] = ({},)
    distance_bound: Literal["any", "one", "mean"] | None = None
    exact: Exact | None = None
    baselines: Literal["quantile", "mean", "sum", "mode"] | None = None

    @property
    def of_graphs(self) -> bool:
        """Whether records are edges of a graph."""
        return self.outputs == "counts"

    def has_interval(self, choice: Choice) -> bool:
        """Whether an interval can be promised, for the data at least."""
        return self.interval is not None and choice in (self.interval_choices or self.choices)

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
        return {
            name: read(given.get(name) if name in self.optional else given[name])
            for name, read in self.read.items()
        }
