"""The parser and picture of `ww doctor`.

Without --fix it only looks. A fix touches nothing but what belongs to this project, and looks again before it
does. Outside of a repository only the machine is looked at: programs, versions, the store. Exit code 0 when nothing
is wrong or left over, 6 otherwise; warnings alone do not count.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.screen import Screen
from woodwind.model.errors import EXIT_DONE, EXIT_PARTLY, NotFound
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.doctor import examine, mend
from woodwind.ops.projects import recognised

EXAMPLES = ["ww doctor", "ww doctor --fix", "ww doctor --json"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("--fix", action="store_true", help="mend what can be mended")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Look, mend, and look again."""
    try:
        project = recognised(ctx)
    except NotFound as error:
        if error.code != "no_repository":
            raise
        project = ""
        ctx.notes.append("this is no repository: only the machine was looked at")
    findings = examine(ctx, project)
    mended = []
    if args.fix:
        mended = mend(findings)
        findings = examine(ctx, project)
    listed = [{"check": f.check, "level": f.level, "message": f.message, "fix": f.fix} for f in findings]
    wrong = any(f.level != "warning" for f in findings)
    data = {"findings": listed, "mended": mended}
    return Outcome(data, notes=ctx.notes, exit_code=EXIT_PARTLY if wrong else EXIT_DONE)


def render(outcome: Outcome, screen: Screen) -> None:
    """One line a finding."""
    colours = {"problem": "red", "leftover": "yellow", "warning": "cyan"}
    for entry in outcome.data["mended"]:
        mark = screen.paint("mended", "green") if entry["ok"] else screen.paint("not mended", "red")
        screen.line(f"{mark}  {entry['check']}: {entry['message']}")
    for entry in outcome.data["findings"]:
        screen.line(f"{screen.paint(entry['level'], colours[entry['level']])}  {entry['check']}: {entry['message']}")
        if entry["fix"]:
            screen.line(screen.paint(f"    --fix would {entry['fix']}", "dim"))
    if not outcome.data["findings"]:
        screen.line(screen.paint("All is well.", "green"))
