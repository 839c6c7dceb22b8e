"""The parser and picture of `ww demo`.

Three workers with the built-in rehearsal agent, which needs no account and no network, work on a sample
repository in a temporary folder; one of them asks something. Nothing of yours is touched, and all of it is
removed at the end unless you say --keep.
"""

import os
import sys
from argparse import ArgumentParser, Namespace

from woodwind.base.run import run_attached
from woodwind.cli.commands import ls
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.attach import attach_argv
from woodwind.ops.context import Context
from woodwind.ops.demo import Demo, demo_place

EXAMPLES = ["ww demo", "ww demo --keep"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("--keep", action="store_true", help="leave the sample repository and the workers there")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Play it; on a terminal the telling happens on the way."""
    screen = Screen()

    def tell(text: str) -> None:
        if not args.json:
            screen.line(text)
            sys.stdout.flush()

    with demo_place(ctx, keep=args.keep) as demo:
        tell(f"A sample repository, with a private tmux and home around it: {demo.repo}")
        demo.start(tell)
        listed = demo.settle()
        if ctx.person:
            ls.render(Outcome(listed), screen)
            _visit(demo, screen, listed)
            listed = demo.settle()
        report = demo.report()
        kept = demo.environment_file() if args.keep else ""
        demo.ctx.close()
    return Outcome({"workers": listed, "report": report, "kept": kept, "repository": demo.repo if kept else ""})


def _visit(demo: Demo, screen: Screen, listed: list[dict[str, str]]) -> None:
    """Bring the person to the worker that asks."""
    asking = next((w for w in demo.workers for e in listed if e["id"] == w.id and e["status"] == "asking"), None)
    if not asking:
        return
    name = screen.paint(asking.name, "bold")
    screen.line(f"\n{name} needs you. Its terminal opens next: answer with 1 and Enter, look around,")
    screen.line("then leave it running and come back here with Ctrl-b d.")
    input("Press Enter to go there (Ctrl-C to stop) … ")
    argv, env = attach_argv(demo.ctx, asking)
    run_attached(argv, env=env)


def render(outcome: Outcome, screen: Screen) -> None:
    """What happened, and what to type next."""
    data = outcome.data
    screen.line()
    ls.render(Outcome(data["workers"]), screen)
    for entry in data["report"]:
        screen.line(f"\n{screen.paint(entry['name'], 'bold')}")
        for subject in entry["commits"]:
            screen.line(f"  committed: {subject}")
        for line in entry["last_words"]:
            screen.line(f"  {screen.paint('│', 'dim')} {line}")
    screen.line()
    if data["kept"]:
        screen.line(f"Kept. To look around: . {data['kept']} && ww ls")
        screen.line(
            f"To remove it: . {data['kept']} && tmux -L woodwind kill-server; rm -rf {os.path.dirname(data['kept'])}"
        )
    else:
        screen.line("All of it was removed again. In a repository of yours:")
        screen.line('  ww new "What to do"     ww ls     ww attach NAME     ww rm NAME')
