"""The parser and picture of `ww demo`.

Workers with the built-in rehearsal agent, which needs no account and no network, work on a sample repository in a
temporary folder: one asks something, two collide, one lands after the project's tests passed. On a terminal the
control plane opens on them. Nothing of yours is touched, and all of it is removed at the end unless you say --keep.
"""

import os
import sys
from argparse import ArgumentParser, Namespace

from woodwind.cli.commands import ls
from woodwind.cli.commands.control import open_control
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.ops.demo import demo_place
from woodwind.ops.listing import list_workers

EXAMPLES = ["ww demo", "ww demo --keep"]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("--keep", action="store_true", help="leave the sample repository and the workers there")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Play it; on a terminal the telling happens on the way, and the control plane opens on it."""
    screen = Screen()

    def tell(text: str) -> None:
        if not args.json:
            screen.line(text)
            sys.stdout.flush()

    with demo_place(ctx, keep=args.keep) as demo:
        tell(f"A sample repository, with a private tmux and home around it: {demo.repo}")
        demo.start(tell)
        demo.settle()
        collisions = demo.collisions()
        landed = demo.land_one()
        for line in (*collisions, landed):
            tell(line)
        if ctx.person and not args.json:
            demo.start_endless()
            open_control(demo.ctx)
            demo.come_back()
        listed = list_workers(demo.ctx).data
        report = demo.report()
        kept = demo.environment_file() if args.keep else ""
        demo.ctx.close()
    data = {"workers": listed, "report": report, "collisions": collisions, "landed": landed}
    return Outcome({**data, "kept": kept, "repository": demo.repo if kept else ""})


def render(outcome: Outcome, screen: Screen) -> None:
    """What happened, and what to type next."""
    data = outcome.data
    screen.line()
    ls.render(Outcome(data["workers"]), screen)
    for entry in data["report"]:
        if not entry["commits"] and not entry["last_words"]:
            continue  # it has landed and was put away, as was told above
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
        screen.line('  ww new "What to do"     ww     ww ls     ww ship NAME     ww undo')
