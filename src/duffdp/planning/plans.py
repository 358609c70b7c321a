"""Plans and tables that say what to expect of them, from public facts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Self

from duffdp.pipeline import plan, table_plan
from duffdp.pipeline.columnar import Columns
from duffdp.planning.previews import previews
from duffdp.planning.wanted_errors import weights_for


class Plan(plan.Plan):  # says of itself what it says there
    def preview(self, *, group_size: int, shape: str = "uniform", draws: int = 100) -> Columns:
        """The expected errors of every release for a group of so many records.

        `shape` is what the records are like, as `duffdp.preview` has it. No record is looked at; a
        column without a step is taken for one of real numbers. What needs more than a shape has a
        note in the place of numbers; what can only be simulated gets so many seeded draws.
        """
        return previews(self.asks, group_size, shape, draws)


class TablePlan(table_plan.TablePlan):  # this one too
    def preview(self, *, group_size: int, shape: str = "uniform", draws: int = 100) -> Columns:
        """The expected errors of every cell of a group of so many records; that of `duffdp.Plan`.

        Margins are larger groups, and are not listed.
        """
        return previews(self.plan.asks, group_size, shape, draws)

    def within(
        self,
        errors: Mapping[str, float],
        *,
        group_size: int,
        shape: str = "uniform",
        draws: int = 100,
    ) -> Self:
        """The same table with shares of epsilon for which some releases err by no more than this on
        average, in a group of so many records: `{"age_median": 1, "count": 20}`.

        The others share the rest as before; if all are named, each gets more in proportion. An
        error says what would be needed if epsilon does not suffice. `shape` and `draws` are those
        of `preview`: no record is looked at.
        """
        return self.with_weights(weights_for(self, errors, group_size, shape, draws))

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Self:
        """A table from a file with the words of `duffdp.table`, and `source`; `within` and
        `group_size` are those of the method.

        Paths count from where the file lies, and keys and categories that are text stand for values
        of the type that their column has, as in `duffdp.Plan.from_toml`.
        """
        made = super().from_toml(path)
        return made if made.wanted_errors is None else made.within(**made.wanted_errors)
