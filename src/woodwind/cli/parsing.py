"""Parsers: one per command, built only when it is called."""

import argparse
from functools import cache

from woodwind.cli.screen import columns
from woodwind.cli.table import ALIASES, COMMANDS
from woodwind.model.errors import UsageError
from woodwind.model.typed import Any, NoReturn

# argparse asks for a translation of each of its words. There is none, and looking for it costs every call 2 ms.
argparse._ = str  # type: ignore[attr-defined]


class Parser(argparse.ArgumentParser):
    """A parser whose mistakes become our own errors."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of exiting, so that --json has its say."""
        raise UsageError(message, hint=f"`{self.prog} --help` shows how to use it.")

    def parse(self, argv: list[str]) -> argparse.Namespace:
        """The arguments of a call; options may stand between names (`ww rm one --force two`)."""
        # argparse cannot do that together with `--`, or where all the rest is one argument.
        if "--" in argv or any(action.nargs == argparse.REMAINDER for action in self._actions):
            return self.parse_args(argv)
        if not any(word.startswith("-") and "h" in word for word in argv):  # no -h, no --help, nor -yh
            self.usage = ""  # otherwise it is formatted for mistakes, which are ours to tell: 2 ms
        return self.parse_intermixed_args(argv)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Told the width: to find out, it would import shutil (4 ms) at every call, help or not."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width())


@cache
def _width() -> int:
    return columns() - 2  # asked for once, and not for each argument


def build(name: str, command: Any) -> Parser:
    """The parser of a command, from its module."""
    aliases = [a for a, target in ALIASES.items() if target == name]
    more = f"\n\nAliases: {', '.join(aliases)}" if aliases else ""
    summary = COMMANDS[name].summary
    parser = Parser(
        prog=f"ww {name}",
        description=f"{summary[0].upper()}{summary[1:]}.\n\n{about(command)}".strip() + more,
        epilog="examples:\n" + "\n".join(f"  {line}" for line in command.EXAMPLES),
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    command.arguments(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON, for scripts and agents")
    return parser


def about(command: Any) -> str:
    """What a command's module says about it to users: its docstring below the first line, which is for readers."""
    return str(command.__doc__ or "").partition("\n")[2].strip()


def worker_argument(parser: argparse.ArgumentParser, *, several: bool = True) -> None:
    """The argument that names workers."""
    parser.add_argument(
        "name" if not several else "names",
        metavar="NAME",
        nargs="*" if several else "?",
        default=[] if several else "",
        help="a worker's name, id, branch or path; left out inside its worktree; - for the last one",
    )
