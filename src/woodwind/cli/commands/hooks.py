"""The parser and picture of `ww hooks`.

Commands that a project's woodwind.toml wants to run here (`[hooks] setup`, `teardown`, `[environment] commands`)
run only once you approved their exact text; when it changes, they need it again. What is in your own
file needs no approval.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.screen import Screen
from woodwind.model.errors import Refused
from woodwind.model.outcome import Outcome
from woodwind.ops.approvals import decide, listed
from woodwind.ops.context import Context
from woodwind.ops.projects import current

EXAMPLES = ["ww hooks list", "ww hooks approve", "ww hooks approve setup", "ww hooks revoke"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument(
        "action", choices=("list", "approve", "revoke"), nargs="?", default="list", help="what to do; list if left out"
    )
    parser.add_argument("hooks", nargs="*", metavar="HOOK", help="install, setup or teardown; all if left out")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Do the action."""
    project = current(ctx)
    if args.action == "list":
        return Outcome(listed(ctx, project), notes=ctx.notes)
    if args.action == "approve" and ctx.caller:
        raise Refused(
            "an agent cannot approve what a project runs on this machine",
            code="not_yours",
            hint="Ask the person who runs Woodwind.",
        )
    return Outcome(decide(ctx, project, args.hooks, approve=args.action == "approve"), notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """Each hook with its text."""
    for hook in outcome.data:
        state = "runs" if hook["may_run"] else "does not run: ww hooks approve " + hook["hook"]
        colour = "green" if hook["may_run"] else "yellow"
        screen.line(f"{screen.paint(hook['hook'], 'bold')} {screen.paint(state, colour)}  ({hook['source']})")
        for line in hook["text"].rstrip().splitlines():
            screen.line(f"  {screen.paint('│', 'dim')} {line}")
    if not outcome.data:
        screen.line("No hooks are configured here.")
