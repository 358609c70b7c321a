"""Previews of all releases of a plan, and the shares of epsilon for wanted errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from duffdp._parameters import (
    BOUNDS,
    CATEGORIES,
    COVERS,
    EPSILON,
    GROUP_SIZE,
    INTERVAL,
    MARGIN,
    MECHANISM,
    STEP,
    plain_number,
)
from duffdp._pipeline.export import SimpleTable
from duffdp._pipeline.number_text import TOO_FEW
from duffdp._pipeline.request import CheckedRequest, ReleaseRequest
from duffdp._pipeline.toml import refuse_unknown
from duffdp._planning.epsilon import SIMULATED_RATIO, least_epsilon
from duffdp._planning.previews import MAX_TOO_FEW, SYNTHETIC, Preview, preview
from duffdp.errors import DuffError
from duffdp.statistics.registry import statistic_spec

_COLUMNS = ("release", "output", "epsilon", "mean error", "95% within", "interval width", "note")
_ROUND_UP_TO = 10**6  # parts of 1, for an epsilon that a wanted error needs


def preview_plan(
    releases: Iterable[CheckedRequest], group_size: object, shape: str, draws: int
) -> SimpleTable:
    """A row for every number of every release: its share of epsilon, and its expected errors."""
    size = GROUP_SIZE.read(group_size)
    rows: list[tuple[Any, ...]] = []
    for checked in releases:
        if checked.request[MARGIN] is None:
            rows += _rows(checked, size, shape, draws)
    caption = f"groups of {size} records, shape {shape!r}. {SYNTHETIC}"
    return SimpleTable(
        dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True)), caption
    )


def _rows(checked: CheckedRequest, size: int, shape: str, draws: int) -> list[tuple[Any, ...]]:
    request = checked.request
    name, epsilon = checked.title, float(request[EPSILON])
    try:
        result = _preview_release(request, size, shape, draws)
    except DuffError as error:  # texts, dates and graphs have no shape
        return [(name, None, epsilon, None, None, None, str(error))]
    rows = []
    for output in result.outputs:
        number, width, note = (request[MECHANISM], output), None, None
        if request[INTERVAL] is not None:
            is_small = result.too_few(*number) > MAX_TOO_FEW
            width, note = (None, TOO_FEW) if is_small else (result.expected_width(*number), None)
        within = result.error_within(request[MECHANISM], 0.95, output)
        rows.append((name, output, epsilon, result.expected_error(*number), within, width, note))
    return rows


def _preview_release(request: ReleaseRequest, size: int, shape: str, draws: int) -> Preview:
    """The preview of one release for so many records of a shape."""
    plan = request.check().plan
    names, options = statistic_spec(request.statistic).parameter_names, request.options
    return preview(
        shape,
        epsilon=plan.value_epsilon,
        statistic=request.statistic,
        bounds=request[BOUNDS],
        step=request[STEP],
        categories=request[CATEGORIES],
        contributions=plan.unit.rows,
        interval=request[INTERVAL],
        covers=request[COVERS],
        mechanisms=[request[MECHANISM]],
        group_size=size,
        data_sets=2,
        draws=draws,
        **{name: options[name] for name in names if options.get(name) is not None},
    )


def weights_for_errors(
    releases: Iterable[CheckedRequest],
    copies: Mapping[str, int],
    total: Fraction,
    errors: object,
    group_size: object,
    shape: str,
    draws: int,
) -> dict[str, Fraction]:
    """The share of the total epsilon of each release with its copies that keeps its mean error
    within its limit in a group of this size. The other releases share the rest as before.
    """
    size = GROUP_SIZE.read(group_size)
    requests = {
        entry.request.name: entry.request for entry in releases if entry.request[MARGIN] is None
    }
    if not isinstance(errors, Mapping) or not errors:
        raise DuffError(
            f"within must be a mapping from releases to mean errors, got {errors!r:.60}. Pass "
            f"for example {{{list(requests)[-1]!r}: 1}}."
        )
    refuse_unknown(errors, requests, "within")
    limits = {name: _read_error(name, error) for name, error in errors.items()}
    epsilons = {
        name: _needed_epsilon(requests[name], limit, size, shape, draws) * copies[name]
        for name, limit in limits.items()
    }
    other_shares = {
        n: entry[EPSILON] * copies[n] for n, entry in requests.items() if n not in epsilons
    }
    spent = sum(epsilons.values())
    if spent > total or (other_shares and spent == total):
        needs = ", ".join(f"{name} needs {float(e):.4g}" for name, e in epsilons.items())
        shortage = f" and leaves nothing for {', '.join(other_shares)}" if other_shares else ""
        raise DuffError(
            f"epsilon={float(total):g} is not enough for these errors in groups of {size} "
            f"records: {needs}, which is {float(spent):.4g} in all{shortage}. Pass a larger "
            "epsilon, larger errors or a larger group_size."
        )
    factor = (total - spent) / sum(other_shares.values()) if other_shares else Fraction(0)
    return epsilons | {name: share * factor for name, share in other_shares.items()}


def _needed_epsilon(
    request: ReleaseRequest, limit: float, size: int, shape: str, draws: int
) -> Fraction:
    """The least epsilon for which no number of a release has a larger mean error."""

    def is_too_small(epsilon: float) -> bool:
        result = _preview_release(request.replace(epsilon=epsilon), size, shape, draws)
        errors = (result.expected_error(request[MECHANISM], output) for output in result.outputs)
        return any(error > limit for error in errors)

    try:
        epsilon = least_epsilon(is_too_small, SIMULATED_RATIO)
    except DuffError as error:
        raise DuffError(f"{request.name}: {error}") from None
    if epsilon is None:
        raise DuffError(
            f"{request.name}: no epsilon up to a million brings its mean error to {limit:g}. Pass "
            "a larger error, a larger group_size or a smaller step."
        )
    return Fraction(math.ceil(epsilon * _ROUND_UP_TO), _ROUND_UP_TO)


def _read_error(name: str, error: object) -> float:
    number = plain_number(error)
    if number is None or not 0 < number < math.inf:
        raise DuffError(
            f"within of {name} must be a finite number above 0, got {error!r:.40}. It is the "
            "mean error that you accept, in the unit of the column."
        )
    return float(number)
