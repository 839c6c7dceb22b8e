"""Measure, and print each budget as a ratio to the bare limit of the same run."""

import argparse
import json
import sys

from benchmarks.budgets import WORKERS, Processes, Row, creation, everyday, processes, start_up
from benchmarks.control import Shown, control, control_json, control_text
from benchmarks.landing import landing
from benchmarks.report import as_json, facts_json, facts_text, show
from benchmarks.runs import running
from benchmarks.scene import Scene
from benchmarks.timing import CannotMeasure
from benchmarks.together import Fact, together
from benchmarks.watching import Watched, measure_watching, watching_json, watching_text
from woodwind.testing.sandbox import Sandbox

SCALES = (10, 50, 200)
START_ROUNDS, NEW_ROUNDS = 40, 15
QUICK_SCALES = (10, 50)
QUICK_START_ROUNDS, QUICK_NEW_ROUNDS = 10, 4


def main() -> int:
    """Run all measurements; 1 when one of them was not possible."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and no 200 workers: a rough answer")
    parser.add_argument("--watching", action="store_true", help="only what watching agents costs")
    parser.add_argument("--control", action="store_true", help="only the control plane")
    parser.add_argument("--runs", action="store_true", help="only runs of plans")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    args = parser.parse_args()
    try:
        if args.runs:
            facts = _running(quick=args.quick)
            print(json.dumps(facts_json(facts), indent=1) if args.json else facts_text(facts))
            return 0
        shown = _control(quick=args.quick) if args.control or not args.watching else []
        if args.control:
            print(json.dumps(control_json(shown), indent=1) if args.json else control_text(shown))
            return 0
        watched = _watching(quick=args.quick)
        if args.watching:
            print(json.dumps(watching_json(watched), indent=1) if args.json else watching_text(watched))
            return 0
        budgets, started, scaling = measure(quick=args.quick)
        facts = [*_together(quick=args.quick), *_running(quick=args.quick)]
    except CannotMeasure as error:
        sys.stderr.write(f"benchmarks: could not measure: {error}\n")
        return 1
    if args.json:
        numbers = {**as_json(budgets, started, scaling, facts), "watching": watching_json(watched)}
        numbers["control"] = control_json(shown)
        print(json.dumps(numbers, indent=1))
    else:
        print(show(budgets, started, scaling, facts))
        print(f"\n{watching_text(watched)}\n\n{control_text(shown)}")
    return 0


def measure(*, quick: bool) -> tuple[list[Row], Processes, dict[int, list[Row]]]:
    """The budgets, the processes of `ww new`, and the rows for each number of workers."""
    start_rounds, new_rounds = (QUICK_START_ROUNDS, QUICK_NEW_ROUNDS) if quick else (START_ROUNDS, NEW_ROUNDS)
    scaling: dict[int, list[Row]] = {}
    budgets: list[Row] = []
    started = Processes(None)
    with Sandbox() as sandbox:
        scene = Scene(sandbox)
        for workers in QUICK_SCALES if quick else SCALES:
            _tell(f"{workers} workers")
            scene.grow(workers)
            rows = [*start_up(scene, start_rounds), creation(scene, new_rounds)]
            scaling[workers] = rows[1:]
            if workers == WORKERS:
                budgets = [*rows, *everyday(scene, start_rounds), landing(scene, new_rounds)]
                started = processes(scene)
    _tell("")
    return budgets, started, scaling


def _together(*, quick: bool) -> list[Fact]:
    """Forecasts and queues, in a place of their own."""
    _tell("workers side by side")
    with Sandbox() as sandbox:
        facts = together(Scene(sandbox), quick=quick)
    _tell("")
    return facts


def _watching(*, quick: bool) -> Watched:
    """What watching agents costs, in a place of its own."""
    _tell("watched workers")
    found = measure_watching(QUICK_SCALES if quick else SCALES, quick=quick)
    _tell("")
    return found


def _control(*, quick: bool) -> list[Shown]:
    """The control plane, in a place of its own."""
    _tell("the control plane")
    with Sandbox() as sandbox:
        found = control(Scene(sandbox), QUICK_SCALES if quick else SCALES, quick=quick)
    _tell("")
    return found


def _running(*, quick: bool) -> list[Fact]:
    """Runs, in a place of their own."""
    _tell("runs")
    with Sandbox() as sandbox:
        facts = running(Scene(sandbox), quick=quick)
    _tell("")
    return facts


def _tell(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text and f'measuring with {text} …'}")


if __name__ == "__main__":
    sys.exit(main())
