"""The parser and picture of `ww version`."""

import sys
from argparse import ArgumentParser, Namespace

from woodwind import __version__
from woodwind.base.run import find_program, run as run_program
from woodwind.cli.screen import Screen
from woodwind.model.outcome import Outcome
from woodwind.ops.context import Context
from woodwind.store.db import SCHEMA

EXAMPLES = ["ww version", "ww --version"]


def arguments(parser: ArgumentParser) -> None:
    """The command takes no words of its own."""


def run(ctx: Context, args: Namespace) -> Outcome:
    """Ask the programs."""
    programs = {}
    for name, flag in (("git", "--version"), ("tmux", "-V")):
        found = find_program(name)
        programs[name] = (
            run_program([found, flag], ok=None, timeout=10)
            .text.strip()
            .removeprefix(f"{name} ")
            .removeprefix("version ")
            if found
            else ""
        )
    return Outcome({"woodwind": __version__, "schema": SCHEMA, "python": sys.version.split()[0], **programs})


def render(outcome: Outcome, screen: Screen) -> None:
    """One a line."""
    for name, version in outcome.data.items():
        screen.line(f"{name:<9} {version or 'not found'}")
