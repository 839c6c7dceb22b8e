"""Plain command lines mean what argparse says that they mean."""

import functools
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, strategies as st

from woodwind.cli.parsing import Parser, build
from woodwind.cli.plain import NotPlain, parse_plainly
from woodwind.cli.table import COMMANDS
from woodwind.model.errors import UsageError

ODD = [
    "",
    "-",
    "--",
    "-h",
    "--help",
    "-5",
    "7",
    "x",
    "two words",
    "-x y",
    "--json",
    "--unknown",
    "=",
    "größe",
    "--name=x",
]


@functools.cache
def module(name: str) -> Any:
    return import_module(COMMANDS[name].module)


@functools.cache
def parser(name: str) -> Parser:
    return build(name, module(name))


@functools.cache
def lines(name: str) -> st.SearchStrategy[list[str]]:
    """Command lines with the command's own options and choices, and much that is wrong."""
    actions = parser(name)._actions
    options = [option for action in actions for option in action.option_strings]
    choices = [str(choice) for action in actions for choice in action.choices or ()]
    return st.lists(st.sampled_from([*options, *choices, *ODD, *(f"{option}=7" for option in options)]), max_size=6)


@pytest.mark.parametrize("name", COMMANDS)
@given(data=st.data())
def test_what_is_plain_is_as_argparse_says(name: str, data: st.DataObject) -> None:
    argv = data.draw(lines(name))
    try:
        plain = parse_plainly(module(name), argv)
    except NotPlain:
        return
    try:
        args = parser(name).parse(argv)
    except UsageError as error:
        raise AssertionError(f"argparse refuses it: {error.message}") from error
    assert vars(plain) == vars(args)


@pytest.mark.parametrize(
    "line",
    [
        "ls",
        "ls --all --json",
        "ls -w --since 42",
        "new Task --name one --agent claude --agent pi -n 3 --permissions auto -w",
        "new - --base @ --plan-mode",
        "branch Task",
        "attach one",
        "rm one --force two --yes",
        "config",
        "config edit --project",
        "completion bash",
        "send one two three",
    ],
)
def test_everyday_lines_are_plain(line: str) -> None:
    name, *argv = line.split()
    assert vars(parse_plainly(module(name), argv)) == vars(parser(name).parse(argv))


@pytest.mark.parametrize(
    "line",
    [
        "ls --help",
        "ls --al",
        "ls --since x",
        "ls --since",
        "ls --since=3",
        "ls word",
        "new one two",
        "new --permissions all",
        "new -s -w",
        "new --name --agent",
        "rm -yh",
        "completion",
        "exec one -- ls",
    ],
)
def test_the_rest_is_for_argparse(line: str) -> None:
    name, *argv = line.split()
    with pytest.raises(NotPlain):
        parse_plainly(module(name), argv)


@pytest.mark.parametrize("name", ["ls", "new"])
def test_a_hot_command_does_without_argparse(name: str) -> None:
    code = f"import sys, woodwind.cli.calling, {COMMANDS[name].module}; sys.exit('argparse' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
