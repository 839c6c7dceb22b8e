"""The parser and picture of `ww completion`."""

from argparse import ArgumentParser, Namespace

from woodwind.cli.completion import SHELLS, script
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context

EXAMPLES = [
    "ww completion bash >> ~/.bash_completion",
    'ww completion zsh > "${fpath[1]}/_ww"',
    "ww completion fish > ~/.config/fish/completions/ww.fish",
]


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that it is for")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Make the script."""
    return Outcome({"shell": args.shell, "script": script(args.shell)})


def render(outcome: Outcome, screen: Screen) -> None:
    """The script as it is."""
    screen.line(outcome.data["script"].rstrip("\n"))
