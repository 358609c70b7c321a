"""Every public parameter, described once: its name, type, default, check, rule, example and help.

Signatures and docstrings of the public functions, command options, plan keys, the fields of the
studio, the reference page and the errors all come from these objects. To add an option that
releases share, add one `Parameter` here, name it in `RELEASE_OPTIONS`, and write the code that
uses it.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Generic, Literal, NamedTuple, TypeVar, cast

from duffdp.errors import UNSET, Argument, DuffError

T = TypeVar("T")
V = TypeVar("V")

#: The choice of a mechanism: the most accurate one, the paper's, or another that a statistic has.
Choice = str

#: What an interval holds: the exact statistic of the records, or that of what they were drawn from.
Covers = Literal["data", "population"]

#: How a parameter is written as text, on the command line, in a form or in a plan.
Kind = Literal[
    "text", "number", "whole", "flag", "value", "pair", "list", "values", "choice", "file"
]

# Below, an answer is noise alone; above, nothing is protected; doubles can represent both.
MIN_EPSILON, MAX_EPSILON = 1e-12, 1e9
# Of the intervals of tables, and of comparisons and groups without an interval.
DEFAULT_CONFIDENCE = 0.95
# Denominator of a share q: keeps rank arithmetic in int64 up to 9 * 10**12 records.
MAX_SHARE_DENOMINATOR = 10**6

DEFAULT_ENCODING = "utf-8"
THOUSANDS_MARKS = (".", ",", "'", " ")
_SAME_MARKS = {"\u2019": "'", "\u00a0": " ", "\u202f": " "}  # other characters for a mark
_ALL_MARKS = (*THOUSANDS_MARKS, *_SAME_MARKS)
# A header comes early; more lines than that would be records.
MAX_SKIPPED_ROWS = 100


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Parameter(Generic[T]):
    """One parameter of a public function, command, plan or form."""

    name: str
    #: One line for `--help`, the studio and the table of plan keys.
    help: str
    #: What a value must be; errors say "NAME must be RULE".
    rule: str = ""
    #: Returns the checked value, or None to refuse it; may raise an error of its own.
    convert: Callable[[object], T | None]
    #: A value that passes, for errors and the reference page.
    example: Any = UNSET
    #: UNSET: the parameter is required.
    default: Any = UNSET
    #: The type, as signatures show it.
    annotation: str = "Any"
    #: The paragraph of docstrings; `help` where there is no more to say.
    doc: str = ""
    kind: Kind = "text"
    #: Flags of the command; `--name` if there are none.
    flags: tuple[str, ...] = ()
    metavar: str = ""
    choices: tuple[str, ...] = ()
    #: Whether the option may be repeated, once for each value.
    repeated: bool = False
    #: Whether Python takes it before the `*` of a signature.
    positional: bool = False
    #: What the studio calls it.
    label: str = ""
    #: Other names for it, as other libraries have them. Documentation and errors use `name`.
    aliases: tuple[str, ...] = ()
    #: Other words for some values: the documented value of each.
    value_aliases: Mapping[str, Any] = field(default_factory=dict)

    def documented_value(self, value: V) -> V:
        """The value, or the documented one that it is another word for."""
        return self.value_aliases.get(value, value) if isinstance(value, str) else value

    def read(self, value: object) -> T:
        """The checked value, or the error that says the rule."""
        if value is None and self.default is None:
            return None  # type: ignore[return-value]
        checked = self.convert(value)
        if checked is None:
            raise self.refusal(value)
        return checked

    def value_in(self, options: Mapping[str, object]) -> object:
        """Its value among some options as it was passed, or the default."""
        value = options.get(self.name, self.default)
        return None if value is UNSET else value

    def read_from(self, options: Mapping[str, object]) -> T:
        """Its checked value among some options, or the default."""
        return self.read(self.value_in(options))

    def of(self, parameters: Mapping[str, object]) -> T:
        """Its value among checked parameters."""
        return cast(T, parameters[self.name])

    def refusal(self, value: object) -> DuffError:
        """The error for a value that breaks the rule."""
        return DuffError.about(self.name, value, self.rule, self.example)

    @property
    def required(self) -> bool:
        """True if there is no default."""
        return self.default is UNSET

    @property
    def option(self) -> str:
        """The flag by which messages call it on the command line."""
        return self.flags[0] if self.flags else f"--{self.name.replace('_', '-')}"

    @property
    def documentation(self) -> str:
        """The paragraph of docstrings."""
        return self.doc or self.help


# Checks that parameters share.


def plain_number(value: object) -> int | float | Decimal | Fraction | None:
    """A number of Python or numpy as one of Python; None for anything else, truth values too."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item() if getattr(value, "ndim", 0) == 0 else None
    return (
        value
        if isinstance(value, int | float | Decimal | Fraction) and not isinstance(value, bool)
        else None
    )


def exact(number: float | Decimal | Fraction) -> Fraction:
    """A number as the decimal that was written: 0.1 is 1/10."""
    if isinstance(number, Fraction):
        return number
    # By a decimal, which reads text several times as fast as a fraction does.
    return Fraction(Decimal(repr(number)) if isinstance(number, float) else number)


def share_text(q: Fraction) -> str:
    """A share as short as it can be without being taken for another one."""
    short = f"{float(q):g}"
    return short if Fraction(short) == q else repr(float(q))


def _anything(value: object) -> Any:
    """No check here: what the value may be depends on other parameters or on the data."""
    return value


def _whole(smallest: int) -> Callable[[object], int | None]:
    """A check for whole numbers from a smallest one on."""

    def convert(value: object) -> int | None:
        number = plain_number(value)
        return number if isinstance(number, int) and number >= smallest else None

    return convert


def _fraction(
    low: float, high: float, *, closed: bool = False
) -> Callable[[object], Fraction | None]:
    """A check for numbers between two ends, as the decimals that were written."""

    def convert(value: object) -> Fraction | None:
        number = plain_number(value)
        if number is None or not (low <= number <= high if closed else low < number < high):
            return None
        return exact(number)

    return convert


def _share(low: float, high: float, *, closed: bool = False) -> Callable[[object], Fraction | None]:
    """A check for shares of records, with a denominator that rank arithmetic can bear."""
    inside = _fraction(low, high, closed=closed)

    def convert(value: object) -> Fraction | None:
        number = inside(value)
        return None if number is None else number.limit_denominator(MAX_SHARE_DENOMINATOR)

    return convert


def _at_most(limit: Fraction, number: Fraction | None) -> Fraction | None:
    return None if number is None or number > limit else number


def _at_most_rows(rows: int | None) -> int | None:
    return None if rows is None or rows > MAX_SKIPPED_ROWS else rows


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _name(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _epsilon(value: object) -> Fraction | None:
    number = plain_number(value)
    try:
        fits = number is not None and MIN_EPSILON <= float(number) <= MAX_EPSILON
    except (OverflowError, ValueError):
        fits = False
    if number is not None and not fits and 0 < number < math.inf:
        raise DuffError(
            *(Argument("epsilon"), f" must be between {MIN_EPSILON:g} and {MAX_EPSILON:g}, got "),
            *(f"{value!r:.40}. Pass for example ", Argument("epsilon", 1.0), "."),
        )
    return exact(number) if number is not None and fits else None


def _encoding(value: object) -> str | None:
    """The usual name of UTF-8 or of an encoding with one byte for each character."""
    if not isinstance(value, str):
        return None
    try:
        name = codecs.lookup(value).name
    except (LookupError, ValueError):
        return None
    if name in ("utf-8", "utf-8-sig"):
        return DEFAULT_ENCODING
    return None if character_table(name) is None else name


@lru_cache(maxsize=8)
def character_table(encoding: str) -> str | None:
    """The characters of all 256 bytes; a byte without one is that of Latin-1.

    None for an encoding in which a character has several bytes or the first 128 are not ASCII:
    its lines and fields cannot be separated before they are decoded.
    """
    try:
        high = bytes(range(128, 256)).decode(encoding, "replace")
    except (LookupError, ValueError):
        return None
    characters = []
    for byte in range(256):
        try:
            characters.append(bytes([byte]).decode(encoding))
        except ValueError:
            characters.append(chr(byte))
    table = "".join(characters)
    ascii_first = table[:128] == bytes(range(128)).decode("ascii")
    return table if ascii_first and len(high) == 128 and len(table) == 256 else None


def _shares(value: object) -> tuple[Fraction, ...] | None:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return None
    read = [Q.convert(q) for q in value]
    shares = sorted(q for q in read if q is not None)
    if not shares or len(shares) < len(read):
        return None
    for a, b in pairwise(shares):
        if a == b:
            raise DuffError(
                Argument("qs"),
                f" must differ from each other, got {share_text(a)} twice. List each once.",
            )
    return tuple(shares)


def _decimal(value: object) -> Decimal | None:
    share = _fraction(0, 1)(value)
    return None if share is None else Decimal(share.numerator) / Decimal(share.denominator)


# Data and outputs.

DATA: Parameter[Any] = Parameter(
    name="data",
    help="A CSV, TSV, JSON lines, Parquet or Excel file ('file.xlsx::sheet'), a folder of Parquet "
    "files, 'file.duckdb::table', 'postgresql://user@host/db::table', or - for a pipe.",
    doc="A one-dimensional array, series or list; or a frame (pandas, polars, pyarrow, DuckDB, "
    "Spark, dask, ibis) or the path of a file, folder or table, with `column`. Missing values are "
    "dropped, and values outside of the bounds count as the nearest bound.",
    convert=_anything,
    positional=True,
)
STATISTIC: Parameter[Any] = Parameter(
    name="statistic",
    help="The name of a statistic.",
    doc="An object with `steps(values, domain)` that returns a `StepFunction`: one of "
    "`duffdp.statistics`, or your own. `values` is the list of the records of one group, each "
    "clamped and rounded to a value of `domain`.",
    convert=_anything,
    positional=True,
)
EDGES: Parameter[Any] = Parameter(
    name="edges",
    help="A CSV file with one edge per line: two columns of node numbers.",
    doc="Pairs of whole numbers of any sign and size: an array or list of two columns, a frame "
    "with two columns, a sparse scipy adjacency matrix, or the path of a CSV file. Self-loops and "
    "rows that are not edges are dropped; an edge listed twice or in both directions counts once.",
    convert=_anything,
    positional=True,
)
EPSILON: Parameter[Fraction] = Parameter(
    name="epsilon",
    help="The privacy loss of this call in total. Smaller values protect people better.",
    doc="The privacy loss of this call in total: a finite number above 0. Smaller values protect "
    "people better and give larger errors.",
    rule="a finite number above 0",
    example=1.0,
    convert=_epsilon,
    annotation="float",
    kind="number",
    flags=("--epsilon", "-e"),
    label="Epsilon",
)
BOUNDS: Parameter[Any] = Parameter(
    name="bounds",
    help="The smallest and the largest plausible value: two numbers or ISO dates, never taken from "
    "the data.",
    doc="`(lower, upper)`: the smallest and the largest plausible value, from knowledge of the "
    "subject and not from the data; or a `Grid`. If nobody knows bounds, medians, quantiles, "
    "summaries, modes and `top` take `Digits` instead.",
    example=(0, 120),
    default=None,
    convert=_anything,
    kind="pair",
    metavar="LOWER UPPER",
    label="Bounds",
)
DIGITS: Parameter[Any] = Parameter(
    name="digits",
    help="Instead of bounds: possible answers are 0 and all numbers with this many significant "
    "digits, positive or negative, from 1e-9 to 1e12 in size.",
    example=3,
    default=None,
    convert=_anything,
    kind="whole",
)
STEP: Parameter[Any] = Parameter(
    name="step",
    help="Distance between possible answers, in days for dates and in seconds for times. Its "
    "default follows from the type of the column.",
    doc="Distance between possible outputs. The default is 1 for integer columns, a day for dates, "
    "and otherwise a power of ten, at most 1, that makes at least 100,000 steps between the "
    "bounds. Lists and text files have no types: there the default is 1 if the bounds are whole "
    "numbers at least 10 apart. `Release.domain` shows the step.",
    example=1,
    default=None,
    convert=_anything,
    kind="value",
    metavar="STEP",
    label="Step",
)
CATEGORIES: Parameter[Any] = Parameter(
    name="categories",
    help="The public list of possible values, or @FILE with one per line.",
    doc="The public list of possible values, or a `Pattern` with at most 65,536 of them. Records "
    "with other values are dropped.",
    example=["yes", "no"],
    default=None,
    convert=_anything,
    annotation="Iterable[Any] | None",
    kind="list",
    metavar="A,B,...",
    label="Categories",
)

# Rows, groups and people.

COLUMN: Parameter[str | None] = Parameter(
    name="column",
    help="The column to summarize.",
    doc="The column of a frame or file.",
    rule="the name of a column",
    example="age",
    default=None,
    convert=_name,
    annotation="str | None",
    flags=("--column", "-c"),
    metavar="COLUMN",
)
BY: Parameter[Any] = Parameter(
    name="by",
    help="The column to group by; may be repeated.",
    doc="The column to group by, or a list of columns.",
    example="region",
    default=None,
    convert=_anything,
    kind="text",
    repeated=True,
    metavar="COLUMN",
    label="Groups by",
)
KEYS: Parameter[Any] = Parameter(
    name="keys",
    help="The public list of groups, once for each --by. Every key gets an answer. @FILE is a text "
    "file with one key per line, a table with that column (or @FILE[COLUMN] for another one), or a "
    "stored release. Or describe the possible keys, and a part of epsilon finds those with many "
    "rows: pattern:[A-Z][0-9]{2}, numbers:1..999, days:2024-01-01..2024-12-31.",
    doc="The public list of groups. Every key gets an answer, rows with other keys are ignored, "
    "and one epsilon covers all groups. Pass values or tuples, a series or frame, a type that "
    "declares its values (`polars.Enum`, `pandas.CategoricalDtype`) or a `CodeBook`. Or pass a "
    "path: of a table, of a text file with one key per line, or of a stored release. For all "
    "combinations of several columns, pass a mapping from each column to one of these. A `Pattern` "
    "describes the possible keys instead; a part of epsilon finds those with many rows.",
    example=["north", "south"],
    default=None,
    convert=_anything,
    kind="list",
    repeated=True,
    metavar="A,B,...",
    label="Groups",
)
FINDING: Parameter[Fraction | None] = Parameter(
    name="finding",
    help="The share of epsilon for finding the keys of a pattern; a quarter by default, and "
    "all of it for a count.",
    doc="The share of epsilon for finding the keys of a `Pattern`; the rest goes to the values. "
    "The default is a quarter. For a count it is all of epsilon, because the noisy counts that "
    "find the keys are also the values.",
    rule="a number above 0 and at most 1",
    example=0.25,
    default=None,
    convert=lambda value: _fraction(0, 1, closed=True)(value),
    annotation="float | None",
    kind="number",
    metavar="SHARE",
)
OTHER: Parameter[str | None] = Parameter(
    name="other",
    help="Add a group of this name for all rows whose key is not listed or found.",
    doc="The name of an additional group for all rows whose key is missing, not listed or not "
    'found, such as `other="all others"`. None: such rows are ignored.',
    rule="the name of a group",
    example="all others",
    default=None,
    convert=lambda value: _name(value) or None,
    annotation="str | None",
    metavar="NAME",
)
MARGIN: Parameter[Any] = Parameter(
    name="margin",
    help="For totals: the columns of by that are kept; groups of the other columns are combined.",
    default=None,
    convert=_anything,
)
LEVELS: Parameter[Any] = Parameter(
    name="levels",
    help="Larger groups that combine keys, each with a row of its own.",
    doc="Additional rows for larger groups and for all groups together; numbers add up on every "
    "level. A mapping names one level and its groups, each with a list of keys or a `Pattern`: "
    '`{"chapter": {"A00-B99": Pattern("[AB][0-9]{2}")}}`. A number groups keys by their first '
    'characters: `{"letter": 1}`. True: the columns of `by` are the levels, the largest groups '
    "first.",
    example={"letter": 1},
    default=None,
    convert=_anything,
    annotation="Mapping[str, Any] | bool | None",
)
MARGIN_SUMS: Parameter[bool] = Parameter(
    name="margin_sums",
    help="Each total uses the same rows as its groups, so their numbers add up.",
    default=False,
    convert=_flag,
    annotation="bool",
)
WHERE: Parameter[str | None] = Parameter(
    name="where",
    help="Use only the rows that satisfy this condition, such as \"age >= 18 AND ward <> 'ER'\".",
    doc="A public condition: only rows that satisfy it are used. It compares columns with "
    "constants, as in \"age >= 18 AND ward <> 'ER'\", with AND, OR, NOT, IN, BETWEEN and IS NULL.",
    example="age >= 18",
    default=None,
    convert=_anything,
    annotation="str | None",
    metavar="CONDITION",
    label="Only rows where",
)
UNIT: Parameter[str | None] = Parameter(
    name="unit",
    help="The column that identifies the person to protect. Without it, each row is protected.",
    doc="The column that identifies the person to protect. Without it, each row is protected, but "
    "not a person with several rows.",
    rule="the name of the column that identifies the person",
    example="person_id",
    default=None,
    convert=_anything,
    annotation="str | None",
    metavar="COLUMN",
    label="Who is protected",
    aliases=("privacy_unit",),
)
CONTRIBUTIONS: Parameter[int] = Parameter(
    name="contributions",
    help="The maximum number of rows used per person.",
    doc="The maximum number of rows used per person, chosen at random: in all groups together or, "
    "with `groups_per_person`, in each group.",
    rule="a whole number of 1 or more",
    example=1,
    default=1,
    convert=_whole(1),
    annotation="int",
    kind="whole",
    label="Rows used per person",
    aliases=("max_rows_per_person",),
)
GROUPS_PER_PERSON: Parameter[int | None] = Parameter(
    name="groups_per_person",
    help="The maximum number of groups per person, with up to --contributions rows in each.",
    doc="The maximum number of groups in which a person's rows are used, chosen at random; epsilon "
    "covers all of them. None: no limit apart from `contributions`.",
    rule="a whole number of 1 or more",
    example=2,
    default=None,
    convert=_whole(1),
    annotation="int | None",
    kind="whole",
    aliases=("max_groups_per_person",),
    label="Groups per person",
)
SUPPRESS_BELOW: Parameter[int | None] = Parameter(
    name="suppress_below",
    help="Withhold the numbers of groups with a smaller noisy count. The count is shown for each "
    "group and costs a tenth of epsilon; for count and describe it costs nothing.",
    doc="Withhold the values of groups with a smaller noisy count. The count is released for each "
    "group and costs a tenth of epsilon. `count` and `describe` use their own counts, without this "
    "cost. None: withhold nothing.",
    rule="a whole number of 1 or more",
    example=20,
    default=None,
    convert=_whole(1),
    annotation="int | None",
    kind="whole",
    metavar="COUNT",
)

# Intervals and mechanisms.

INTERVAL: Parameter[Fraction | None] = Parameter(
    name="interval",
    help="Also release an interval with this confidence, such as 0.95. For medians, "
    "quantiles and interquartile ranges it takes half of epsilon, or 7/8 for a population; for "
    "describe, half of the quantiles' share. Other statistics "
    "that have intervals get them at no cost.",
    doc="The confidence of intervals, such as 0.95. The release then has `low` and `high`: each "
    "interval contains the target named by `covers` with at least this probability. Counts, "
    "histograms, shares, and sums and means by the default mechanism get it at no cost. For "
    "medians, quantiles and interquartile ranges it takes half of epsilon, or 7/8 for a "
    "population; for summaries, half of what the quantiles get. Other statistics refuse it.",
    rule="a confidence between 0 and 1",
    example=0.95,
    default=None,
    convert=_fraction(0, 1),
    annotation="float | None",
    kind="number",
    metavar="CONFIDENCE",
    label="Intervals",
)
COVERS: Parameter[Covers] = Parameter(
    name="covers",
    help="The target of the interval: the exact answer for the data, or for the population that "
    "the data was sampled from.",
    doc='The target of the interval. "data": the exact answer for the records that are used; with '
    "`unit`, these are the rows chosen at random, and the answer for all rows may be outside of "
    'the interval. "population": the answer for the population, if the records are independent '
    "samples of it. The population may have any distribution.",
    rule='"data" (the records themselves) or "population" (that they were sampled from)',
    default="data",
    convert=lambda value: value if value in ("data", "population") else None,
    annotation="str",
    kind="choice",
    choices=("data", "population"),
)
SIMULTANEOUS: Parameter[bool] = Parameter(
    name="simultaneous",
    help="Make all intervals hold at once with the confidence of --interval, not only each "
    "individually.",
    doc="True: all intervals of the release, in all groups, hold at once with the confidence of "
    "`interval`, not only each individually. They are a little wider.",
    rule="True or False",
    example=True,
    default=False,
    convert=_flag,
    annotation="bool",
    kind="flag",
)
MECHANISM: Parameter[Choice] = Parameter(
    name="mechanism",
    help="How the answer is drawn; most users keep the default.",
    doc='"best": the default of each statistic, chosen by public facts alone. "duff": the '
    "exponential mechanism with the dataset distance, as in the paper.",
    default="best",
    convert=_anything,
    annotation="str",
    kind="choice",
    choices=("best", "clipped", "distance", "duff"),
    value_aliases={"auto": "best"},
)
#: One line for each choice of `mechanism`.
MECHANISMS = {
    "best": "the default",
    "clipped": "smaller error in wide bounds, but biased by heavy tails",
    "distance": "one draw by dataset distance",
    "duff": "the mechanism of the paper",
}

# The budget and the draw.

LEDGER: Parameter[Any] = Parameter(
    name="ledger",
    help="The ledger file to charge; see 'duffdp ledger init'.",
    doc="The privacy budget to charge: a `Ledger` or its path. It is charged before the draw, "
    "raises `BudgetExceeded` if the budget is too small, and refuses calls with a seed unless it "
    "was opened with `allow_seeded=True`.",
    default=None,
    convert=_anything,
    kind="file",
    metavar="PATH",
    label="Budget file",
)
DATASET: Parameter[Any] = Parameter(
    name="dataset",
    help="The data set to charge, if the ledger has several.",
    default=None,
    convert=_anything,
    annotation="str | None",
    metavar="TEXT",
)
CALL_ID: Parameter[Any] = Parameter(
    name="call_id",
    help="An id that makes a retry safe: a release stored under it is returned at no new charge.",
    default=None,
    convert=_anything,
    annotation="str | None",
    metavar="TEXT",
)
RNG: Parameter[Any] = Parameter(
    name="rng",
    help="A seed, only for experiments: the result is not private.",
    doc="None: the operating system's randomness, drawn exactly. A seed or a numpy generator: "
    "only for experiments, because the result is not private.",
    default=None,
    convert=_anything,
    annotation="object",
)

SOURCE: Parameter[str | None] = Parameter(
    name="source",
    help="Run the plan on other data with the same columns, such as next year's file, instead of "
    "its source.",
    rule="the path of the data",
    example="next_year.csv",
    default=None,
    convert=_name,
    annotation="str | None",
    metavar="DATA",
)
QUIET: Parameter[bool] = Parameter(
    name="quiet",
    help="Do not print notes on how data is read.",
    rule="True or False",
    example=True,
    default=False,
    convert=_flag,
    annotation="bool",
    kind="flag",
)

EXPLAIN: Parameter[bool] = Parameter(
    name="explain",
    help="Also show the mechanism that draws each number.",
    rule="True or False",
    example=True,
    default=False,
    convert=_flag,
    annotation="bool",
    kind="flag",
)

# Fields of text files, and queries over data.

TYPES: Parameter[Any] = Parameter(
    name="types",
    help="Types of columns in a text file: text, integer, double, boolean, date, timestamp or, for "
    "times in a zone, timestamp[Europe/Berlin].",
    example={"cost": "double", "day": "date"},
    default=None,
    convert=_anything,
    annotation="Mapping[str, str] | None",
    metavar="COLUMN=TYPE,...",
    label="Types of columns",
)
DECIMAL: Parameter[str] = Parameter(
    name="decimal",
    help="The decimal mark of a text file: . or ,",
    doc='The decimal mark of numbers, "." or ",". With a comma, a number with a point is ignored '
    "unless `thousands` is a point.",
    rule='"." or ","',
    example=",",
    default=".",
    convert=lambda value: value if value in (".", ",") else None,
    annotation="str",
    metavar="MARK",
    label="Decimal mark",
)
THOUSANDS: Parameter[str | None] = Parameter(
    name="thousands",
    help="The mark between groups of three digits in a text file: . or , or ' or a space.",
    doc='The mark between groups of three digits, such as "." in 1.280,00: ".", ",", "\'" '
    'or " " (also a no-break space). A number with groups of another size is ignored. None: '
    "every number with such a mark is ignored.",
    rule='".", ",", "\'" or " "',
    example=".",
    default=None,
    convert=lambda value: _SAME_MARKS.get(value, value) if value in _ALL_MARKS else None,
    annotation="str | None",
    metavar="MARK",
    label="Thousands separator",
)
DATE_FORMAT: Parameter[Any] = Parameter(
    name="date_format",
    help="The layout of dates in a text file, such as '%d.%m.%Y %H:%M'; ISO 8601 by default.",
    example="%d.%m.%Y",
    default=None,
    convert=_anything,
    annotation="str | None",
    metavar="FORMAT",
    label="Layout of dates",
)
ENCODING: Parameter[str] = Parameter(
    name="encoding",
    help="The encoding of a text file, such as windows-1252. Without it: UTF-8, and a field that "
    "is not UTF-8 is read as windows-1252.",
    doc='The encoding of the text: "utf-8", or an encoding with one byte per character, such as '
    '"windows-1252" or "iso-8859-2". With "utf-8", a field that is not valid UTF-8 is read as '
    "windows-1252.",
    rule="utf-8 or an encoding with one byte per character",
    example="windows-1252",
    default=DEFAULT_ENCODING,
    convert=_encoding,
    annotation="str",
    metavar="NAME",
    label="Encoding",
)
SKIP_ROWS: Parameter[int] = Parameter(
    name="skip_rows",
    help="The number of lines to skip above the header of a text file or sheet.",
    doc="The number of lines (in Excel, rows) to skip above the header, such as titles. The next "
    "line has the column names.",
    rule=f"a whole number from 0 to {MAX_SKIPPED_ROWS}",
    example=2,
    default=0,
    convert=lambda value: _at_most_rows(_whole(0)(value)),
    annotation="int",
    kind="whole",
    metavar="ROWS",
    label="Lines above the header",
)
#: What a text file takes, in the order of signatures and help.
TEXT_FILE_OPTIONS: tuple[Parameter[Any], ...] = (
    *(TYPES, DECIMAL, THOUSANDS, DATE_FORMAT, ENCODING, SKIP_ROWS),
)
SQL: Parameter[Any] = Parameter(
    name="sql",
    help='A query over the data, such as "SELECT cost * 1.19 AS gross FROM data WHERE age >= 18"; '
    "with GROUP BY, which must list the column that identifies the person.",
    default=None,
    convert=_anything,
    annotation="str | None",
    metavar="SELECT",
)

# Parameters of single statistics. Those whose check builds a public set are with their statistic.

Q: Parameter[Fraction] = Parameter(
    name="q",
    help="The quantile, from 0 to 1. Repeat it for several quantiles, which share one epsilon.",
    doc="The quantile, from 0 (the minimum) to 1 (the maximum). At 0 and 1 the default mechanism "
    "aims at a record with a few others beyond it, so an answer beyond all records is rare.",
    rule="a number from 0 to 1",
    example=0.25,
    convert=_share(0, 1, closed=True),
    annotation="float",
    kind="number",
    flags=("-q",),
    metavar="SHARE",
    repeated=True,
    positional=True,
    label="quantiles",
)
QS: Parameter[tuple[Fraction, ...]] = Parameter(
    name="qs",
    help="The quantiles, each from 0 to 1.",
    doc="The quantiles: different numbers from 0 to 1, in any order.",
    rule="a list of at least one number from 0 to 1",
    example=[0.25, 0.5, 0.75],
    convert=_shares,
    annotation="Iterable[float]",
    kind="values",
    flags=("-q",),
    repeated=True,
    positional=True,
)
TRIM: Parameter[Fraction] = Parameter(
    name="trim",
    help="The share of records cut off at either end, below 0.5.",
    rule="a number above 0 and below 0.5",
    example=0.1,
    convert=_share(0, 0.5),
    annotation="float",
    kind="number",
    positional=True,
    label="share cut off at either end",
)
TOP_K: Parameter[int] = Parameter(
    name="k",
    help="The number of values to list: 1 or more.",
    rule="a whole number of 1 or more",
    example=5,
    convert=_whole(1),
    annotation="int",
    kind="whole",
    flags=("-k",),
    positional=True,
    label="number of values",
)
STAR_EDGES: Parameter[int] = Parameter(
    name="k",
    help="The number of edges of each star: 2 or more.",
    rule="a whole number of 2 or more",
    example=2,
    convert=_whole(2),
    annotation="int",
    kind="whole",
    flags=("-k",),
    positional=True,
)
NODES: Parameter[int] = Parameter(
    name="nodes",
    help="The public number of nodes, including those without edges.",
    doc="The public number of nodes, including those without edges. It sets the "
    "largest possible output. The guarantee holds even if the number is wrong.",
    rule="a whole number of 3 or more, known without the edges",
    example=1000,
    convert=_whole(3),
    annotation="int",
    kind="whole",
)
NONNEGATIVE: Parameter[bool] = Parameter(
    name="nonnegative",
    help="Report negative noisy counts as 0.",
    rule="True or False",
    example=False,
    default=True,
    convert=_flag,
    annotation="bool",
    kind="flag",
    flags=("--nonnegative/--negative",),
)
ADDS_UP: Parameter[bool] = Parameter(
    name="adds_up",
    help="Report counts of at least 0 that add up to the same total as the noisy counts.",
    doc="True: replace the noisy counts by the nearest counts (least squares) that are at least 0 "
    "and have the same total.",
    rule="True or False",
    example=True,
    default=False,
    convert=_flag,
    annotation="bool",
    kind="flag",
)
ZERO_BELOW: Parameter[int | None] = Parameter(
    name="zero_below",
    help="Report noisy counts below this number as 0.",
    doc="Report noisy counts below this number as 0, at no cost. Intervals still belong to the "
    "noisy counts: that of a count reported as 0 begins at 0 and keeps its upper end.",
    rule="a whole number of 1 or more",
    example=10,
    default=None,
    convert=_whole(1),
    annotation="int | None",
    kind="whole",
    label="Zero below",
)
BAND_CONFIDENCE: Parameter[Fraction] = Parameter(
    name="confidence",
    help="The confidence of the band around the distribution.",
    doc="The confidence of the band: with at least this probability it contains the distribution "
    "function of the records at all values at once.",
    rule="a probability above 0 and at most 0.999",
    example=0.95,
    default=0.95,
    convert=lambda value: _at_most(Fraction(999, 1000), _fraction(0, 1)(value)),
    annotation="float",
    kind="number",
)
CONFIDENCE: Parameter[Decimal] = Parameter(
    name="confidence",
    help="The probability, at least, with which a bound holds.",
    rule="a probability between 0 and 1",
    example=0.95,
    convert=_decimal,
    annotation="float",
    kind="number",
)
X: Parameter[str | None] = Parameter(
    name="x",
    help="The column of x.",
    rule="the name of a column",
    example="age",
    default=None,
    convert=_name,
    metavar="COLUMN",
    positional=True,
)
Y: Parameter[str | None] = Parameter(
    name="y",
    help="The column of y.",
    rule="the name of a column",
    example="weight",
    default=None,
    convert=_name,
    metavar="COLUMN",
    positional=True,
)

# Tables and plans.

STATISTICS: Parameter[Any] = Parameter(
    name="statistics",
    help="The statistics of each column.",
    doc='The statistics of each column: `{"age": ["median", 0.9], "cost": "mean"}`. Each is the '
    "name of a statistic, a number from 0 to 1 for a quantile, or a mapping with `statistic` and "
    "its parameters, as in a plan. All quantiles of a column, including medians, are drawn "
    "together.",
    convert=_anything,
    annotation="Mapping[str, Any]",
    positional=True,
)
TOTAL: Parameter[bool] = Parameter(
    name="total",
    help="Also release totals: rows for all groups together.",
    doc="True: add a row for all groups together and, with two columns of groups, "
    "rows for each value of either column. Totals of counts, sums, histograms and shares are "
    "computed from the groups at no cost. Every other statistic is drawn again for the totals, and "
    "its share of epsilon is split evenly among the draws.",
    rule="True or False",
    example=True,
    default=False,
    convert=_flag,
    annotation="bool",
    kind="flag",
)
SMALLEST: Parameter[int | None] = Parameter(
    name="smallest",
    help="Mark groups with a smaller noisy count as too small.",
    doc="Mark groups with a smaller noisy count as `too_small`. None: mark groups that cannot be "
    "distinguished from empty ones.",
    rule="a whole number of 0 or more",
    example=20,
    default=None,
    convert=_whole(0),
    annotation="int | None",
    kind="whole",
)
WEIGHTS: Parameter[Any] = Parameter(
    name="weights",
    help="The weights by which epsilon is split among the releases.",
    doc='The weights by which epsilon is split among the releases: `{"age_median": 16}`. By '
    "default counts have 1, other numbers from one draw 4, and numbers from several draws 8: "
    "medians with intervals, summaries, standard deviations. All but the count are multiplied by "
    "`contributions`. Counts and sums of larger groups get a draw of their own if they are named: "
    '`{"count by chapter": 1}`.',
    default=None,
    convert=_anything,
    annotation="Mapping[str, Any] | None",
)


def _texts(value: object) -> dict[str, str] | None:
    """A mapping from text to text that is not empty."""
    if not isinstance(value, Mapping):
        return None
    good = all(isinstance(part, str) and part for pair in value.items() for part in pair)
    return dict(value) if good else None


def _labels(value: object) -> dict[str, Any] | None:
    """For each column a mapping from keys to text, or an object with `labels`."""
    if not isinstance(value, Mapping):
        return None
    for column, labels in value.items():
        listed = getattr(labels, "labels", labels)
        if not isinstance(column, str) or not isinstance(listed, Mapping):
            return None
        if not all(isinstance(label, str) and label for label in listed.values()):
            return None
    return dict(value)


NAMES: Parameter[dict[str, str] | None] = Parameter(
    name="names",
    help="Names of columns for readers.",
    doc='Names of columns for readers: `{"age_median": "Median age", "count": "People"}`. Also '
    'new names for `too_small`, the columns of groups, and the words "all", "to" and "too few to '
    'tell". All outputs but JSON use them. `{"1,234.5": "1.234,5"}` sets the marks of numbers in '
    "text, Markdown, LaTeX and HTML; CSV has its own `decimal`.",
    rule="a mapping from columns of the table to other names",
    example={"age_median": "Median age"},
    default=None,
    convert=_texts,
    annotation="Mapping[str, str] | None",
)
LABELS: Parameter[dict[str, Any] | None] = Parameter(
    name="labels",
    help="Labels of keys for readers.",
    doc='Labels of keys for readers, by column: `{"sex": {"F": "women"}}`. A `CodeBook` can '
    "replace the inner mapping.",
    rule="a mapping from columns of by to labels of their keys: mappings or a CodeBook",
    example={"sex": {"F": "women", "M": "men"}},
    default=None,
    convert=_labels,
    annotation="Mapping[str, Any] | None",
)
SHOWN_IN: Parameter[dict[str, str] | None] = Parameter(
    name="shown_in",
    help="Units of measurement to print after numbers; % shows a share in percent.",
    doc="Units of measurement to print after numbers, for columns of the table or of the data: "
    '`{"stay": "days"}`. "%" shows a share in percent.',
    rule="a mapping from columns to units",
    example={"stay": "days"},
    default=None,
    convert=_texts,
    annotation="Mapping[str, str] | None",
)
GROUP_SIZE: Parameter[int] = Parameter(
    name="group_size",
    help="The number of records in the smallest group that must be accurate.",
    rule="a whole number of 1 or more",
    example=200,
    convert=_whole(1),
    annotation="int",
    kind="whole",
)
WEIGHT: Parameter[Fraction] = Parameter(
    name="weight",
    help="The weight by which epsilon is split among the releases.",
    rule="a finite number above 0",
    example=1,
    default=1,
    convert=_fraction(0, math.inf),
    annotation="float",
    kind="number",
)
SAMPLE_SIZE: Parameter[Any] = Parameter(
    name="n",
    help="The number of records, with the name of a distribution.",
    example=1000,
    default=None,
    convert=_anything,
    annotation="int | None",
    kind="whole",
)
HALF_BETWEEN: Parameter[Any] = Parameter(
    name="half_between",
    help="Two values that enclose half of the records, with the name of a distribution.",
    example=(20, 45),
    default=None,
    convert=_anything,
    annotation="tuple[float, float] | None",
    kind="pair",
    metavar="LOW HIGH",
)
DRAWS: Parameter[Any] = Parameter(
    name="draws",
    help="The number of releases to simulate if no formula gives the error.",
    example=500,
    default=500,
    convert=_anything,
    annotation="int",
    kind="whole",
)
DELTA: Parameter[Fraction] = Parameter(
    name="delta",
    help="The delta of baselines that need one.",
    rule="a number from 0 to below 1",
    example=0,
    convert=lambda value: None if value == 1 else _fraction(0, 1, closed=True)(value),
    annotation="float",
    kind="number",
)


def _of_columns(parameter: Parameter[Any], doc: str) -> Parameter[Any]:
    """A parameter of releases as tables take it, one value for each column."""
    return replace(parameter, annotation="Mapping[str, Any] | None", doc=doc)


#: What every release of records takes, in the order of signatures and help.
ROW_OPTIONS: tuple[Parameter[Any], ...] = (
    *(COLUMN, BY, KEYS, OTHER, FINDING, WHERE, UNIT, CONTRIBUTIONS, GROUPS_PER_PERSON),
    SUPPRESS_BELOW,
)
INTERVAL_OPTIONS: tuple[Parameter[Any], ...] = (INTERVAL, COVERS, SIMULTANEOUS)
#: What a release in a plan may say for itself, beside the parameters of its statistic.
RELEASE_OPTIONS: tuple[Parameter[Any], ...] = (
    *(BOUNDS, DIGITS, STEP, CATEGORIES, *ROW_OPTIONS, LEVELS, MARGIN, *INTERVAL_OPTIONS),
    MECHANISM,
)

#: What a plan may say once for all of its releases.
PLAN_OPTIONS: tuple[Parameter[Any], ...] = (
    *(WHERE, UNIT, CONTRIBUTIONS, GROUPS_PER_PERSON, MECHANISM),
)
#: What a table takes. Bounds, step and categories are mappings from columns there.
TABLE_OPTIONS: tuple[Parameter[Any], ...] = (
    STATISTICS,
    EPSILON,
    _of_columns(
        BOUNDS,
        'Bounds by column: `{"age": (0, 120)}`. They are the smallest and the largest plausible '
        "value or a `Grid`, never taken from the data.",
    ),
    _of_columns(STEP, "Distance between possible outputs, by column."),
    _of_columns(
        CATEGORIES, "Public lists of possible values, by column, for modes and histograms."
    ),
    BY,
    KEYS,
    OTHER,
    LEVELS,
    TOTAL,
    WHERE,
    UNIT,
    replace(
        CONTRIBUTIONS,
        doc="The maximum number of rows used per person, chosen at random. The column `count` "
        "still counts each person once.",
    ),
    GROUPS_PER_PERSON,
    replace(
        INTERVAL,
        default=0.95,
        doc="The confidence of each interval. Counts, sums, means, shares, histograms, medians, "
        "single quantiles and interquartile ranges have intervals, and so have quantiles that are "
        "listed with a median. Several quantiles without a median, and summaries, have intervals "
        "only if their own mapping has `interval`. None: no intervals, and smaller errors of "
        "medians, quantiles and interquartile ranges.",
    ),
    replace(
        COVERS,
        doc='The target of intervals. "data": the exact answer for the records (with `unit`, for '
        'the rows chosen at random). "population": the answer for the population that they were '
        'sampled from independently. Intervals of counts and sums always cover "data".',
    ),
    replace(
        SIMULTANEOUS,
        doc="True: all intervals of the table hold at once with the confidence of `interval`, not "
        "only each individually. They are wider.",
    ),
    SMALLEST,
    replace(
        SUPPRESS_BELOW,
        doc="Like `smallest`; in addition, all numbers of such groups but the count are withheld.",
    ),
    WEIGHTS,
    replace(MECHANISM, doc='"best" or "duff" for all statistics that have both.'),
    NAMES,
    LABELS,
    SHOWN_IN,
)

_NAMED = [parameter for parameter in globals().values() if isinstance(parameter, Parameter)]
_ALIASES = {alias: parameter.name for parameter in _NAMED for alias in parameter.aliases}
_WITH_VALUE_ALIASES = {parameter.name: parameter for parameter in _NAMED if parameter.value_aliases}
_MAY_BE_ALIASED = frozenset((*_ALIASES, *_WITH_VALUE_ALIASES))


def documented_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options by the documented names of parameters and values, where an alias was typed."""
    if _MAY_BE_ALIASED.isdisjoint(options):
        return options
    documented: dict[str, Any] = {}
    for typed, value in options.items():
        name = _ALIASES.get(typed, typed)
        if name in documented:
            names = " and ".join(other for other in options if _ALIASES.get(other, other) == name)
            raise DuffError(f"{names} name the same parameter. Pass ", Argument(name), " alone.")
        parameter = _WITH_VALUE_ALIASES.get(name)
        documented[name] = value if parameter is None else parameter.documented_value(value)
    return documented


class Groups(NamedTuple):
    """Groups of rows: the columns that form them, and their public keys."""

    by: tuple[str, ...]
    keys: Sequence[tuple[Any, ...]]


class FoundKeys(NamedTuple):
    """Facts about found keys: the pattern or list of each column, the number of possible keys, the
    threshold of the noisy count, and the epsilon per row that paid for it.

    `counts`: whether the noisy counts that keys were found by are released beside values.
    """

    columns: tuple[Any, ...]
    size: int
    threshold: int
    row_epsilon: Fraction
    counts: bool


class Suppression(NamedTuple):
    """The rule that withholds values of groups with a small noisy size. The size is `own`, a number
    of the statistic itself, or is drawn beside it.
    """

    below: int
    own: str | None = None


class Interval(NamedTuple):
    """Promise of a confidence interval: its least probability, what it covers, and whether it holds
    for all intervals of a release together or for each individually.
    """

    confidence: Fraction
    covers: Covers
    simultaneous: bool = False


def read_interval(
    interval: object, covers: object, simultaneous: object = False
) -> Interval | None:
    """The interval that three parameters ask for; None for no interval."""
    target, together = COVERS.read(covers), SIMULTANEOUS.read(simultaneous)
    confidence = INTERVAL.read(interval)
    if confidence is not None:
        return Interval(confidence, target, together)
    fix = (" needs ", Argument("interval"), ". Pass for example ", Argument("interval", 0.95), ".")
    if together:
        raise DuffError(Argument("simultaneous", True), *fix)
    if target == "population":
        raise DuffError(Argument("covers", target), *fix)
    return None


def read_number(name: str, value: object, low: float, high: float, example: float) -> float:
    """A number strictly between two others, of a parameter that one class alone has."""
    number = plain_number(value)
    if number is None or not low < number < high:
        rule = (
            f"a finite number above {low:g}"
            if math.isinf(high)
            else f"a number between {low:g} and {high:g}"
        )
        raise DuffError.about(name, value, rule, example)
    return float(number)
