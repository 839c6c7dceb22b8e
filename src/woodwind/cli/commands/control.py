"""The parser of `ww control`, which `ww` alone means on a terminal.

One screen for all workers, by urgency: who needs you, what is ready to ship, what is in flight, and what
happened in the background. Each row has its verbs, on keys and on the mouse; ? lists them. Only for people:
agents and scripts read with `ww ls --json`, and `ww ls --watch` tells changes line by line.
"""

import os
from argparse import ArgumentParser, Namespace

from woodwind.cli.screen import Screen
from woodwind.model.errors import UsageError
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context

EXAMPLES = ["ww control", "ww control --all", "ww control --theme light"]
THEMES = ("auto", "dark", "light", "dark-ansi", "light-ansi")


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("-a", "--all", action="store_true", help="the workers of every project")
    parser.add_argument(
        "--theme", choices=THEMES, help="colours; auto asks the terminal for its background, *-ansi use its own palette"
    )


def run(ctx: Context, args: Namespace) -> Outcome:
    """Open it; returns when the person leaves."""
    if not ctx.person:
        raise UsageError(
            "the control plane needs a person at a terminal",
            hint="Scripts read with `ww ls --json` or `ww ls --watch`.",
        )
    if not args.all and not ctx.repo.common:  # outside a repository the question itself is the error
        raise UsageError("there is no repository here", hint="`ww control --all` shows every project.")
    config = ctx.loaded_config.config.control
    theme = args.theme or config.theme
    ctx.close()
    # Textual takes 250 ms to import: for this command only.
    from woodwind.tui.app import ControlPlane
    from woodwind.tui.themes import ask_terminal, theme_for

    background = ask_terminal() if theme == "auto" else ""
    name = theme_for(theme, os.environ, background=background)
    ControlPlane(ctx.cwd, everywhere=args.all, theme_name=name, preview=config.preview).run()
    return Outcome()


def render(outcome: Outcome, screen: Screen) -> None:
    """Nothing: the person has seen it."""
