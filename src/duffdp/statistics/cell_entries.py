"""The entries of statistics that count records in cells of a public domain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from duffdp.errors import BoundsError, DuffError
from duffdp.parameters import Choice, read_flag, read_places
from duffdp.statistics import no_interval
from duffdp.statistics.entry import Column, Entry, Finish, Parameters, Part, ends, exactly

if TYPE_CHECKING:
    from duffdp.domain import Bins, Categories, Membership, Presence, PublicSet

MOST_CANDIDATES = 2**20  # of an order: each one gets noise


def _counted(columns: tuple[str, ...]) -> tuple[Part, ...]:
    from duffdp.statistics.cells import Cells

    return (Part(Cells(), "two-sided-geometric", columns, kind="count"),)


# Count.


def _every_row(_: Parameters) -> Presence:
    from duffdp.domain import Presence

    return Presence(rows=True)


# Share.


def _read_values(values: Any) -> Categories | None:
    from duffdp.domain import Categories

    if values is None or isinstance(values, Categories):
        return values
    try:
        return Categories(values)
    except BoundsError as error:
        raise BoundsError(f"values of a share: {error}") from None


def _read_between(between: Any) -> Bins | None:
    from duffdp.domain import Bins

    if between is None:
        return None
    fix = "Pass two numbers or dates, the lower first, for example between=(0, 18)."
    if not isinstance(between, list | tuple) or len(between) != 2:
        raise BoundsError(f"between has two ends, got {between!r:.60}. {fix}")
    try:
        return Bins(between)
    except BoundsError:
        raise BoundsError(
            f"between must rise from end to end, got {between!r:.60}. {fix}"
        ) from None


def _membership(given: Parameters) -> Membership:
    from duffdp.domain import Membership

    values, between = given["values"], given["between"]
    if (values is None) == (between is None):
        both = "neither" if values is None else "both"
        raise DuffError(
            f"share needs either values or between, got {both}. "
            'Pass for example values=["yes"] or between=(0, 18).'
        )
    return Membership(between if values is None else values)


def _share(domain: PublicSet, numbers: Sequence[int]) -> list[float]:
    """U / (U + V), within 0 and 1; in the middle where the noise leaves no record."""
    inside, outside = numbers
    if inside + outside <= 0:
        return [0.5]
    return [min(1.0, max(0.0, inside / (inside + outside)))]


# Histogram.


def _read_bins(bins: Any) -> Bins | None:
    from duffdp.domain import Bins

    return bins if bins is None or isinstance(bins, Bins) else Bins(bins)


def _histogram(given: Parameters, choice: Choice) -> Finish:
    def values(domain: PublicSet, numbers: Sequence[int]) -> list[int]:
        if not given["nonnegative"]:
            return list(numbers)
        return projected(numbers) if given["adds_up"] else [max(0, number) for number in numbers]

    def columns(domain: PublicSet) -> tuple[Column, ...]:
        return tuple(Column(name, "count") for name in labels(domain))

    return Finish(columns, values, each=not (given["nonnegative"] and given["adds_up"]))


def projected(numbers: Sequence[int]) -> list[int]:
    """The closest whole numbers of 0 and more, by least squares, that have the same sum (0 if that
    is negative).

    All fall by the same amount and stop at 0. What is left over is one for some of them; the
    largest give it.
    """
    total = max(0, sum(numbers))
    low, high = 0, max(0, *numbers)  # the numbers add up to too much at `low`, not at `high`
    while high - low > 1:
        middle = (low + high) // 2
        enough = sum(max(0, number - middle) for number in numbers) > total
        low, high = (middle, high) if enough else (low, middle)
    found = [max(0, number - low) for number in numbers]
    over = sum(found) - total
    for place in sorted(range(len(found)), key=lambda i: -found[i])[:over]:
        found[place] -= 1
    return found


def labels(domain: PublicSet) -> tuple[str, ...]:
    """What the cells are called: different texts, none of them empty, whatever the values are."""
    from duffdp.domain import Bins, Categories

    if isinstance(domain, Bins):
        return tuple(map(domain.label, range(domain.size)))
    assert isinstance(domain, Categories)
    texts = [str(value) for value in domain]
    if len(set(texts)) < len(texts) or "" in texts:
        texts = [repr(value) for value in domain]
    while len(set(texts)) < len(texts):
        texts = [f"{text} ({i})" for i, text in enumerate(texts, 1)]
    return tuple(texts)


# Top.


def _top(given: Parameters, choice: Choice) -> tuple[Part, ...]:
    """All counts get noise for one epsilon, and the order costs no more; the first place alone is
    the mode, which needs less.
    """
    from duffdp.statistics.cells import Top
    from duffdp.statistics.mode import Mode

    columns = tuple(f"top_{place}" for place in range(1, given["k"] + 1))
    if given["k"] == 1:
        return (Part(Mode(1), "permute-and-flip", columns, utility="distance"),)
    return (Part(Top(given["k"]), "noisy-ranking", columns),)


def _check_top(given: Parameters, domain: PublicSet) -> None:
    if given["k"] > domain.size:
        raise DuffError(
            f"k must be at most the number of possible values, {domain.size}, got {given['k']}. "
            "Ask for fewer."
        )
    if domain.size > MOST_CANDIDATES:
        raise BoundsError(
            f"top has at most 2**20 possible values, got {domain.size}. Pass a larger step, or "
            "categories."
        )


def _flag(name: str, otherwise: bool) -> Callable[[Any], bool]:
    return lambda value: otherwise if value is None else read_flag(name, value)


ENTRIES = (
    Entry(
        name="count",
        summary="A private number of rows, or of people, overall or for each group.",
        parts=lambda *_: _counted(("count",)),
        title=lambda _: "Count",
        outputs="own",
        own_domain=_every_row,
        interval=ends("noise_interval", "around_number"),
        adds_up=True,
        size="count",
        column_optional=True,
        choices=("best",),
        exact=exactly("count"),
    ),
    Entry(
        name="share",
        summary="A private share of the records that are among some values, or between two ends.",
        parts=lambda *_: _counted(("inside", "outside")),
        title=lambda _: "Share",
        read={"values": _read_values, "between": _read_between},
        optional=frozenset({"values", "between"}),
        said_by_domain=frozenset({"values", "between"}),
        outputs="own",
        own_domain=_membership,
        finish=lambda *_: Finish(lambda _: (Column("share", "average"),), _share),
        interval=ends("ratio_interval", "around_ratio"),
        covers_population=True,
        choices=("best",),
        examples=({"between": (0, 1)}, {"values": (1, 2)}),
        exact=exactly("share"),
    ),
    Entry(
        name="histogram",
        summary="Private counts of records in public bins or categories, one epsilon for all.",
        parts=lambda *_: _counted(("cells",)),
        title=lambda _: "Histogram",
        read={
            "bins": _read_bins,
            "nonnegative": _flag("nonnegative", True),
            "adds_up": _flag("adds_up", False),
        },
        optional=frozenset({"bins", "nonnegative", "adds_up"}),
        said_by_domain=frozenset({"bins"}),
        outputs="own or categories",
        own_domain=lambda given: given["bins"],
        finish=_histogram,
        interval=ends("noise_interval", "around_cells"),
        shape="dictionary",
        lines="of",
        choices=("best",),
        examples=({"bins": (0, 1, 3)}, {"bins": (0, 1, 2, 3), "adds_up": True}),
        exact=exactly("cells"),
    ),
    Entry(
        name="top",
        summary="The private order of the most common values of a column.",
        parts=_top,
        title=lambda given: f"Top {given['k']}",
        read={"k": read_places},
        outputs="grid or categories",
        uneven=True,
        step_rule=lambda _: "order",
        check_domain=_check_top,
        no_interval=no_interval.ORDER,
        shape="list",
        lines="place",
        choices=("best",),
        examples=({"k": 2}, {"k": 1}),
        exact=exactly("top"),
    ),
)
