"""The parser and picture of `ww cleanup`.

A worker counts as idle when its agent does not run and nothing was committed, staged or printed for [cleanup]
days. Uncommitted or unmerged work is a reason to keep it. What is removed can be restored.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.numbers import whole
from woodwind.cli.screen import Screen
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, UsageError, WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.ops.cleanup import cleanup, idle_workers
from woodwind.ops.context import Context
from woodwind.ops.projects import current

EXAMPLES = ["ww cleanup --dry-run", "ww cleanup", "ww cleanup --days 30 --yes"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("--days", type=whole("--days", 0), help="idle for this many days, instead of [cleanup] days")
    parser.add_argument("-f", "--force", action="store_true", help="also with uncommitted or unmerged work, parked too")
    parser.add_argument("--dry-run", action="store_true", help="only show who would be looked at")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask; needed where there is no terminal")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Tidy up."""
    days = ctx.loaded_config.config.cleanup.days if args.days is None else args.days
    idle = idle_workers(ctx, current(ctx), days)
    listed = [{"name": worker.name, "idle_days": n} for worker, n in idle]
    if args.dry_run or not idle:
        return Outcome({"idle": listed, "removed": [], "kept": []}, notes=ctx.notes)
    if not args.yes:
        names = ", ".join(worker.name for worker, _ in idle)
        if not ctx.confirm:
            raise UsageError(f"removing {names} needs --yes where there is no terminal to ask on")
        if not ctx.confirm(f"Remove {names}?"):
            raise WoodwindError("nothing was removed", code="declined")
    data = cleanup(ctx, idle, force=args.force)
    return Outcome({"idle": listed, **data}, notes=ctx.notes, exit_code=EXIT_PARTLY if data["kept"] else EXIT_DONE)


def render(outcome: Outcome, screen: Screen) -> None:
    """Who went, who stayed and why."""
    data = outcome.data
    for entry in data["removed"]:
        screen.line(f"{screen.paint(entry['name'], 'bold')} removed, idle for {entry['idle_days']} days")
    for entry in data["kept"]:
        screen.line(f"{screen.paint(entry['name'], 'bold')} kept: {entry['why']}")
    if not data["idle"]:
        screen.line("Nobody has been idle that long.")
    elif not data["removed"] and not data["kept"]:
        for entry in data["idle"]:
            screen.line(f"{screen.paint(entry['name'], 'bold')} is idle for {entry['idle_days']} days")
