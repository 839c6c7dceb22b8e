"""The parser and picture of `ww help`."""

from argparse import ArgumentParser, Namespace
from importlib import import_module

from woodwind import __version__
from woodwind.cli.parsing import build
from woodwind.cli.screen import Screen
from woodwind.cli.table import ALIASES, COMMANDS
from woodwind.model.errors import UsageError
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context

EXAMPLES = ["ww help", "ww help new"]
OFFERED = tuple(COMMANDS)


def arguments(parser: ArgumentParser) -> None:
    """The command's words."""
    parser.add_argument("command", nargs="?", default="", help="a command")


def run(ctx: Context, args: Namespace) -> Outcome:
    """Collect the texts."""
    name = ALIASES.get(args.command, args.command)
    if name and name not in COMMANDS:
        raise UsageError(f"unknown command {args.command!r}", hint="`ww help` lists them.")
    if name:
        return Outcome({"command": name, "help": build(name, import_module(COMMANDS[name].module)).format_help()})
    return Outcome(
        {"commands": {n: c.summary for n, c in COMMANDS.items()}, "aliases": ALIASES, "version": __version__}
    )


def render(outcome: Outcome, screen: Screen) -> None:
    """The list by groups, or one command's help."""
    if "help" in outcome.data:
        screen.line(outcome.data["help"].rstrip())
        return
    screen.line(f"{screen.paint('ww', 'bold')} — Woodwind {__version__}: many coding agents, each in its own worktree")
    group = ""
    for name, command in COMMANDS.items():
        if command.group != group:
            group = command.group
            screen.line(f"\n{screen.paint(group, 'bold')}")
        screen.line(f"  {name:<10} {command.summary}")
    screen.line("\n`ww COMMAND --help` shows its options and examples. Every command takes --json.")
    screen.line("Options before a command: -C FOLDER, --json, --log-format text|json, --version, --help.")
