"""Mutations of duffdp._planning."""

from __future__ import annotations

from tests.mutants.mutant import DOOR, LEVELS, PLAN, TABLE_SHARES, Mutant

PLAN_ORDER = f"{DOOR}::test_a_plan_is_paid_for_before_any_of_it_is_read_or_drawn"

PROFILE = "tests/guarantees/profile_door_test.py::test_the_shares_of_a_profile_add_up"

MUTANTS = (
    Mutant(
        "profiles: columns do not give up what counts cost",
        "_planning/profile.py",
        "            unspent -= share\n",
        "",
        (PROFILE,),
    ),
    Mutant(
        "profiles: cells do not give up what quartiles cost",
        "_planning/profile.py",
        '"epsilon": column_epsilon - range_epsilon',
        '"epsilon": column_epsilon',
        (PROFILE,),
    ),
    Mutant(
        "profiles: every column gets all of epsilon",
        "_planning/profile.py",
        "column_epsilon = unspent / len(self.columns)",
        "column_epsilon = unspent",
        (PROFILE,),
    ),
    Mutant(
        "a plan whose weights are not shares",
        "_planning/plan.py",
        "self.epsilon * weight / sum(weights)",
        "self.epsilon * weight / len(weights)",
        (PLAN,),
    ),
    Mutant(
        "a plan without its ledger",
        "_planning/plan.py",
        "ledger = self.ledger if override is None else override",
        "ledger = self.ledger",
        (PLAN, PLAN_ORDER),
    ),
    Mutant(
        "table: weights that no share is divided by",
        "_planning/table_plan.py",
        "shares[name] / total / (1 + len(repeated_margins))",
        "shares[name] / total",
        (TABLE_SHARES,),
    ),
    Mutant(
        "levels: draws of larger groups are paid beside all of epsilon",
        "_planning/table_plan.py",
        "        total = sum(shares.values())\n",
        "        total = sum(shares[name] for name in self._checked)\n",
        (f"{LEVELS}::test_shares_of_all_levels_add_up",),
    ),
    Mutant(
        "table: quantiles of a column that are drawn together have a share for each",
        "_planning/table_plan.py",
        "            releases.append(checked.with_epsilon(share))\n",
        "            share *= sum(one.release == name for one in self._outputs)\n"
        "            releases.append(checked.with_epsilon(share))\n",
        (TABLE_SHARES,),
    ),
    Mutant(
        "levels: draws of larger groups are not weighed in epsilon",
        "_planning/table_plan.py",
        "share = self.plan.epsilon * shares[margin_release] / total",
        "share = self.plan.epsilon * shares[name] / total",
        (f"{LEVELS}::test_shares_of_all_levels_add_up",),
    ),
)
