"""The public functions: one for each statistic, and `release` for any other.

A function here is its documentation and one call. Signatures and the Parameters section come from
the `Parameter` objects; run `python tools/stubs.py` after a change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duffdp._parameters import (
    BOUNDS,
    CATEGORIES,
    DATA,
    EDGES,
    EPSILON,
    LEDGER,
    MECHANISM,
    RNG,
    ROW_OPTIONS,
    STATISTIC,
    STEP,
)
from duffdp._pipeline.release import Release
from duffdp._pipeline.run import run_options
from duffdp._pipeline.signatures import documented, release_parameters
from duffdp.errors import DuffError
from duffdp.statistics.registry import statistic_spec

LATTICE = (
    '"best" (the default): the signed distance of `duffdp.statistics.Quantile` with the lattice '
    "mechanism, or with permute-and-flip if there are more than 2**20 possible outputs or the "
    'draw has an epsilon below 1/4. "duff": the paper\'s distance with the exponential mechanism.'
)
SUM_STEP = (
    "The step to which records are rounded. If you pass it, the result is rounded to it as well. "
    "The default is 1 for integer columns, a day for dates, and otherwise about 2**40 steps "
    "between the bounds."
)
MEAN_STEP = (
    f'{SUM_STEP} With the mechanisms "distance" and "duff" the default is a power of ten that '
    "makes at least 10**9 steps."
)
CLAMPED = (
    '"best" (the default): several draws, from sums of records that are clamped to a private '
    'range. "duff": one draw by the paper\'s distance with the exponential mechanism; use it '
    "only if the bounds are no wider than the data."
)
GRAPHS = (
    '"best" (the default): piecewise Laplace noise. "duff": the exponential mechanism with the '
    "distances of a ladder (`duffdp.ladder`), which are lower bounds of the paper's."
)
COUNTED = DATA.doc.replace(
    "dropped, and values outside of the bounds count as the nearest bound", "dropped"
)
#: The table of two columns, which `slope` takes after the names of the columns.
PAIRS = replace(
    DATA,
    positional=False,
    default=None,
    doc="A frame (pandas, polars, pyarrow, DuckDB, Spark, dask, ibis) or the path of a file, "
    "folder or table, where x and y are the names of columns.",
)


@documented(DATA, *release_parameters(statistic_spec("median")), mechanism=LATTICE)
def median(data: Any, **options: Any) -> Release:
    """A private median of numbers, dates or times.

    Returns
    -------
    Release
        `value` is a number, or a date or time if the bounds are; with `by` a frame of keys
        and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with
    `unit`. Bounds, step and the type of the column are public.

    Utility
    -------
    The error is about 1 / epsilon ranks: in sorted order, about 1 / epsilon records lie between the
    released and the exact median. The median is the value with rank ceil(n / 2). For an even number
    of records it is the lower of the two in the middle, while numpy returns their mean.

    Runtime
    -------
    One pass over the data and a small sort.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1; McKenna and Sheldon (NeurIPS
    2020).

    Examples
    --------
    >>> import duffdp
    >>> ages = [31, 35, 38, 40, 41, 44, 52] * 100
    >>> duffdp.median(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value
    40
    """
    return run_options("median", data, options)


@documented(DATA, *release_parameters(statistic_spec("quantile")), mechanism=LATTICE)
def quantile(data: Any, **options: Any) -> Release:
    """A private quantile of numbers, dates or times: the value with rank max(1, ceil(q n)).

    Returns
    -------
    Release
        `value` is a number, or a date or time if the bounds are; with `by` a frame of keys
        and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with
    `unit`. Bounds, step, q and the type of the column are public. If q is at least 0.9 or at most
    0.02, a twentieth of epsilon goes to the number of records. If few of them are beyond the
    quantile, up to two fifths go to a range that contains nearly all records. The rest goes to the
    quantile.

    Utility
    -------
    The error is about 2 max(q, 1-q) / epsilon ranks. With q = 0.5 and an even number of records,
    the target is the lower median.

    Runtime
    -------
    One pass over the data and a small sort; up to three passes if q is at least 0.9 or at most
    0.02.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1;
    `docs/explanation/statistics.md`, "Quantiles".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.quantile(range(1000), 0.9, epsilon=1.0, bounds=(0, 1000), step=10, rng=1).value
    900
    """
    return run_options("quantile", data, options)


@documented(
    DATA,
    *release_parameters(statistic_spec("quantiles")),
    mechanism=(
        '"best" (the default): all at once by the joint exponential mechanism. "duff": each by '
        "the paper's mechanism with epsilon / len(qs), then sorted."
    ),
)
def quantiles(data: Any, **options: Any) -> Release:
    """Several private quantiles that share one epsilon, in rising order.

    Returns
    -------
    Release
        `value` is a list with one value for each of the sorted qs; with `by` a frame of keys and
        one column for each q.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with
    `unit`. Bounds, step, qs and the type of the column are public.

    Utility
    -------
    The error of each decile is about 3.5 / epsilon ranks. With nine separate releases at epsilon /
    9 it would be about four times as large (`python -m benchmarks.docstring_errors`).

    Runtime
    -------
    One pass over the data, and short passes over the values around the requested ranks.

    References
    ----------
    Gillenwater, Joseph and Kulesza, "Differentially private quantiles" (ICML 2021);
    `docs/explanation/several-quantiles.md`.

    Examples
    --------
    >>> import duffdp
    >>> given = {"epsilon": 2.0, "bounds": (0, 1000), "step": 10}
    >>> duffdp.quantiles(range(1000), [0.25, 0.5, 0.75], **given, rng=1).value
    [250, 500, 750]
    """
    return run_options("quantiles", data, options)


@documented(
    DATA,
    *release_parameters(statistic_spec("mean")),
    step=MEAN_STEP,
    mechanism=(
        '"best" (the default): sums of the distances to both bounds, with staircase noise. '
        '"clipped": for bounds that are much wider than the data; records are clamped to a private '
        "range, so the mean is biased if records far outside of it matter. "
        '"distance": one draw by the dataset distance, with permute-and-flip. "duff": the same '
        "with the exponential mechanism."
    ),
)
def mean(data: Any, **options: Any) -> Release:
    """A private mean of the clamped records.

    Returns
    -------
    Release
        `value` is a number between the bounds; with `by` a frame of keys and values. It is
        the lower bound plus a multiple of the step if you pass a `step`, for dates, and with the
        mechanisms "distance" and "duff".

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with `unit`.
    The number of records is private too. With "clipped", a twentieth of epsilon goes to their
    number, a fifth to a range that contains nearly all of them, and a twentieth to a rough mean.
    The rest goes to the sum of distances from this rough mean. With few records the other draws are
    skipped, and their shares go to the draw of "best".

    Utility
    -------
    The error of "best" is 0.75 to 1 times (upper - lower) / (epsilon n) for n records, and a third
    less at epsilon 5. Tight bounds reduce it. The error of "clipped" is about 4 to 40 times s /
    (epsilon n), where s is the standard deviation of the records. This was measured for at least
    1,000 / epsilon records near 50, in bounds from (0, 100) to (0, 10**6) (`python -m
    benchmarks.docstring_errors`).

    "clipped" cuts off heavy tails, which biases the mean towards the center, and more records
    reduce this bias only slowly. The error of "distance" is 1 to 2 times (upper - lower) / (epsilon
    n) up to epsilon 2.

    Runtime
    -------
    One pass over the data, three for "clipped". A table in a database or a lazy frame takes one
    query for all groups, and a few for "clipped".

    References
    ----------
    `docs/explanation/statistics.md`, "Mean by soft counts" and "Clipped mean". Geng, Kairouz, Oh
    and Viswanath, "The staircase mechanism in differential privacy" (2015). Gillenwater and Munoz
    Medina, "Duff" (NeurIPS 2020), section 4.1, for "duff".

    Examples
    --------
    >>> import duffdp
    >>> round(duffdp.mean([20, 30, 41] * 1000, epsilon=1.0, bounds=(0, 100), rng=1).value, 2)
    30.28
    """
    return run_options("mean", data, options)


@documented(
    DATA,
    *release_parameters(statistic_spec("sum")),
    step=SUM_STEP,
    mechanism=(
        '"best" (the default): staircase noise scaled to the larger bound. "clipped": for bounds '
        "that are much wider than the data; records are clamped to a private range, so the sum is "
        "biased if records far outside of it matter."
    ),
)
def sum(data: Any, **options: Any) -> Release:
    """A private sum of the clamped records.

    Returns
    -------
    Release
        `value` is a whole number if bounds and step are whole, a decimal if they are decimals, and
        otherwise a double; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with `unit`.
    The noise is drawn exactly, in whole multiples of the greatest common divisor of the bounds and
    the step. With "clipped", a twentieth of epsilon goes to the number of records, and a fifth to a
    range that contains nearly all of them. The rest goes to the sum of records clamped to this
    range. With few records, all but the twentieth goes to the sum within the bounds.

    Utility
    -------
    The error of "best" is about max(|lower|, |upper|) / epsilon for any number of records (4%, 15%
    and 59% less at epsilon 1, 2 and 5). It depends on the bound that is furthest from 0, so narrow
    bounds far from 0 do not reduce it. For records in (990, 1000), release the mean and the count
    instead. "clipped" has a smaller error if the bounds are much wider than the records: 0.4 times
    that of "best" on average over 40 columns of 1,000 records at epsilon 1. In tight bounds its
    error is at least 1.3 times as large. It also cuts off heavy tails.

    Runtime
    -------
    One pass over the data, three for "clipped". A table in a database or a lazy frame takes one
    query, and a few for "clipped".

    References
    ----------
    Geng and Viswanath, "The optimal noise-adding mechanism in differential privacy" (IEEE
    Transactions on Information Theory 62, 2016); `docs/explanation/statistics.md`, "Sum".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.sum([20, 30, 40] * 1000, epsilon=1.0, bounds=(0, 100), step=1, rng=1).value
    90011
    """
    return run_options("sum", data, options)


@documented(DATA, *release_parameters(statistic_spec("variance")), mechanism=CLAMPED)
def variance(data: Any, **options: Any) -> Release:
    """A private variance: the mean squared distance of the records from their mean.

    Records outside of the bounds count as the nearest bound. The sum of squares is divided by the
    number of records (`ddof=0` in numpy). Without records the variance is 0.

    Returns
    -------
    Release
        `value` is a number of at least 0; with `by` a frame of keys and values. Bounds that are
        dates are refused: use `std`.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with `unit`.
    A twelfth of epsilon goes to the number of records, a quarter to a range that contains nearly
    all of them, and a twenty-fourth to a rough mean. The rest goes to sums of squares around that
    mean, of records clamped to the range. With few records, all but the twelfth goes to sums within
    the bounds. Bounds and step are public.

    Utility
    -------
    Wide bounds cost little. A few / epsilon records are outside of the private range and count as
    its nearest end, so the spread of heavy tails is underestimated. With fewer than about 70 /
    epsilon records, the bounds are used instead of this range; if they are wide, the error is
    large.

    Runtime
    -------
    Three passes over the data, and no sort.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006). Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1: the distance.
    `docs/explanation/statistics.md`, "Variance".

    Examples
    --------
    >>> import duffdp
    >>> ages = [18, 25, 31, 38, 40, 41, 52, 70] * 500
    >>> round(duffdp.variance(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value)
    228
    """
    return run_options("variance", data, options)


@documented(DATA, *release_parameters(statistic_spec("std")), mechanism=CLAMPED)
def std(data: Any, **options: Any) -> Release:
    """A private standard deviation, the root of the variance.

    Records outside of the bounds count as the nearest bound. The sum of squares is divided by the
    number of records (`ddof=0` in numpy). Without records the standard deviation is 0.

    Returns
    -------
    Release
        `value` is a number of at least 0, or a `timedelta` for dates and times; with `by` a frame
        of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with `unit`.
    A twelfth of epsilon goes to the number of records, a quarter to a range that contains nearly
    all of them, and a twenty-fourth to a rough mean. The rest goes to sums of squares around that
    mean, of records clamped to the range. With few records, all but the twelfth goes to sums within
    the bounds. Bounds and step are public.

    Utility
    -------
    Wide bounds cost little. A few / epsilon records are outside of the private range and count as
    its nearest end, so the spread of heavy tails is underestimated. With fewer than about 70 /
    epsilon records, the bounds are used instead of this range; if they are wide, the error is
    large.

    Runtime
    -------
    Three passes over the data, and no sort.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006). Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1: the distance.
    `docs/explanation/statistics.md`, "Variance".

    Examples
    --------
    >>> import duffdp
    >>> ages = [18, 25, 31, 38, 40, 41, 52, 70] * 500
    >>> round(duffdp.std(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value, 1)
    15.1
    """
    return run_options("std", data, options)


@documented(
    DATA,
    *release_parameters(statistic_spec("iqr")),
    mechanism=(
        '"best" (the default): the dataset distance with permute-and-flip. "duff": the same '
        "distance with the exponential mechanism."
    ),
)
def iqr(data: Any, **options: Any) -> Release:
    """A private interquartile range: the third quartile minus the first, in one draw.

    The quartiles are those of `quantile`: the records of rank ceil(n / 4) and ceil(3 n / 4).

    Returns
    -------
    Release
        `value` is a number of at least 0, or a `timedelta` for dates and times; with `by` a frame
        of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with
    `unit`. Bounds and step are public.

    Utility
    -------
    The error is about the range of 1 / epsilon to 2 / epsilon neighboring records, near the
    quartile where records are sparser. With enough records it does not depend on the bounds.

    Runtime
    -------
    One pass over the data, and no sort.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1;
    `docs/explanation/statistics.md`, "Interquartile range".

    Examples
    --------
    >>> import duffdp
    >>> ages = [18, 25, 31, 38, 40, 41, 52, 70] * 500
    >>> duffdp.iqr(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value
    16
    """
    return run_options("iqr", data, options)


@documented(
    DATA,
    *release_parameters(statistic_spec("trimmed_mean")),
    mechanism=(
        '"best" (the default): the dataset distance with permute-and-flip. "duff": the same '
        "distance with the exponential mechanism."
    ),
)
def trimmed_mean(data: Any, **options: Any) -> Release:
    """A private mean of the clamped records without the lowest and the highest ones.

    Returns
    -------
    Release
        `value` is a number between the bounds; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with
    `unit`. The number of records is private too.

    Utility
    -------
    Wide bounds cost little, because the values of records that are cut off have no effect. The
    trimmed mean of skewed data differs from its mean.

    Runtime
    -------
    One counting pass, which loads every distinct value into memory.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1;
    `docs/explanation/statistics.md`, "Trimmed mean".

    Examples
    --------
    >>> import duffdp
    >>> ages = [20, 30, 40] * 1000
    >>> duffdp.trimmed_mean(ages, 0.1, epsilon=1.0, bounds=(0, 1000), step=1, rng=1).value
    30
    """
    return run_options("trimmed_mean", data, options)


@documented(DATA, *release_parameters(statistic_spec("describe")))
def describe(data: Any, **options: Any) -> Release:
    """A private summary: count, mean, quartiles and quantiles near both ends, for one epsilon.

    Returns
    -------
    Release
        `value` is a dictionary with "count", "mean", "1%", "25%", "50%", "75%" and "99%"; with `by`
        a frame with these columns. With `Digits` there is no mean.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with
    `unit`. A fifth of epsilon goes to the count and the mean, in one draw with staircase noise. The
    rest goes to all quantiles together. The minimum and maximum are single records and cannot be
    released accurately, so the 1% and 99% quantiles replace them.

    Utility
    -------
    The error of the count is about 7.5 / epsilon, and that of the quantiles about 3 / epsilon
    ranks. The error of the mean is 4 to 5 times (upper - lower) / (epsilon n).

    Runtime
    -------
    The same as for `quantiles`.

    References
    ----------
    Geng and Viswanath, "The optimal noise-adding mechanism in differential privacy" (IEEE
    Transactions on Information Theory 62, 2016): staircase noise. Gillenwater, Joseph and Kulesza
    (ICML 2021). `docs/explanation/statistics.md`, "Mean by soft counts".

    Examples
    --------
    >>> import duffdp
    >>> release = duffdp.describe(range(10000), epsilon=1.0, bounds=(0, 10000), step=100, rng=1)
    >>> {name: round(number) for name, number in release.value.items()}
    {'count': 10009, 'mean': 4993, '1%': 100, '25%': 2500, '50%': 5000, '75%': 7500, '99%': 9900}
    """
    return run_options("describe", data, options)


@documented(DATA, *release_parameters(statistic_spec("count")), data=COUNTED)
def count(data: Any, **options: Any) -> Release:
    """A private number of rows or of people.

    Without a `unit`, this is the number of rows: all rows of a table or, with a `column`, the rows
    in which it is not missing. With a `unit`, it is the number of people: each person counts once
    over all groups together, in the group of one of their rows, chosen at random. With
    `contributions=m` above 1, it is the number of rows, with at most m per person.

    Returns
    -------
    Release
        `value` is a whole number of at least 0 (negative noisy counts are reported as 0); with `by`
        a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with
    `unit`.

    Utility
    -------
    The error is about 1 / epsilon for any number of rows, and m times that with `contributions=m`.

    Runtime
    -------
    One pass over the data; one query of a table in a database or a lazy frame.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms" (STOC
    2009); `docs/explanation/statistics.md`, "Counts in cells".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.count([31, 35, None, 40] * 1000, epsilon=1.0, rng=1).value
    3000
    """
    return run_options("count", data, options)


@documented(DATA, *release_parameters(statistic_spec("share")), data=COUNTED)
def share(data: Any, **options: Any) -> Release:
    """A private share: the proportion of records with certain values, or within a range.

    Returns
    -------
    Release
        `value` is a number from 0 to 1; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with
    `unit`. The number of records is private too. A record is inside or outside, so it changes only
    one of two counts, and each count gets noise at the whole epsilon. The share is computed from
    both noisy counts.

    Utility
    -------
    The error is about 0.65 / (epsilon n) to 1 / (epsilon n) for n records up to epsilon 1, and
    smaller above. If the noisy total is not above 0, the share is 0.5.

    Runtime
    -------
    One pass over the data; one query of a table in a database or a lazy frame.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006); `docs/explanation/statistics.md`, "Counts in cells".

    Examples
    --------
    >>> import duffdp
    >>> ages = [12, 31, 35, 40] * 1000
    >>> round(duffdp.share(ages, between=(0, 17), epsilon=1.0, rng=1).value, 3)
    0.25
    """
    return run_options("share", data, options)


@documented(
    DATA,
    *release_parameters(statistic_spec("histogram")),
    data=COUNTED,
    categories=(
        "The public list of values to count, or a `Pattern` with at most 65,536 of them. Records "
        "with other values are dropped."
    ),
)
def histogram(data: Any, **options: Any) -> Release:
    """Private counts of records in public bins or categories, which share one epsilon.

    Returns
    -------
    Release
        `value` is a dictionary from the label of a bin or category, such as "[0, 18)", to its
        count; with groups a frame with one column for each.

    Privacy
    -------
    Pure epsilon-differential privacy for all counts together; neighbors differ by one record, or by
    one person with `unit`. One record is in at most one bin or category, so each count gets noise
    at the whole epsilon.

    Utility
    -------
    The error of each count is about 1 / epsilon, for any number of cells.

    Runtime
    -------
    One pass over the data; one query of a table in a database or a lazy frame.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1. Hay, Rastogi, Miklau and Suciu, "Boosting the accuracy of differentially
    private histograms through consistency" (VLDB 2010). `docs/explanation/statistics.md`, "Counts
    in cells".

    Examples
    --------
    >>> import duffdp
    >>> duffdp.histogram([3, 17, 30, 64, 65] * 100, bins=[0, 18, 65, 120], epsilon=1.0, rng=1).value
    {'[0, 18)': 200, '[18, 65)': 197, '[65, 120]': 100}
    """
    return run_options("histogram", data, options)


@documented(
    DATA,
    *release_parameters(statistic_spec("mode")),
    categories=(
        "The public list of possible values, or a `Pattern` with at most 65,536 of them; records "
        "with other values are dropped. Or pass `bounds`."
    ),
    mechanism=(
        '"best" (the default): permute-and-flip with the full epsilon. "duff": the exponential '
        "mechanism with epsilon/2, as in the paper."
    ),
)
def mode(data: Any, **options: Any) -> Release:
    """The most common value, released privately.

    Returns
    -------
    Release
        `value` is a category, or a value between the bounds; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with
    `unit`. The categories are public.

    Utility
    -------
    With a probability of at least 95%, the result is the mode if every other value has at least
    log(10 m) / epsilon fewer records, for m possible values.

    Runtime
    -------
    One counting pass.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 4.1;
    `docs/explanation/statistics.md`, "Mode".

    Examples
    --------
    >>> import duffdp
    >>> votes = ["yes"] * 60 + ["no"] * 40
    >>> duffdp.mode(votes, epsilon=1.0, categories=["yes", "no"], rng=1).value
    'yes'
    """
    return run_options("mode", data, options)


@documented(
    DATA,
    *release_parameters(statistic_spec("top")),
    categories=(
        "The public list of possible values, or a `Pattern` with at most 65,536 of them; records "
        "with other values are dropped. Or pass `bounds`."
    ),
)
def top(data: Any, **options: Any) -> Release:
    """The k most common values in order, released privately.

    Returns
    -------
    Release
        `value` is a list of k different values, the most common one first; with `by` a frame of
        keys and one column for each place.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with
    `unit`. All counts share one epsilon for their noise, and ordering them costs no more.

    Utility
    -------
    Two values whose counts differ by g are exchanged with a probability of about `(2 + epsilon g) /
    4 * exp(-epsilon g)`, for any k. For k = 1 this is the mode. Drawing one place after another
    would divide epsilon by k, so the order would be wrong more often.

    Runtime
    -------
    One pass over the data, and noise for every possible value: at most 2**20 of them.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006). Gillenwater, Joseph, Munoz Medina and Ribero, "A joint exponential mechanism for
    differentially private top-k" (ICML 2022). `docs/explanation/statistics.md`, "The most common
    values".

    Examples
    --------
    >>> import duffdp
    >>> visits = ["north"] * 300 + ["south"] * 500 + ["east"] * 100
    >>> duffdp.top(visits, 2, categories=["north", "south", "east"], epsilon=1.0, rng=1).value
    ['south', 'north']
    """
    return run_options("top", data, options)


@documented(
    DATA,
    *release_parameters(statistic_spec("distribution")),
    MECHANISM,
    mechanism='"best", the only mechanism of this statistic.',
)
def distribution(data: Any, **options: Any) -> Release:
    """A private distribution: all quantiles and cumulative shares, with a confidence band.

    Returns
    -------
    Release
        `value` is a `Distribution`; with groups a dictionary of them, by key.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record, or by one person with `unit`.
    The number of records is private too. Up to 513 possible values are counted individually, with
    noise at the whole epsilon. If there are more, they are grouped into cells: ranges of
    neighboring values. There are four stages, which share epsilon, and the noisy counts of one
    stage determine the cells of the next. Everything computed from the released distribution costs
    no epsilon.

    Utility
    -------
    For 1,000 records at epsilon 1 the largest error of a share is about 0.02. The 95% bound on the
    error of sampling alone is 0.043. `docs/explanation/distribution.md` has a table.

    Runtime
    -------
    Four passes over the data, or one for few possible values. A table in a database or a lazy frame
    takes as many queries, and three more for each group.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006); `docs/explanation/distribution.md`.

    Examples
    --------
    >>> import duffdp
    >>> ages = [18 + (7 * i * i) % 60 for i in range(5000)]
    >>> found = duffdp.distribution(ages, epsilon=1.0, bounds=(0, 120), step=1, rng=1).value
    >>> found.median, found.quantile(0.9), round(found.mean)
    (46, 70, 48)
    """
    return run_options("distribution", data, options)


@documented(
    *release_parameters(statistic_spec("slope")),
    PAIRS,
    x="An array, series or list of numbers; or the name of a column of `data`.",
    y=(
        "Like x, with as many entries. A record is used if both of its numbers are present. They "
        "need no bounds; numbers beyond 2**300 in size count as 2**300."
    ),
    bounds=(
        "The smallest and the largest plausible slope, `(lower, upper)`, from knowledge of the "
        "subject and not from the data; or a `Grid`."
    ),
    step="Distance between possible slopes. The default makes about 2**40 of them.",
    mechanism=(
        '"best" (the default): permute-and-flip; distances are multiples of 1/16 record. '
        '"duff": the exponential mechanism; distances are whole numbers.'
    ),
)
def slope(x: Any, y: Any, data: Any = None, **options: Any) -> Release:
    """A private slope of y over x: how much y rises per unit of x.

    This is the Theil-Sen slope: the median of the slopes of all pairs of records that differ in x.
    Up to 29% of the records may be arbitrary without much effect on it.

    Returns
    -------
    Release
        `value` is a number between the bounds; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbors differ by one record (a pair), or by one person
    with `unit`. The bounds of the slope are public. The number of records is private.

    Utility
    -------
    The result is the exact slope of some data set that differs from yours in a few / epsilon
    records. The error is about 2 / (f n epsilon), where f is the density of the slopes of pairs at
    their median.

    Runtime
    -------
    Both numbers of every record are loaded into memory, 16 bytes per record, so this is for up to
    about a million records. About 100 n / epsilon pairs of records are listed in pieces: a few
    seconds for 100,000 records at epsilon 1.

    References
    ----------
    Sen, "Estimates of the regression coefficient based on Kendall's tau" (JASA 1968); Alabi,
    McMillan, Sarathy, Smith and Vadhan, "Differentially private simple linear regression" (PETS
    2022); `docs/explanation/statistics.md`, "Slope".

    Examples
    --------
    >>> import duffdp
    >>> hours = [i % 40 for i in range(400)]
    >>> wages = [12 * hour + i % 7 for i, hour in enumerate(hours)]
    >>> duffdp.slope(hours, wages, epsilon=1.0, bounds=(0, 50), step=0.1, rng=1).value
    12.0
    """
    named = isinstance(x, str) and isinstance(y, str)
    if named == (data is None):
        raise DuffError(
            "x and y must be two arrays, or the names of two columns of data. Pass for example "
            'slope("height", "weight", data=people, ...).'
        )
    if named:
        return run_options("slope", data, {"x": x, "y": y, **options})
    return run_options("slope", (x, y), options)


@documented(EDGES, *release_parameters(statistic_spec("triangles")), mechanism=GRAPHS)
def triangles(edges: Any, **options: Any) -> Release:
    """A private number of triangles of a graph.

    Returns
    -------
    Release
        `value` is a whole number of 0 or more.

    Privacy
    -------
    Pure epsilon-differential privacy for one edge: neighboring graphs differ in one edge between
    any two nodes. A person with all their edges is not protected.

    Utility
    -------
    The error is about 1.2 a / epsilon, where a is the largest number of common neighbors of two
    nodes. For the ladder ("duff") it is 2 a / epsilon to 3 a / epsilon.

    Runtime
    -------
    The time grows at most with the sum of the squared degrees. Requires scipy.

    References
    ----------
    Zhang et al., "Private release of graph statistics using ladder functions" (SIGMOD 2015).
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 7: triangles as an open question.
    `docs/explanation/graphs.md`.

    Examples
    --------
    >>> import duffdp
    >>> friends = [(i, j) for i in range(40) for j in range(i) if (i * j) % 5 < 2]
    >>> duffdp.triangles(friends, epsilon=1.0, nodes=40, rng=1).value
    1885
    """
    return run_options("triangles", edges, options)


@documented(EDGES, *release_parameters(statistic_spec("stars")), mechanism=GRAPHS)
def stars(edges: Any, **options: Any) -> Release:
    """A private number of k-stars of a graph, where a k-star is a node with k of its neighbors.

    Returns
    -------
    Release
        `value` is a whole number of 0 or more.

    Privacy
    -------
    Pure epsilon-differential privacy for one edge between any two nodes; `nodes` is public.

    Utility
    -------
    The error is about `2.4 C(d, k-1) / epsilon` for the largest degree d.

    Runtime
    -------
    Linear in the number of edges. Requires scipy.

    References
    ----------
    Karwa et al., "Private analysis of graph structure" (VLDB 2011). Zhang et al. (SIGMOD 2015).
    `docs/explanation/graphs.md`.

    Examples
    --------
    >>> import duffdp
    >>> duffdp.stars([(0, i) for i in range(1, 30)], k=2, epsilon=1.0, nodes=30, rng=1).value
    297
    """
    return run_options("stars", edges, options)


@documented(
    STATISTIC,
    DATA,
    EPSILON,
    BOUNDS,
    STEP,
    CATEGORIES,
    *ROW_OPTIONS,
    MECHANISM,
    LEDGER,
    RNG,
    categories=(
        "The public list of possible values, or a `Pattern` with at most 65,536 of them; instead "
        "of `bounds`."
    ),
    mechanism='"best" (the default): permute-and-flip. "duff": the exponential mechanism.',
)
def release(statistic: Any, data: Any, **options: Any) -> Release:
    """A private release of any statistic, with groups, people and a ledger.

    Returns
    -------
    Release
        `value` is one of the possible outputs; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy, if the statistic keeps its promise: when one record is added
    or removed, `max(change) - min(change)` of its distances, times `StepFunction.unit`, is at most
    1 / `StepFunction.rate`. `duffdp.testing.check_statistic` searches for a counterexample.

    References
    ----------
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), definition 6;
    `docs/how-to/your-own-statistic.md`.

    Examples
    --------
    >>> import duffdp
    >>> third = duffdp.statistics.Quantile(0.75, utility="rank")
    >>> duffdp.release(third, range(1000), epsilon=5.0, bounds=(0, 1000), step=10, rng=1).value
    750
    """
    return run_options(statistic, data, options)
