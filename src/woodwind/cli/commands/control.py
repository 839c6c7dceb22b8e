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

EXAMPLES = ["ww control", "ww control --all", "ww control --theme light", "ww control --background dark"]
THEMES = ("auto", "dark", "light", "dark-ansi", "light-ansi")
BACKGROUNDS = ("dark", "light")


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("-a", "--all", action="store_true", help="the workers of every project")
    parser.add_argument(
        "--theme", choices=THEMES, help="colours; auto asks the terminal for its background, *-ansi use its own palette"
    )
    parser.add_argument(
        "--background", choices=BACKGROUNDS, help="what is behind the text, where the theme is auto: not asked for then"
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
    open_control(ctx, everywhere=args.all, theme=args.theme or "", background=args.background or "")
    return Outcome()


def open_control(ctx: Context, *, everywhere: bool = False, theme: str = "", background: str = "") -> None:
    """Show the control plane of the context's folder until the person leaves."""
    config = ctx.loaded_config.config.control
    theme = theme or config.theme
    ctx.close()
    # Textual takes 250 ms to import: for those who open it only.
    from woodwind.tui.app import ControlPlane
    from woodwind.tui.themes import ask_terminal, theme_for

    if theme == "auto" and not background:
        background = config.background if config.background != "auto" else ask_terminal()
    name = theme_for(theme, os.environ, background=background)
    ControlPlane(ctx.cwd, everywhere=everywhere, theme_name=name, preview=config.preview).run()


def render(outcome: Outcome, screen: Screen) -> None:
    """Nothing: the person has seen it."""
