"""Shell completion: the scripts are loaded by the real shells, and asked."""

import shutil
import sys
from pathlib import Path

import pytest

from woodwind.cli.table import ALIASES, COMMANDS
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker


@pytest.fixture
def path(sandbox: Sandbox) -> dict[str, str]:
    """The variables with which `ww` is on PATH."""
    folder = sandbox.home / "bin"
    folder.mkdir()
    (folder / "ww").write_text(f'#!/bin/sh\nexec {sys.executable} -m woodwind "$@"\n')
    (folder / "ww").chmod(0o755)
    return {"PATH": f"{folder}:{sandbox.env['PATH']}"}


@pytest.fixture
def completed(sandbox: Sandbox, repo: Path, path: dict[str, str]) -> "Completed":
    return Completed(sandbox, repo, path)


class Completed:
    """What bash offers after some words, the last of which is being typed."""

    def __init__(self, box: Sandbox, repo: Path, env: dict[str, str]) -> None:
        self.box, self.repo, self.env = box, repo, env
        self.script = box.home / "ww.bash"
        self.script.write_text(box.ww("completion", "bash", check=True).stdout)

    def __call__(self, *words: str, cwd: Path | None = None) -> list[str]:
        body = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ww; printf "%s\\n" "${COMPREPLY[@]}"'
        # Without the caller's start-up files; an error in the script is an error here.
        command = ("bash", "--norc", "--noprofile", "-c", f"set -u; {body}", "bash", str(self.script), *words)
        done = self.box.run(*command, cwd=cwd or self.repo, env=self.env, check=True)
        assert done.stderr == ""
        return done.stdout.split()


def test_bash_completes_commands(completed: Completed) -> None:
    assert sorted(completed("ww", "")) == sorted([*COMMANDS, *ALIASES])
    assert completed("ww", "resu") == ["resume"]
    assert completed("ww", "zzz") == []


def test_bash_completes_options_and_choices(completed: Completed) -> None:
    assert completed("ww", "cleanup", "--d") == ["--days", "--dry-run"]
    assert {"--file", "--all", "--working", "--json"} <= set(completed("ww", "send", "--"))
    assert completed("ww", "completion", "f") == ["fish"]
    assert completed("ww", "db", "v") == ["vacuum"]
    assert completed("ww", "loop", "te") == ["teardown"]
    # Words that may also be something else: a plan file, a goal, an answer in one's own words.
    assert completed("ww", "run", "st") == ["status", "stop"]
    assert completed("ww", "plan", "ch") == ["check"]
    assert completed("ww", "answer", "some-worker", "al") == ["allow", "always"]
    assert completed("ww", "help", "resu") == ["resume"]


def test_bash_completes_the_values_of_options(sandbox: Sandbox, repo: Path, completed: Completed) -> None:
    assert completed("ww", "new", "--permissions", "") == ["ask", "auto", "bypass"]
    assert completed("ww", "n", "--permissions", "b") == ["bypass"]
    assert completed("ww", "new", "--permissions", "=", "a") == ["ask", "auto"]
    assert completed("ww", "new", "--launch", "=") == ["session", "window"]
    assert completed("ww", "loop", "--land", "") == ["ticket", "epic", "never"]
    assert completed("ww", "new", "--template", "bug") == ["bugfix"]
    assert completed("ww", "wait", "some-worker", "--for", "wo") == ["working"]
    # Any word may follow: neither options nor choices are offered in its place.
    assert completed("ww", "new", "--name", "") == []
    assert completed("ww", "log", "-l", "") == []
    # After the value, options again.
    assert completed("ww", "new", "--permissions", "ask", "--perm") == ["--permissions"]


def test_bash_completes_agents(repo: Path, completed: Completed) -> None:
    (repo / "woodwind.toml").write_text('[agents.clarinet]\ncommand = "clarinet"\n')
    for words in (["new", "--agent"], ["agents"], ["new", "--agent", "pi", "--agent"], ["plan", "--agent"]):
        assert completed("ww", *words, "cla") == ["claude", "clarinet"], words
    # A configuration that cannot be read is no reason to complain here.
    (repo / "woodwind.toml").write_text("[")
    assert completed("ww", "new", "--agent", "cla") == ["claude"]


def test_bash_completes_names_of_workers(sandbox: Sandbox, repo: Path, completed: Completed) -> None:
    assert completed("ww", "attach", "w") == []
    tree = new_worker(sandbox, repo)
    new_worker(sandbox, repo, "worker-two")
    new_worker(sandbox, repo, "größe")
    for command in ("attach", "send", "exec", "pause", "resume", "diff", "shell", "rm", "show", "log", "path"):
        assert completed("ww", command, "w") == ["worker-one", "worker-two"], command
    assert completed("ww", "rm", "worker-one", "gr") == ["größe"]
    assert completed("ww", "switch", "worker-t") == ["worker-two"]
    assert completed("ww", "attach", "worker-t", cwd=tree) == ["worker-two"]
    assert "worker-one" not in completed("ww", "cleanup", "")
    # Elsewhere there are none, and no complaint about it.
    assert completed("ww", "attach", "w", cwd=sandbox.home) == []
    sandbox.ww("rm", "worker-two", "--yes", cwd=repo, check=True)
    assert completed("ww", "attach", "w") == ["worker-one"]


def test_an_unknown_shell(sandbox: Sandbox) -> None:
    assert sandbox.ww("completion", "tcsh").code == 2
    assert sandbox.ww("completion").code == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_parses(sandbox: Sandbox, shell: str) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed: its completion script was not checked")
    file = sandbox.home / f"script.{shell}"
    file.write_text(sandbox.ww("completion", shell, check=True).stdout)
    assert sandbox.run(shell, "-n", str(file), check=True).stderr == ""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_script_has_everything(sandbox: Sandbox, shell: str) -> None:
    """What can be told without the shell itself: no command is missing, and every quote is closed."""
    text = sandbox.ww("completion", shell, check=True).stdout
    for name in [*COMMANDS, *ALIASES]:
        assert (f"'{name}:" if shell == "zsh" else f" -a {name} ") in text, name
    for line in text.splitlines():
        assert line.startswith("#") or line.count("'") % 2 == 0, line
    if shell == "fish":
        assert "\\:" not in text
    assert "__names" in text
    assert "__agents" in text


def test_fish_really_completes(sandbox: Sandbox, repo: Path, path: dict[str, str]) -> None:
    if not shutil.which("fish"):
        pytest.skip("fish is not installed: its completion was not tried")
    new_worker(sandbox, repo)
    file = sandbox.home / "ww.fish"
    file.write_text(sandbox.ww("completion", "fish", check=True).stdout)
    for typed, offered in {
        "ww resu": "resume",
        "ww attach wor": "worker-one",
        "ww cleanup --dr": "--dry-run",
        "ww new --permissions b": "bypass",
        "ww new --permissions=b": "--permissions=bypass",
        "ww new --agent gem": "gemini",
    }.items():
        asked = f"source {file}; complete -C '{typed}'"
        told = sandbox.run("fish", "--no-config", "-c", asked, cwd=repo, env=path, check=True).stdout
        assert [line.partition("\t")[0] for line in told.splitlines()] == [offered], typed


# What is typed before Tab, and how zsh goes on; there are a worker-one and a work.txt.
IN_ZSH = [
    ("ww resu", "ww resume"),
    ("ww attach w", "ww attach worker-one"),
    ("ww rm worker-one w", "ww rm worker-one worker-one"),
    ("ww cleanup --dr", "ww cleanup --dry-run"),
    ("ww completion f", "ww completion fish"),
    ("ww new --permissions b", "ww new --permissions bypass"),
    ("ww new --permissions=b", "ww new --permissions=bypass"),
    ("ww new --agent clar", "ww new --agent clarinet"),
    ("ww new --agent=clar", "ww new --agent=clarinet"),
    ("ww send worker-one --file wor", "ww send worker-one --file work.txt"),
    ("ww send worker-one --file=wor", "ww send worker-one --file=work.txt"),
]


def test_zsh_really_completes(sandbox: Sandbox, repo: Path, path: dict[str, str]) -> None:
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed: its completion was not tried")
    new_worker(sandbox, repo)
    (repo / "woodwind.toml").write_text('[agents.clarinet]\ncommand = "clarinet"\n')
    (repo / "work.txt").touch()
    folder = sandbox.home / "zsh"
    folder.mkdir()
    (folder / "_ww").write_text(sandbox.ww("completion", "zsh", check=True).stdout)
    start = f"PROMPT='ready> '\nfpath=({folder} $fpath)\nautoload -Uz compinit\ncompinit -u\n"
    (folder / ".zshrc").write_text(start)
    # Without the system's own start-up files. tmux itself would put another PATH in place of this one.
    words = ("env", f"PATH={path['PATH']}", f"ZDOTDIR={folder}", "zsh", "-d", "-i")
    pane = sandbox.run_in_pane(*words, cwd=repo)
    for typed, whole in IN_ZSH:
        # Keys of the line editor alone: a Ctrl-C may meet a completion that is not quite through.
        sandbox.press(pane, "C-u")
        await_line(sandbox, pane, "ready>")
        sandbox.type_in(pane, typed, enter=False)
        await_line(sandbox, pane, f"ready> {typed}")
        sandbox.press(pane, "Tab")
        await_line(sandbox, pane, f"ready> {whole}")


def await_line(box: Sandbox, pane: str, line: str) -> None:
    """Wait until the last prompt stands there with what belongs behind it."""

    def there() -> bool:
        prompts = [shown.rstrip() for shown in box.screen(pane).splitlines() if shown.startswith("ready>")]
        return prompts[-1:] == [line]

    box.wait_for(there, what=f"{line!r} in zsh")
