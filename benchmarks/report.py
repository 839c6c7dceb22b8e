"""The results as a table for people, or as JSON."""

import os
import platform
import subprocess
from dataclasses import asdict
from typing import Any

from benchmarks.budgets import WORKERS, Processes, Row
from benchmarks.together import Fact

# A quiet machine's median is 1.3 to 1.6 times its best.
BUSY = 2


def surroundings() -> dict[str, Any]:
    """What the numbers depend on, without anything that names the machine."""
    return {
        "python": platform.python_version(),
        "git": _first_line("git", "--version").removeprefix("git version "),
        "tmux": _first_line("tmux", "-V").removeprefix("tmux "),
        "system": platform.system(),
        "cores": os.cpu_count(),
    }


def _first_line(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()


def as_json(
    budgets: list[Row], processes: Processes, scaling: dict[int, list[Row]], facts: list[Fact]
) -> dict[str, Any]:
    """Everything that was measured."""
    return {
        "surroundings": surroundings(),
        "budgets": [_row(row) for row in budgets],
        "processes": {**asdict(processes), "ok": processes.ok if processes.found is not None else None},
        "scaling": [{"workers": n, **_row(row)} for n, rows in scaling.items() for row in rows],
        "together": facts_json(facts),
    }


def facts_json(facts: list[Fact]) -> list[dict[str, Any]]:
    """Forecasts, queues and runs."""
    return [asdict(fact) for fact in facts]


def facts_text(facts: list[Fact]) -> str:
    """The same, to read."""
    heads = ["workers side by side", "seconds", "count", "of", "goal", ""]
    rows = [[f.name, f"{f.seconds:.2f}", str(f.count), f.counted, f.goal, _verdict(f.ok)] for f in facts]
    return "\n".join(_table(heads, rows))


def _row(row: Row) -> dict[str, Any]:
    return {**asdict(row), "ratio": row.ratio, "median_ratio": row.median_ratio, "ok": row.ok}


def show(budgets: list[Row], processes: Processes, scaling: dict[int, list[Row]], facts: list[Fact]) -> str:
    """The same, to read."""
    place = ", ".join(f"{name} {value}" for name, value in surroundings().items())
    heads = ["command", "best ms", "median", "limit", "best ms", "median", "ratio", "(median)", "goal", ""]
    lines = ["Budgets: the ratio is best to best, from runs that took turns", ""]
    lines += _table(heads, [[_name(row), *_cells(row), _goal(row.goal), _verdict(row.ok)] for row in budgets])
    lines += ["", _processes(processes)]
    if scaling:
        heads = ["workers", "command", "best ms", "median", "limit", "best ms", "median", "ratio", "(median)"]
        rows = [[str(n), row.name, *_cells(row)] for n, found in scaling.items() for row in found]
        lines += ["", "Scaling", "", *_table(heads, rows)]
    lines += ["", "Forecast, queue and runs", "", facts_text(facts)]
    if any(row.limit.median > BUSY * row.limit.best for row in budgets):
        lines += [
            "",
            "The machine was busy: the limits' own medians are far above their best. Measure again when it is quiet.",
        ]
    return "\n".join([*lines, "", place])


def _name(row: Row) -> str:
    return row.name if row.name == "ww --version" else f"{row.name}, {WORKERS} workers"


def _processes(processes: Processes) -> str:
    if processes.found is None:
        return "Processes that ww new starts: not measured (it takes strace, and leave to trace)"
    goal = f"goal at most {processes.goal}: {_verdict(processes.ok)}"
    return f"Processes that ww new starts: {processes.found}, and tmux two more for it ({goal})"


def _cells(row: Row) -> list[str]:
    times = [f"{row.ours.best:.1f}", f"{row.ours.median:.1f}", row.limit_name]
    times += [f"{row.limit.best:.1f}", f"{row.limit.median:.1f}"]
    return [*times, f"{row.ratio:.2f}×", f"{row.median_ratio:.2f}×"]


def _goal(goal: float) -> str:
    return f"≤ {goal:g}×" if goal else "–"


def _verdict(ok: bool) -> str:
    return "ok" if ok else "over"


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(heads, *rows, strict=True)]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in [heads, *rows]]
