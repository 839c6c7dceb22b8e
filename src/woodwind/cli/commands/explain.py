"""The parser and picture of `ww explain`.

Evidence comes from the agent's own events, then from its terminal's title, then from its screen, then from its process.
"""

import time
from argparse import ArgumentParser, Namespace
from datetime import datetime

from woodwind.cli.parsing import worker_argument
from woodwind.cli.screen import STATUS_COLOURS, Screen, age
from woodwind.model.outcome import Outcome
from woodwind.model.text import one_line
from woodwind.ops.address import find_workers
from woodwind.ops.context import Context
from woodwind.ops.explain import explain
from woodwind.ops.projects import current

EXAMPLES = ["ww explain add-greeting", "ww explain --json -"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    worker_argument(parser)


def run(ctx: Context, args: Namespace) -> Outcome:
    """Collect the reasons."""
    project = current(ctx)
    return Outcome([explain(ctx, worker) for worker in find_workers(ctx, project, args.names)], notes=ctx.notes)


def render(outcome: Outcome, screen: Screen) -> None:
    """One block per worker."""
    now = time.time()

    def ago(at: str) -> str:
        return f"{age(now - datetime.fromisoformat(at).timestamp())} ago"

    for n, w in enumerate(outcome.data):
        if n:
            screen.line()
        status = screen.paint(w["status"], STATUS_COLOURS.get(w["status"], "dim"))
        screen.line(f"{screen.paint(w['name'], 'bold')}  {status}  {w['detail']}".rstrip())
        for title, entries in (("because", w["reasons"]), ("ignored", w["ignored"])):
            for entry in entries:
                why = f": {entry['why']}" if entry["why"] else ""
                told = f"{entry['source']} told “{entry['tells']}” {ago(entry['at'])}{why}"
                screen.line(f"  {screen.paint(f'{title:<9}', 'dim')} {told}")
        if turn := w["turn"]:
            words = ": ".join(filter(None, (turn["state"], one_line(turn["why"] or turn["last_words"]))))
            screen.line(f"  {screen.paint('last turn', 'dim')} {words} ({turn['id']})")
        screen.line(screen.paint("  seen", "dim"))
        for seen in w["readings"]:
            screen.line(f"  {screen.paint('│', 'dim')} {ago(seen['at']):<8} {seen['source']:<8} {seen['tells']:<11} "
                        f"{one_line(seen['text'], 80)}")  # fmt: skip
