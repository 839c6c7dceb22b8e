"""The parser and picture of `ww db`.

The store holds facts about workers; their work itself is in git. `WOODWIND_DB` names another file.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.numbers import whole
from woodwind.cli.screen import Screen
from woodwind.config.sizes import show_size
from woodwind.model.errors import EXIT_DONE, EXIT_FAILED, UsageError
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.database import backup, health, purge, vacuum

EXAMPLES = ["ww db health", "ww db health --check", "ww db vacuum", "ww db purge --days 90", "ww db backup store.db"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    actions = ("health", "vacuum", "purge", "backup")
    parser.add_argument("action", choices=actions, nargs="?", default="health", help="what to do; health if left out")
    parser.add_argument("file", nargs="?", default="", help="with backup: where to; otherwise beside the store")
    parser.add_argument("--check", action="store_true", help="with health: check every page and index")
    parser.add_argument(
        "--days", type=whole("--days", 0), help="with purge: delete events and ended operations older than this"
    )


def run(ctx: Context, args: Namespace) -> Outcome:
    """Do the action."""
    for given, action, word in ((args.file, "backup", "FILE"), (args.check, "health", "--check")):
        if given and args.action != action:
            raise UsageError(f"{word} goes with `ww db {action}`")
    if (args.days is not None) != (args.action == "purge"):
        raise UsageError("`ww db purge` needs --days, and only it takes them", hint="Like: ww db purge --days 90")
    if args.action == "health":
        data = health(ctx, thorough=args.check)
        code = EXIT_FAILED if data["problems"] else EXIT_DONE
        return Outcome({"action": "health", **data}, notes=ctx.notes, exit_code=code)
    if args.action == "vacuum":
        return Outcome({"action": "vacuum", **vacuum(ctx)}, notes=ctx.notes)
    if args.action == "purge":
        return Outcome({"action": "purge", **purge(ctx, args.days)}, notes=ctx.notes)
    return Outcome({"action": "backup", **backup(ctx, args.file)}, notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """What was found or done."""
    data = outcome.data
    if data["action"] == "vacuum":
        screen.line(f"from {show_size(data['before'])} to {show_size(data['after'])}")
    elif data["action"] == "purge":
        screen.line(f"{data['events']} events and {data['operations']} ended operations deleted")
    elif data["action"] == "backup":
        screen.line(f"{data['file']} ({show_size(data['size'])})")
    else:
        screen.line(f"{data['path']}  {show_size(data['size'])}, schema {data['schema']}")
        screen.line("  " + ", ".join(f"{n} {table}" for table, n in data["rows"].items()))
        for problem in data["problems"]:
            screen.line(screen.paint(f"  {problem}", "red"))
        if not data["problems"]:
            screen.line(screen.paint("  whole", "green"))
