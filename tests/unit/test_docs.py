"""The documents agree with the program: the generated ones are up to date, and links and commands are real."""

import ast
import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from woodwind.cli.parsing import build
from woodwind.cli.reference import EXIT_CODES, generated
from woodwind.cli.table import ALIASES, COMMANDS
from woodwind.model import errors
from woodwind.model.errors import UsageError

ROOT = Path(__file__).parents[2]
DOCS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Folders that only some machine has. What a user has is written as ~, or as $XDG_STATE_HOME.
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(?:home|root|Users|work|mnt|srv|private|var/folders)/\w")


@pytest.mark.parametrize("name", sorted(generated()))
def test_the_generated_files_are_up_to_date(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == generated()[name], "run `make docs`"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(name: str) -> None:
    module: Any = import_module(COMMANDS[name].module)
    assert COMMANDS[name].summary
    assert module.__doc__
    assert module.EXAMPLES
    assert module.run.__doc__
    assert module.render.__doc__
    for action in build(name, module)._actions:
        assert action.help, f"{action.dest} of ww {name}"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_examples_of_a_command_can_be_parsed(name: str) -> None:
    for example in import_module(COMMANDS[name].module).EXAMPLES:
        _parse(example.rpartition("| ")[2])


def test_each_group_of_commands_is_in_one_piece() -> None:
    groups = [command.group for command in COMMANDS.values()]
    assert groups == sorted(groups, key=groups.index)


def test_the_short_names() -> None:
    short = {"n": "new", "list": "ls", "s": "attach", "switch": "attach", "m": "merge", "delete": "rm"}
    assert short.items() <= ALIASES.items()


def test_no_dependency_is_without_an_upper_bound() -> None:
    """A new major version of somebody else's package must not break a fresh installation."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert [wanted for wanted in project["dependencies"] if "<" not in wanted and "==" not in wanted] == []


def test_every_exit_code_is_explained() -> None:
    assert set(EXIT_CODES) == {value for key, value in vars(errors).items() if key.startswith("EXIT_")}


def test_the_json_document_has_every_command_and_every_error_code() -> None:
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
    table = text.partition("\n## Error codes\n")[2].partition("\n## ")[0]
    heads = " ".join(re.findall(r"^### (.+)$", text, re.MULTILINE))
    assert [name for name in COMMANDS if not re.search(rf"\bww {name}\b", heads)] == []
    code = re.compile(r'\bcode\s*=\s*"(\w+)"')
    sources = [p for p in (ROOT / "src").rglob("*.py") if "testing" not in p.parts]
    codes = {found for path in sources for found in code.findall(path.read_text(encoding="utf-8"))}
    assert sorted(c for c in codes if f"`{c}`" not in table) == []


def test_every_error_code_comes_with_the_exit_code_that_the_json_document_says() -> None:
    exits = {name: kind.exit_code for name, kind in vars(errors).items() if hasattr(kind, "exit_code")}
    rows = [line for line in (ROOT / "docs" / "json.md").read_text("utf-8").splitlines() if re.match(r"\| `\w+`", line)]
    wrong = []
    # A surface sets the exit codes of its own two errors itself.
    for path in (path for path in (ROOT / "src").rglob("*.py") if "cli" not in path.parts):
        for name, code in _coded_errors(path):
            told = [line for line in rows if f"`{code}`" in line.split("|")[1]]
            if name in exits and not any(str(exits[name]) in re.findall(r"\d+", line) for line in told):
                wrong.append(f"{code}: {name} in {path.name}")
    assert wrong == []


def _coded_errors(path: Path) -> Iterator[tuple[str, str]]:
    """The name of the class and the code of every error that a file makes with a code of its own."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            for word in call.keywords:
                if word.arg == "code" and isinstance(word.value, ast.Constant):
                    yield call.func.id, str(word.value.value)


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_document_lead_somewhere(path: Path) -> None:
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        file, _, part = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), target
        assert not part or part in _anchors(there), target


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_names_no_machine(path: Path) -> None:
    assert not MACHINE_PATH.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_in_a_document_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    shell = "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    for line in shell.splitlines():
        for words in re.findall(r"(?:^|\$\(|&& )(ww [^#)|&]+)", line):
            _parse(words)


def _parse(line: str) -> None:
    """Parse a command line as `ww` would; it must not be wrong usage."""
    words = shlex.split(re.sub(r" >.*|\$\(|\)", " ", line), comments=True)
    if "ww" not in words:
        return
    words = words[words.index("ww") + 1 :]
    while words and words[0] in ("-C", "--json"):
        words = words[2 if words[0] == "-C" else 1 :]
    if not words or words[0] in ("--version", "--help"):
        return
    name = ALIASES.get(words[0], words[0])
    assert name in COMMANDS, line
    try:
        build(name, import_module(COMMANDS[name].module)).parse(words[1:])
    except UsageError as error:
        pytest.fail(f"{line}: {error.message}")
    except SystemExit:
        pass  # --help has printed itself; anything wrong is a UsageError


def _anchors(path: Path) -> set[str]:
    """The anchors that a Markdown reader gives to the headings."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
