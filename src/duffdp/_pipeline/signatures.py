"""The parameters of a release, in the order of signatures and help: one rule for Python functions,
commands and plans.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from textwrap import fill
from typing import Any, TypeVar, cast

from duffdp._alternatives import parameter_hint
from duffdp._parameters import (
    BOUNDS,
    CATEGORIES,
    COLUMN,
    COVERS,
    DATA,
    DELTA,
    EPSILON,
    INTERVAL,
    LEDGER,
    MECHANISM,
    RNG,
    ROW_OPTIONS,
    SIMULTANEOUS,
    STEP,
    SUPPRESS_BELOW,
    TEXT_FILE_OPTIONS,
    Parameter,
    documented_options,
)
from duffdp.errors import PYTHON, UNSET
from duffdp.statistics.spec import StatisticSpec

_OF_FILES = [option.name for option in TEXT_FILE_OPTIONS]
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_KEYWORD = inspect.Parameter.KEYWORD_ONLY

#: The parameters that describe the public set of outputs, by the kind of set that a statistic has.
OUTPUT_OPTIONS: dict[str, tuple[Parameter[Any], ...]] = {
    "grid": (BOUNDS, STEP),
    "grid or categories": (CATEGORIES, BOUNDS, STEP),
    "own or categories": (CATEGORIES,),
    "own": (),
    "counts": (),
}


def release_parameters(spec: StatisticSpec) -> tuple[Parameter[Any], ...]:
    """The parameters of one statistic's release, beside its data."""
    draw = (*((MECHANISM,) if len(spec.choices) > 1 else ()), LEDGER, RNG)
    if spec.of_graphs:
        return (*spec.parameters, EPSILON, *draw)
    rows = [parameter for parameter in ROW_OPTIONS if parameter is not COLUMN or not spec.of_pairs]
    if spec.shape == "distribution":  # it has no number of a group to withhold
        rows.remove(SUPPRESS_BELOW)
        intervals: tuple[Parameter[Any], ...] = ()
    elif not spec.interval_choices:
        intervals = (INTERVAL,)  # its error says why there is none
    else:
        intervals = (INTERVAL, *((COVERS,) if spec.covers_population else ()), SIMULTANEOUS)
    return (
        *(parameter for parameter in spec.parameters if parameter.positional),
        EPSILON,
        *(parameter for parameter in spec.parameters if not parameter.positional),
        *OUTPUT_OPTIONS[spec.outputs],
        *rows,
        *intervals,
        *draw,
    )


def _paragraph(text: str) -> str:
    return fill(text, 92, initial_indent="    ", subsequent_indent="    ")


Function = TypeVar("Function", bound=Callable[..., Any])


def _refuse_unknown(function: str, options: Iterable[str], names: Sequence[str]) -> None:
    """Refuse an argument that the function does not have."""
    for name in options:
        if name not in names:
            hint = parameter_hint(name, names)
            if name == DELTA.name:
                hint = " All releases are pure epsilon-differentially private: leave delta out."
            if name in _OF_FILES:
                hint = f" It is about a text file: pass duffdp.TextFile(path, {name}=...) as data."
            raise TypeError(f"{function} got an unexpected keyword argument {name!r}.{hint}")


def _refuse_missing(
    function: str,
    parameters: Iterable[Parameter[Any]],
    leading: Sequence[str],
    options: Iterable[str],
) -> None:
    """Refuse a call without a required parameter."""
    for parameter in parameters:
        is_required = parameter.required and (not parameter.positional or parameter.name in leading)
        if is_required and parameter.name not in options:
            example = PYTHON.assignment(parameter.name, parameter.example)
            fix = "" if parameter.example is UNSET else f" Pass for example {example}."
            raise TypeError(f"{function} needs {parameter.name}.{fix}")


def takes_aliases(function: Function) -> Function:
    """Let a function take the aliases of its parameters too; its signature has their names."""

    name = function.__qualname__.removesuffix(".__init__")
    names = inspect.signature(function).parameters
    takes_more = any(one.kind is one.VAR_KEYWORD for one in names.values())

    @wraps(function)
    def call(*positional: Any, **options: Any) -> Any:
        options = dict(documented_options(options))
        if not takes_more:
            _refuse_unknown(name, options, list(names))
        return function(*positional, **options)

    return cast(Function, call)


def documented(*parameters: Parameter[Any], **docs: str) -> Callable[[Function], Function]:
    """Give a public function the signature and the documentation of its parameters.

    `docs` has the paragraphs of those that mean something else for this function. Type checkers
    and editors read the same from `functions.pyi`, which `tools/stubs.py` writes.
    """
    leading = [parameter for parameter in parameters if parameter.positional]
    named = [parameter for parameter in parameters if not parameter.positional]
    signature = inspect.Signature(
        [
            inspect.Parameter(
                parameter.name,
                _KEYWORD if parameter in named else _POSITIONAL,
                annotation=parameter.annotation,
                default=inspect.Parameter.empty
                if parameter.required or parameter in leading
                else parameter.default,
            )
            for parameter in (*leading, *named)
        ]
    )
    entries = [
        f"{parameter.name}\n{_paragraph(docs.get(parameter.name, parameter.documentation))}"
        for parameter in (*leading, *named)
    ]
    names = [parameter.name for parameter in leading]
    required = {parameter.name for parameter in named if parameter.required}
    order = [parameter.name for parameter in named]
    allowed = set(order)
    section = "\n".join(["Parameters", "----------", *entries, "", "Returns\n-------"])

    def decorate(function: Function) -> Function:
        @wraps(function)
        def call(*positional: Any, **options: Any) -> Any:
            options = dict(documented_options(options))
            # A call as documented; all others are left to `bind`, which takes two thirds of the
            # time of `np.median` (row "median, 1e+03 doubles" of `make bench`).
            if len(positional) == len(names) and required <= options.keys() <= allowed:
                return function(**dict(zip(names, positional, strict=True)), **options)
            _refuse_unknown(function.__name__, options, (*names, *order))
            _refuse_missing(function.__name__, parameters, names[len(positional) :], options)
            twice = [name for name in names[: len(positional)] if name in options]
            if twice and DATA.name in allowed:
                raise TypeError(f"{function.__name__} takes the table by name: pass data=...")
            if len(positional) > len(names) and {"x", "y"} <= set(names):
                raise TypeError(
                    f'{function.__name__} takes the columns first and the table by name: pass "x", '
                    '"y", data=...'
                )
            if len(positional) == len(names) + 1 and "column" in allowed - options.keys():
                raise TypeError(
                    f"{function.__name__} takes the column by name: pass column={positional[-1]!r}"
                    if isinstance(positional[-1], str)
                    else f"{function.__name__} takes {len(names)} arguments without a name"
                )
            return function(**signature.bind(*positional, **options).arguments)

        returns = inspect.signature(function).return_annotation
        call.__signature__ = signature.replace(return_annotation=returns)  # type: ignore[attr-defined]
        call.__doc__ = inspect.cleandoc(function.__doc__ or "").replace(
            "Returns\n-------", section, 1
        )
        return cast(Function, call)

    return decorate
