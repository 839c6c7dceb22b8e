"""The parser and picture of `ww forecast`.

Every pair of workers is merged on trial, and every worker with its target: as their files are right now, uncommitted
and untracked ones included. Nothing of it touches the repository.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.forecast import ranges_text
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.forecast import forecast
from woodwind.ops.projects import current

EXAMPLES = ["ww forecast", "ww forecast add-greeting", "ww forecast --json"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser, several=False)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Look, and tell what collides; without a name, everybody."""
    project = current(ctx)
    worker = find_worker(ctx, project, args.name) if args.name else None
    data = forecast(ctx, project, worker)
    notes = [f"{u['name']} and {u['with']} could not be compared" for u in data["unknown"]]
    return Outcome(data, notes=ctx.notes + notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """Who collides with whom, and where."""
    if not outcome.data["collisions"]:
        screen.line("Nothing collides.")
        return
    for entry in outcome.data["collisions"]:
        one, other = screen.paint(entry["name"], "bold"), screen.paint(entry["with"], "bold")
        screen.line(f"{one} collides with {other}:")
        for file in entry["files"]:
            lines = [f"{who} {ranges_text(file[key])}" for who, key in
                     ((entry["name"], "one_lines"), (entry["with"], "other_lines")) if file[key]]  # fmt: skip
            where = f" (lines: {'; '.join(lines)})" if lines else ""
            kind = "" if file["kind"] == "content" else f" [{file['kind']}]"
            screen.line(f"  {screen.paint(file['path'], 'yellow')}{kind}{where}")
