"""The parser and picture of `ww pr`.

The branch is pushed to the remote of [land], without force, and a pull request into the worker's base is opened through
`gh`. Once there is one, `ww pr` again pushes what is new and says where it is.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.address import check_may_touch, find_worker
from woodwind.ops.context import Context
from woodwind.ops.pr import PullRequest, pull_request
from woodwind.ops.projects import current

EXAMPLES = [
    "ww pr add-greeting",
    'ww pr add-greeting --title "Add a greeting" --draft',
    "ww pr add-greeting --into release",
]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser, several=False)
    parser.add_argument("--into", default="", metavar="BRANCH", help="the target; otherwise what it was cut from")
    parser.add_argument("-t", "--title", default="", metavar="TEXT", help="its title; otherwise the task's")
    parser.add_argument("-b", "--body", default="", metavar="TEXT", help="its text; otherwise the task and the commits")
    parser.add_argument("--draft", action="store_true", help="as a draft")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Push it and open it."""
    worker = find_worker(ctx, current(ctx), args.name, exact=True)
    check_may_touch(ctx, worker)
    wanted = PullRequest(target=args.into, title=args.title, body=args.body, draft=args.draft)
    return Outcome(pull_request(ctx, worker, wanted), notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """Where it is."""
    entry = outcome.data
    how = "is up to date" if entry["existed"] else f"is open, into {entry['target']}"
    screen.line(f"The pull request of {screen.paint(entry['name'], 'bold')} {how}: {entry['url']}")
