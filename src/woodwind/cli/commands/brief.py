"""The parser and picture of `ww brief`.

Without --preview it shows the brief of a worker. With it, and the words of `ww new` for a task, it shows what a new
worker would be told; nothing is made, and of a pull request nothing is fetched but its text.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli import task_words
from woodwind.cli.screen import Screen
from woodwind.model.brief import build
from woodwind.model.errors import UsageError
from woodwind.model.outcome import Outcome
from woodwind.ops import tickets
from woodwind.ops.address import find_workers
from woodwind.ops.brief import of_worker, preview_facts
from woodwind.ops.context import Context
from woodwind.ops.free_names import Request
from woodwind.ops.projects import current

EXAMPLES = [
    "ww brief add-greeting",
    'ww brief --preview "Fix the login crash"',
    "ww brief --preview --issue 7 --template bugfix",
    "ww brief --preview --jira SHOP-12",
]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("--preview", action="store_true", help="show what a new worker would be told")
    task_words.arguments(parser)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Read it, or build it."""
    origin = task_words.origin_of(args)
    if args.preview:
        return Outcome(_preview(ctx, args, origin), notes=ctx.notes)
    if origin or args.file or args.prompt or args.template or args.task == "-":
        raise UsageError("only --preview builds a brief from a task", hint="ww brief --preview …")
    [worker] = find_workers(ctx, current(ctx), [args.task] if args.task else [])
    return Outcome({"name": worker.name, "template": "", "text": of_worker(worker)}, notes=ctx.notes)


def _preview(ctx: Context, args: Namespace, origin: str) -> dict[str, str]:
    request = Request("" if origin else task_words.text_of(args))
    request = request._replace(template=args.template, prompt=args.prompt, replace=args.replace)
    if origin.startswith("github-pr:"):
        pull = tickets.pull_request(ctx, origin.partition(":")[2])
        request = tickets.of_pull_request(request, pull, goes_on=args.goes_on)
    elif origin:
        request = tickets.of_ticket(request, tickets.fetch(ctx, origin))
    elif not request.task.strip():
        raise UsageError("there is no task", hint='ww brief --preview "Add a greeting"')
    facts = preview_facts(ctx, request)
    return {"name": "", "template": facts.template, "text": build(facts)}


def render(outcome: Outcome, screen: Screen) -> None:
    """The text as it is."""
    screen.line(outcome.data["text"].rstrip("\n"))
