"""All commands: where each lives and what it is for."""

from typing import NamedTuple


class Command(NamedTuple):
    """One command: its module, its group in the help, and one line about it."""

    module: str
    group: str
    summary: str


def _at(name: str, group: str, summary: str) -> Command:
    return Command(f"woodwind.cli.commands.{name}", group, summary)


COMMANDS = {
    "new": _at("new", "Work", "start a worker: a branch, a worktree, a terminal and an agent on a task"),
    "ls": _at("ls", "Work", "list the workers, and who needs you"),
    "show": _at("show", "Work", "all that is known about a worker"),
    "attach": _at("attach", "Work", "go to a worker's terminal"),
    "log": _at("log", "Work", "what a worker's terminal shows and has shown"),
    "path": _at("path", "Work", "the folder of a worker's worktree"),
    "promote": _at("promote", "Work", "turn a worker's window into a session of its own"),
    "rm": _at("rm", "Tidy up", "remove a worker; its worktree is parked whole, nothing is deleted"),
    "restore": _at("restore", "Tidy up", "bring a removed worker back"),
    "undo": _at("undo", "Tidy up", "undo the last removal"),
    "trash": _at("trash", "Tidy up", "list removed workers, or delete old ones for good"),
    "config": _at("config", "Set up", "show, check or edit the configuration"),
    "demo": _at("demo", "Set up", "see it work: three scripted agents in a sample repository"),
    "version": _at("version", "Set up", "the version of Woodwind and of the programs it uses"),
    "help": _at("help", "Set up", "this list, or the help of a command"),
}
ALIASES = {"n": "new", "list": "ls", "s": "attach", "switch": "attach", "delete": "rm"}
