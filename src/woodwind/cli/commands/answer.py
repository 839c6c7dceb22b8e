"""The parser and picture of `ww answer`.

`allow`, `always` and `deny` press what the agent wants for them; anything else is typed as the answer. `always` is also
remembered for the project, for agents that can be told so at their start. With --question, nothing is answered
when the agent shows another question by now; `ww ls --json` tells its id.
"""

from argparse import ArgumentParser, Namespace

from woodwind.cli.screen import Screen
from woodwind.model.errors import UsageError
from woodwind.model.outcome import Outcome
from woodwind.ops.address import find_worker
from woodwind.ops.answer import answer
from woodwind.ops.context import Context
from woodwind.ops.projects import current

EXAMPLES = [
    "ww answer add-greeting allow",
    "ww answer add-greeting deny --question q17",
    'ww answer add-greeting "Use the second one"',
]
OFFERED = ("allow", "always", "deny")


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("name", metavar="NAME", help="the worker whose agent asks; - for the last one")
    parser.add_argument("answer", metavar="allow|always|deny|TEXT", help="the answer")
    parser.add_argument("--question", metavar="ID", default="", help="answer only this question")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Answer it."""
    if not args.answer.strip():
        raise UsageError("the answer is empty", hint="ww answer NAME allow|always|deny|TEXT")
    worker = find_worker(ctx, current(ctx), args.name)
    return Outcome(answer(ctx, worker, args.answer, question=args.question), notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """What was answered."""
    data = outcome.data
    screen.line(f"{screen.paint(data['name'], 'bold')} answered: {data['answer']} — {data['question']['text']}")
