"""The parser and picture of `ww init`.

It gives the project a woodwind.toml, a context file that goes into every brief, a marked block in AGENTS.md (and
CLAUDE.md) and, for the agents that are installed, a skill and slash commands that teach an agent to run others. What is
there already stays as it is. --remove takes it all out again, byte for byte, except for what you have changed.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.screen import Screen
from woodwind.model.errors import UsageError, WoodwindError
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.init import KEEP, Change, apply, planned

EXAMPLES = ["ww init", "ww init --yes", "ww init --remove"]
_WORDS = {
    "create": "create",
    "add": "add a block to",
    "keep": "leave",
    "delete": "delete",
    "take_out": "take the block out of",
}


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("--remove", action="store_true", help="take out what was put in")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask; needed where there is no terminal")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Tell what is to be done, ask, and do it."""
    changes = planned(ctx, remove=args.remove)
    wanted = [change for change in changes if change.how != KEEP]
    if wanted and not args.yes:
        if not ctx.confirm:
            raise UsageError(
                f"{len(wanted)} files would change, which needs --yes where there is no terminal to ask on",
                hint="They are: " + ", ".join(change.path for change in wanted),
            )
        if not ctx.confirm("\n".join([*map(_line, wanted), "Shall it be done?"])):
            raise WoodwindError("nothing was written", code="declined")
    apply(ctx, changes)
    return Outcome({"removed": args.remove, "files": [change.told for change in changes]}, notes=ctx.notes)


def _line(change: Change) -> str:
    return f"  {_WORDS[change.how]} {change.path}{' (tracked by git)' if change.tracked else ''}"


def render(outcome: Outcome, screen: Screen) -> None:
    """File by file."""
    done = {
        "create": "created",
        "add": "added a block to",
        "keep": "left",
        "delete": "deleted",
        "take_out": "took the block out of",
    }
    for file in outcome.data["files"]:
        why = f": {file['why']}" if file["why"] else ""
        screen.line(f"{screen.paint(done[file['how']], 'dim')} {file['path']}{why}")
    if not outcome.data["files"]:
        screen.line("there is nothing to take out")
    elif not outcome.data["removed"]:
        screen.line(
            screen.paint("  Say more in woodwind/context/*.md: it goes into every brief. Commit it all.", "dim")
        )
