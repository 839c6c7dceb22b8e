"""Whatever a scheduler decides, carried out: by a plan's rules or by a loop's."""

from collections.abc import Mapping
from typing import Any

from woodwind.model.run import Decision, Happened, Run
from woodwind.ops import loop_tasks, run_tasks
from woodwind.ops.context import Context
from woodwind.store.runs import RunRow

Outcome = tuple[list[Happened], Mapping[str, Mapping[str, Any]]]


def perform(ctx: Context, row: RunRow, run: Run, decision: Decision) -> Outcome:
    """What came of a decision, and what new tasks are about."""
    if row.kind == "loop":
        return loop_tasks.carry_out(ctx, row, run, decision)
    return run_tasks.carry_out(ctx, row, run, decision), {}
