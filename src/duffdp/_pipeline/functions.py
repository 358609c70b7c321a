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
    '"best": signed distance on a lattice or, with more than 2**20 candidates or a small epsilon, '
    'with permute-and-flip. "duff": the paper\'s distance with the exponential mechanism.'
)
SUM_STEP = (
    "What records are rounded to and, if it is given, a mean as well. None: 1 for integer types, a "
    "day for dates, else about 2**40 steps between the bounds. A mean that is drawn from "
    "candidates has a power of ten with at least 10**9 steps."
)
CLAMPED = (
    '"best": from sums of records that are clamped to a private interval. "duff": the paper\'s '
    "exponential mechanism by distance, in one draw: for bounds that are no wider than the data."
)
GRAPHS = (
    '"best": piecewise Laplace noise. "duff": the ladder with the exponential mechanism, the lower '
    "bound of the paper's distance."
)
COUNTED = DATA.doc.replace("dropped, others clamped to the bounds", "dropped, one by one")
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
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. Bounds, step and the type of the column are public.

    Utility
    -------
    Errs by about 1/epsilon ranks. The median is the value with rank ceil(n / 2): of an even number
    of records the lower of the two in the middle, where numpy takes their mean.

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
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. Bounds, step, q and the type of the column are public. With q from .9 on, or up to .02,
    a twentieth of epsilon goes to the number of records. Where few of them lie beyond the quantile,
    up to two fifths go to a range that holds nearly all of them; the rest goes to the quantile.

    Utility
    -------
    Errs by about 2 max(q, 1-q) / epsilon ranks. An even number of records has its lower median.

    Runtime
    -------
    One pass over the data and a small sort; up to three for q from .9 on, or up to .02.

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
        '"best": all at once by the joint exponential mechanism. "duff": one release each of '
        "the paper's mechanism with epsilon / len(qs), sorted."
    ),
)
def quantiles(data: Any, **options: Any) -> Release:
    """Several private quantiles for one epsilon, in order.

    Returns
    -------
    Release
        `value` is a list, one value for each of the sorted qs; with `by` a frame, keys and a column
        for each q.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. Bounds, step, qs and the type of the column are public.

    Utility
    -------
    Deciles err by about 3.5 / epsilon ranks each; with nine releases at epsilon / 9 it would be ten
    times that.

    Runtime
    -------
    One pass over the data, and forward passes over windows around the ranks whose length does not
    depend on the data.

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
    step=SUM_STEP,
    mechanism=(
        '"best": two soft counts with staircase noise. "clipped": for wide bounds, within a '
        'private interval; biased where records beyond it matter. "distance": the dataset '
        'distance with permute-and-flip. "duff": with the exponential mechanism.'
    ),
)
def mean(data: Any, **options: Any) -> Release:
    """A private mean of the clamped records.

    Returns
    -------
    Release
        `value` is a number between the bounds, for whole records too; with a `step`, for dates and
        by "distance" and "duff" it is a candidate of the grid.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. The number of records is private too. "clipped" spends a twentieth of
    epsilon on their number, a fifth on an interval, a twentieth on a rough mean and the rest on the
    sum around it; what few records do not need goes to soft counts.

    Utility
    -------
    "best" errs by 0.75 to 1 (upper - lower) / (epsilon n) for n records, a third less at epsilon 5;
    tight bounds help. "clipped" errs by a few times the spread of the records over epsilon n,
    almost whatever the bounds are, but a heavy tail is cut: its mean comes out too small, and more
    records help less than they should. "distance" errs by 1 to 2 (upper - lower) / (epsilon n).

    Runtime
    -------
    One pass over the data, three for "clipped"; for all groups of a table that stays where it is
    one query, and for "clipped" a few.

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
        '"best": staircase noise for the bounds. "clipped": for wide bounds, within a private '
        "range; biased where records beyond it matter."
    ),
)
def sum(data: Any, **options: Any) -> Release:
    """A private sum of the clamped records.

    Returns
    -------
    Release
        `value` is a whole number if bounds and step are, else a double or a decimal as they are.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. Staircase noise, exact: in whole multiples of the largest number of which both bounds
    and the step are multiples. "clipped" spends a twentieth of epsilon on the number of records, a
    fifth on a range that holds nearly all of them, and the rest on the sum of records that are
    clamped to it; with few records all but the twentieth goes to the sum within the bounds.

    Utility
    -------
    "best" errs by about max(|lower|, |upper|) / epsilon, whatever the number of records is: 4, 15
    and 59 % less at epsilon 1, 2 and 5. One record far from 0 weighs as much as the bound that is
    furthest from 0, so that bounds on both sides of 0 are as good as narrow ones on one side of it;
    of records in (990, 1000) rather ask for the mean and the count. "clipped" errs less where the
    bounds are far wider than the records, .4 times as much on average over 40 columns of 1,000
    records at epsilon 1. It errs more in tight bounds, 1.3 times and more, and cuts heavy tails.

    Runtime
    -------
    One pass over the data, three for "clipped"; one query of a table that stays where it is, and a
    few for "clipped".

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

    Records outside of the bounds count as the nearest bound. The squares are divided by the number
    of records (`ddof=0` in numpy), and the variance of no record is 0.

    Returns
    -------
    Release
        `value` is a number of 0 or more. Bounds that are dates are refused: ask for `std`.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. A twelfth of epsilon goes to the number of records, a quarter to an interval that holds
    nearly all of them, a twenty-fourth to a rough mean, the rest to sums of squares around it,
    clamped to that interval; with few records all but the twelfth goes to sums within the bounds.
    Bounds and step are public.

    Utility
    -------
    Wide bounds cost little. Records outside of the interval, a few / epsilon of them, count as its
    nearest end: heavy tails come out smaller than they are. With fewer than about 70 / epsilon
    records the interval is the bounds, and where these are wide the error is large.

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

    Records outside of the bounds count as the nearest bound. The squares are divided by the number
    of records (`ddof=0` in numpy), and the standard deviation of no record is 0.

    Returns
    -------
    Release
        `value` is a number of 0 or more, a `timedelta` for dates and times.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. A twelfth of epsilon goes to the number of records, a quarter to an interval that holds
    nearly all of them, a twenty-fourth to a rough mean, the rest to sums of squares around it,
    clamped to that interval; with few records all but the twelfth goes to sums within the bounds.
    Bounds and step are public.

    Utility
    -------
    Wide bounds cost little. Records outside of the interval, a few / epsilon of them, count as its
    nearest end: heavy tails come out smaller than they are. With fewer than about 70 / epsilon
    records the interval is the bounds, and where these are wide the error is large.

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
        '"best": permute-and-flip. "duff": the paper\'s exponential mechanism. Both by the '
        "distance."
    ),
)
def iqr(data: Any, **options: Any) -> Release:
    """A private interquartile range: the third quartile minus the first, in one draw.

    The quartiles are those of `quantile`: with n records those of rank ceil(n / 4) and
    ceil(3 n / 4).

    Returns
    -------
    Release
        `value` is a number of 0 or more in the kind of the bounds, a `timedelta` for dates and
        times.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. Bounds and step are public.

    Utility
    -------
    Off by the width of about 2 / epsilon records at the quartiles, whatever the bounds are.

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
    mechanism='"best": the distance with permute-and-flip. "duff": with the exponential mechanism.',
)
def trimmed_mean(data: Any, **options: Any) -> Release:
    """A private mean of the clamped records without the lowest and the highest ones.

    Returns
    -------
    Release
        `value` is a number between the bounds; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. The number of records is private too.

    Utility
    -------
    Wide bounds cost little, for single records at the ends play no part. Skewed records are biased:
    it is another number than their mean.

    Runtime
    -------
    One counting pass that brings back every distinct value.

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
    """A private summary for one epsilon: the number of records, their mean, the quartiles, and
    quantiles near both ends.

    Returns
    -------
    Release
        `value` is a dictionary with "count", "mean", "1%", "25%", "50%", "75%" and "99%"; with `by`
        a frame with these columns. With `Digits`, between which there are no lengths, there is no
        mean.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. A fifth of epsilon goes to one draw that tells the count (no less than 0) and the mean
    (staircase noise on how far all records together are from either bound), the rest to the
    quantiles together. The minimum and maximum are single records and can not be had
    privately with any precision: 1 % and 99 % stand for them.

    Utility
    -------
    The count errs by about 7.5 / epsilon, the mean by about 5 (upper - lower) / (epsilon n), the
    quantiles by about 3 / epsilon ranks.

    Runtime
    -------
    As `quantiles`.

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

    Without a `unit` it is the number of rows: all rows of a table, whatever is in them, or with a
    `column` those where it is not missing. With a `unit` it is the number of people: each counts
    once, over all groups together, in that of one of their rows. With `contributions=m` above 1 it
    is the number of their rows, of which m a person count at most.

    Returns
    -------
    Release
        `value` is a whole number of 0 or more: negative noisy counts are reported as 0.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`.

    Utility
    -------
    Errs by about 1 / epsilon, whatever the number is; with `contributions` m times that.

    Runtime
    -------
    One pass over the data; one query of a table that stays where it is.

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
    """A private share of the records that are among some values, or lie between two ends.

    Returns
    -------
    Release
        `value` is a number from 0 to 1.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. The number of records is private too. A record is inside or outside, so that both counts
    together move by 1 and each gets noise at the whole epsilon; the share is made of these.

    Utility
    -------
    Errs by about 0.75 to 1 / (epsilon n) for n records. Where the noise leaves none, it is 0.5.

    Runtime
    -------
    One pass over the data; one query of a table that stays where it is.

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
    categories="The values that are counted, public. Records with another value are dropped.",
)
def histogram(data: Any, **options: Any) -> Release:
    """Private counts of records in public bins or categories, one epsilon for all of them.

    Returns
    -------
    Release
        `value` is a dictionary from the label of a cell, such as "[0, 18)", to its count; with
        groups a column a cell.

    Privacy
    -------
    Pure epsilon-differential privacy for all cells together; neighbours differ by one record, or by
    one person with `unit`. One record is in one cell at most, so that each count gets noise at the
    whole epsilon.

    Utility
    -------
    Each count errs by about 1 / epsilon, however many cells there are.

    Runtime
    -------
    One pass over the data; one query of a table that stays where it is.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006), example 1; Hay, Rastogi, Miklau and Suciu, "Boosting the accuracy of differentially
    private histograms through consistency" (VLDB 2010); `docs/explanation/statistics.md`, "Counts
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
        "The public list of possible values; records with another value are dropped. Or else "
        "`bounds`."
    ),
    mechanism=(
        '"best": permute-and-flip with the full epsilon. "duff": the paper\'s exponential '
        "mechanism with epsilon/2."
    ),
)
def mode(data: Any, **options: Any) -> Release:
    """A private most common value.

    Returns
    -------
    Release
        `value` is a category, or a candidate between the bounds; with `by` a frame of keys
        and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. The categories are public.

    Utility
    -------
    The mode wins unless another value is within a few 1/epsilon records of it.

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
        "The possible values, public. Records with another value are dropped. Either this or "
        "`bounds`."
    ),
)
def top(data: Any, **options: Any) -> Release:
    """The private order of the k most common values.

    Returns
    -------
    Release
        `value` is a list of k different values, the most common one first.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. All counts get noise for one epsilon, and their order costs no more.

    Utility
    -------
    Two values whose counts are g apart change places with a probability of about
    (2 + epsilon g) / 4 exp(-epsilon g), whatever k is; for k = 1 it is the mode. Drawing one place
    after another divides epsilon by k and is right less often.

    Runtime
    -------
    One pass over the data, and noise for every possible value: at most 2**20 of them.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis"
    (TCC 2006); Gillenwater, Joseph, Munoz Medina and Ribero, "A joint exponential mechanism for
    differentially private top-k" (ICML 2022); `docs/explanation/statistics.md`, "The most common
    values".

    Examples
    --------
    >>> import duffdp
    >>> visits = ["north"] * 300 + ["south"] * 500 + ["east"] * 100
    >>> duffdp.top(visits, 2, categories=["north", "south", "east"], epsilon=1.0, rng=1).value
    ['south', 'north']
    """
    return run_options("top", data, options)


@documented(DATA, *release_parameters(statistic_spec("distribution")), MECHANISM)
def distribution(data: Any, **options: Any) -> Release:
    """A private distribution: all quantiles and shares, with a band around them.

    Returns
    -------
    Release
        `value` is a `Distribution`; with groups a dictionary of them, by key.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record, or by one person with
    `unit`. The number of records is private too. Up to 513 candidates are all counted, with noise
    at the whole epsilon; of more of them, cells are counted in four stages, the cells of each
    chosen by the noisy counts of the one before, and the shares of epsilon add up. Whatever is
    asked of the distribution costs nothing.

    Utility
    -------
    For 1,000 records at epsilon 1 the largest error of a share is about 0.02, half of what sampling
    errs by; `docs/explanation/distribution.md` has the table.

    Runtime
    -------
    Four passes over the data, one for few candidates; as many queries of a table that stays where
    it is, and three more for each group.

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
        "The same beside x. A record counts if both of its numbers are there. They need no "
        "bounds; numbers beyond 2**300 count as that."
    ),
    step="Distance between possible slopes. None: about 2**40 candidates.",
    mechanism=(
        '"best": permute-and-flip, with the distance in sixteenths of a record. "duff": the '
        "paper's exponential mechanism, with the distance in whole records."
    ),
)
def slope(x: Any, y: Any, data: Any = None, **options: Any) -> Release:
    """A private slope of y over x: by how much y rises where x rises by one.

    It is that of Theil and Sen, the median of the slopes of all pairs of records that differ in x:
    up to 29 % of the records may be anything without much effect on it.

    Returns
    -------
    Release
        `value` is a number between the bounds; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy; neighbours differ by one record (a pair), or by one person
    with `unit`. The bounds of the slope are public; how many records there are is private.

    Utility
    -------
    The answer is the slope of data that differ from these in a few 1/epsilon records: it errs by
    about 1 / (f n epsilon), where f is the density of the slopes of pairs at their median.

    Runtime
    -------
    The numbers of all records come back from an engine, 16 bytes each: for up to about a million.
    About 100 n / epsilon of the pairs of records are listed, in pieces: a few seconds for 100,000
    records at epsilon 1.

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
            "x and y are two arrays, or the names of two columns of data. Pass for example "
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
    Pure epsilon-differential privacy for one edge: neighbouring graphs differ in one edge,
    whichever nodes it joins. A person with all their edges is not protected.

    Utility
    -------
    Errs by about 1.2 a / epsilon, with a the most common neighbours of any two nodes; the ladder by
    2 a / epsilon.

    Runtime
    -------
    The sum of squared degrees at worst, much less where degrees vary. Needs scipy.

    References
    ----------
    Zhang et al., "Private release of graph statistics using ladder functions" (SIGMOD 2015).
    Gillenwater and Munoz Medina, "Duff" (NeurIPS 2020), section 7: the open question.
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
    """A private number of k-stars of a graph: a node with k of its neighbours.

    Returns
    -------
    Release
        `value` is a whole number of 0 or more.

    Privacy
    -------
    Pure epsilon-differential privacy for one edge, whichever nodes it joins; `nodes` is public.

    Utility
    -------
    Errs by about `2.4 C(d, k-1) / epsilon` for the largest degree d.

    Runtime
    -------
    Linear in the edges. Needs scipy.

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
    categories="The public list of possible values, in place of `bounds`.",
    mechanism='"best": permute-and-flip. "duff": the exponential mechanism.',
)
def release(statistic: Any, data: Any, **options: Any) -> Release:
    """A private release of any statistic, with groups, people and a ledger.

    Returns
    -------
    Release
        `value` is one of the candidates; with `by` a frame of keys and values.

    Privacy
    -------
    Pure epsilon-differential privacy, if the statistic keeps its promise: when one record joins or
    leaves, `max(change) - min(change)` of its distances, times `unit`, is at most 1 / `rate`.
    `duffdp.testing.check_statistic` searches for a counterexample.

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
