"""Facts of releases that no verb made, for tests of what reads them."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import duffdp
from duffdp._facts import Facts, MechanismFact, MechanismPart, StatisticFact
from duffdp._privacy import LossPart
from duffdp.statistics.program import OutputColumn


def facts(
    name="median",
    *,
    parameters=None,
    epsilon="1/10",
    delta=0,
    family="pure",
    mechanism="permute-and-flip",
    utility="signed",
    asked="best",
    unit=None,
    domain=None,
    secure=True,
    **more,
):
    spent = (LossPart(family, Fraction(epsilon)),)
    loss = duffdp.Loss(Fraction(epsilon), Fraction(delta), spent)
    return Facts(
        statistic=StatisticFact(name, parameters or {}),
        mechanism=MechanismFact(asked, (MechanismPart(mechanism, utility, loss.epsilon),)),
        loss=loss,
        unit=unit or duffdp.PrivacyUnit("row"),
        domain=domain or duffdp.Grid(0, 120, 1),
        secure=secure,
        **more,
    )


def release(value, **given):
    """A release of one value."""
    made = facts(**given)
    moment = dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC)
    return duffdp.Release(
        value, made, (OutputColumn(made.statistic.name),), ((value,),), moment, "0"
    )


def grouped(values, **given):
    """A release of one value for each of the groups 0, 1, 2, ...; its frame is a list of rows."""
    keys = tuple((i,) for i in range(len(values)))
    made = facts(by=("g",), keys=keys, **given)
    name = made.statistic.name
    rows = [{"g": i, name: value} for i, value in enumerate(values)]
    moment = dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC)
    return duffdp.Release(
        rows, made, (OutputColumn(name),), tuple((v,) for v in values), moment, "0"
    )
