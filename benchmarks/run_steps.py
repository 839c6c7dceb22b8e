"""A plan whose decisions are all carried out at once, so that what is left is the scheduler and the store.

Run as `python -m benchmarks.run_steps TASKS` in a private environment; prints the seconds that it took.
"""

import contextlib
import os
import sys
import time

from woodwind.model.run import Decision, Happened, Run, Settings, Task, Verb, What
from woodwind.ops.context import Context
from woodwind.ops.run_state import Known, change
from woodwind.store import projects, runs
from woodwind.store.runs import RunRow

_CAP = 20
_THEN = {Verb.START: What.STARTED, Verb.COLLECT: What.COLLECTED, Verb.LAND: What.LANDED}


def main(count: int) -> float:
    """How long a plan of so many tasks takes, four steps for each."""
    with contextlib.closing(Context("/", os.environ)) as ctx:
        projects.remember(ctx.store, "p-measured", "/nowhere/.git", "measured")
        tasks = {f"t{n}": Task(f"t{n}", (f"t{n // 2}",) if n else ()) for n in range(count)}
        row = RunRow("r-measured", "p-measured", "plan", "Measure", "into", "b", "/", {}, "running", "", "", "")
        began = time.perf_counter()
        runs.add(ctx.store, row, Run(Settings(cap=_CAP), tasks), {})
        known, decisions = change(ctx.store, row.id, [])
        while known.run.state == "running":
            known, decisions = change(ctx.store, row.id, _heard(known, decisions), known=known)
        return time.perf_counter() - began


def _heard(known: Known, decisions: list[Decision]) -> list[Happened]:
    """What came of one decision, as it does: they end one by one."""
    if decisions:
        first = decisions[0]
        return [Happened(_THEN[first.verb], first.task, first.delivery, worker="w", turn="t", commits=1, commit="c")]
    working = next(task for task in known.run.tasks.values() if task.state == "working")
    return [Happened(What.DONE, working.id, working.delivery, text="done")]


if __name__ == "__main__":
    print(main(int(sys.argv[1])))
