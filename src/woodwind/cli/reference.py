"""The generated parts of docs/: `python -m woodwind.cli.reference docs` writes them again."""

import argparse
import os
import sys
import textwrap
from importlib import import_module

from woodwind.agents.base import Agent
from woodwind.agents.registry import BUILT_IN, built_in
from woodwind.base.files import write_atomic
from woodwind.cli.parsing import Parser, about, build
from woodwind.cli.table import ALIASES, COMMANDS
from woodwind.config.template import reference as configuration
from woodwind.model import errors

EXIT_CODES = {
    errors.EXIT_DONE: "done",
    errors.EXIT_FAILED: "the operation failed or was refused",
    errors.EXIT_USAGE: "wrong usage, or a configuration that cannot be used",
    errors.EXIT_NOT_FOUND: "what was named is not there",
    errors.EXIT_MISSING_TOOL: "an outside program that is needed is missing",
    errors.EXIT_TIMED_OUT: "timed out",
    errors.EXIT_PARTLY: "partly done, or a person is needed",
    errors.EXIT_INTERRUPTED: "interrupted",
}

_HEAD = """\
# Commands

<!-- Made from the parsers by `make docs`: edit src/woodwind/cli/ instead. -->

`ww COMMAND --help` shows the same in the terminal. Before a command, `-C FOLDER` goes to a folder first, and
`--json` means the same as behind it; `ww --version` and `ww --help` stand alone.

Where a command takes `NAME`, that is a worker's name, its id, its branch, the path of its worktree (with a `/` in
it), or the beginning of a name or id that fits only one; `ww rm` wants it written out. Inside a worker's worktree
it may be left out, and `-` is the worker that was named last.

Every command also takes `--help`, and `--json`: see [JSON output](json.md).
"""


def commands() -> str:
    """The command reference, in Markdown."""
    lines = [_HEAD, "| exit code | meaning |", "|---|---|"]
    lines += [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    group = ""
    for name, command in COMMANDS.items():
        if command.group != group:
            group = command.group
            lines += ["", f"## {group}"]
        lines += ["", *_command(name)]
    return "\n".join(lines) + "\n"


_AGENTS = """\
# Agents

<!-- Made from the adapters by `make docs`: edit src/woodwind/agents/ instead. -->

What Woodwind knows about each agent, in the order in which it looks for them when none was chosen. `ww agents` shows
which are installed. "Checked with" is the version of the program that the adapter was tried with; an agent that
was not checked was written from its documentation only, so expect surprises, and report them.

"Resume" says how `ww resume` finds the conversation again: by an id of ours, or as the last one in the worker's
folder. Without a terminal (`--headless`), nobody can be asked: what an agent would ask for with `ask`, it is refused.
Each can be changed, and others added, in [`[agents.NAME]`](configuration.md#agentsname).

| agent | checked with | first instructions | model | thinking | permissions | plan mode | headless | resume |
|---|---|---|---|---|---|---|---|---|
"""


def agents() -> str:
    """What the built-in agents can do, in Markdown."""
    found = (built_in(name) for name in BUILT_IN)
    return _AGENTS + "".join(_agent(agent) for agent in found if agent and agent.detected)


def _agent(agent: Agent) -> str:
    model = f"`{agent.model_flag}`" if agent.model_flag else "no"
    if not agent.model_in_terminal:
        model += ", headless only"
    if agent.providers:
        model += f", of {' or '.join(agent.providers)} only"
    permissions = ", ".join(f"{p} (we commit)" if not agent.commits.get(p, True) else p for p in agent.permissions)
    named = "{session}" in "".join(agent.resume_args or ())
    cells = [
        agent.name,
        agent.checked or "not checked",
        f"`{agent.prompt_flag}`" if agent.prompt == "flag" else agent.prompt,
        model,
        " ".join(agent.thinking) or "no",
        permissions,
        "yes" if agent.plan_args else "no",
        "no" if agent.headless_args is None else "yes",
        "no" if agent.resume_args is None else "by id" if named else "the last one",
    ]
    return f"| {' | '.join(cells)} |\n"


def _command(name: str) -> list[str]:
    module = import_module(COMMANDS[name].module)
    parser = build(name, module)
    summary = COMMANDS[name].summary
    lines = [f"### ww {name}", "", f"{summary[0].upper()}{summary[1:]}."]
    more = about(module)
    if more:
        lines += ["", more]
    aliases = [f"`ww {alias}`" for alias, target in ALIASES.items() if target == name]
    if aliases:
        lines += ["", f"Also: {', '.join(aliases)}."]
    lines += ["", "```text", _usage(parser), "```"]
    if _actions(parser):
        lines += ["", "| argument | meaning |", "|---|---|"]
        lines += [f"| {_words(action)} | {_meaning(action)} |" for action in _actions(parser)]
    return [*lines, "", "```sh", *module.EXAMPLES, "```"]


def _actions(parser: Parser) -> list[argparse.Action]:
    """The arguments in their order. argparse has no public way to list them, and the format of its own help
    differs between versions of Python, which a committed file must not."""
    return [a for a in parser._actions if a.dest not in ("help", "json") and a.help != argparse.SUPPRESS]


def _usage(parser: Parser) -> str:
    exclusive = {id(action): group for group in parser._mutually_exclusive_groups for action in group._group_actions}
    words, seen = [parser.prog], set()
    for action in sorted(_actions(parser), key=lambda a: not a.option_strings):
        group = exclusive.get(id(action))
        if group is None:
            words.append(_brief(action))
        elif id(group) not in seen:
            seen.add(id(group))
            words.append(f"[{' | '.join(_brief(a).strip('[]') for a in group._group_actions)}]")
    return textwrap.fill(" ".join(words), 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


def _brief(action: argparse.Action) -> str:
    if action.option_strings:
        word = f"{action.option_strings[0]} {_value(action)}".strip()
        return word if action.required else f"[{word}]"
    value = _value(action)
    shapes = {"?": f"[{value}]", "*": f"[{value} …]", "+": f"{value} [{value} …]", "...": f"{value} …"}
    return shapes.get(str(action.nargs), value)


def _value(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    if action.choices:
        return "|".join(str(choice) for choice in action.choices)
    return str(action.metavar or action.dest.upper())


def _words(action: argparse.Action) -> str:
    value = _value(action).replace("|", "\\|")
    if not action.option_strings:
        return f"`{value}`"
    return ", ".join(f"`{f'{option} {value}'.strip()}`" for option in action.option_strings)


def _meaning(action: argparse.Action) -> str:
    return (action.help or "").replace("%%", "%").replace("|", "\\|")


def main(argv: list[str]) -> int:
    """Write the files into the folder that is named."""
    if len(argv) != 1 or not os.path.isdir(argv[0]):
        sys.stderr.write("usage: python -m woodwind.cli.reference FOLDER\n")
        return errors.EXIT_USAGE
    for name, text in generated().items():
        write_atomic(os.path.join(argv[0], name), text.encode(), mode=0o644)
    return errors.EXIT_DONE


def generated() -> dict[str, str]:
    """The text of each generated file, by its name."""
    return {"agents.md": agents(), "commands.md": commands(), "configuration.md": configuration()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
