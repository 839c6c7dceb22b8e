"""`ww config`: what holds, who set it, and what is wrong with it."""

import sys
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.sandbox import Sandbox


def user_file(sandbox: Sandbox) -> Path:
    path = Path(sandbox.env["XDG_CONFIG_HOME"], "woodwind", "config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def show(sandbox: Sandbox, cwd: Path, **env: str) -> dict[str, Any]:
    data = sandbox.ww("config", "show", "--json", cwd=cwd, env=env, check=True).json["data"]
    assert isinstance(data, dict)
    return data


def test_the_file_is_written_at_first_use_and_is_valid(sandbox: Sandbox, repo: Path) -> None:
    path = user_file(sandbox)
    assert not path.exists()
    sandbox.ww("config", "show", cwd=repo, check=True)
    text = path.read_text()
    assert "# max_size = " in text
    valid = sandbox.ww("config", "validate", cwd=repo, check=True).stdout
    assert str(path) in valid
    assert str(repo / "woodwind.toml") in valid
    path.write_text("[trash]\ndays = 3\n")
    assert show(sandbox, repo)["values"]["trash.days"] == 3
    assert path.read_text() == "[trash]\ndays = 3\n"


def test_project_over_user_over_default_and_the_environment_over_all(sandbox: Sandbox, repo: Path) -> None:
    user_file(sandbox).write_text('[new]\nprefix = "u"\nbase = "ub"\n[trash]\ndays = 3\n')
    with (repo / "woodwind.toml").open("a") as file:
        file.write('[trash]\nmax_size = "1 GB"\n')
    project = (repo / "woodwind.toml").read_text().replace("[new]", '[new]\nprefix = "p"')
    (repo / "woodwind.toml").write_text(project)
    data = show(sandbox, repo / "src", WOODWIND_NEW_BASE="eb")
    values, sources = data["values"], data["sources"]
    assert (values["new.prefix"], sources["new.prefix"]) == ("p", str(repo / "woodwind.toml"))
    assert (values["new.base"], sources["new.base"]) == ("eb", "$WOODWIND_NEW_BASE")
    assert (values["trash.days"], sources["trash.days"]) == (3, str(user_file(sandbox)))
    assert (values["trash.max_size"], values["tmux.server"]) == ("1 GB", "auto")
    assert "tmux.server" not in sources
    # What is shown is what is done.
    done = sandbox.ww("new", "Add a greeting", "--base", "main", "--json", cwd=repo, check=True)
    assert done.json["data"]["workers"][0]["branch"] == "p/add-greeting"
    # A worker's worktree has the project's configuration too, though the file is not in git.
    assert show(sandbox, Path(done.json["data"]["workers"][0]["path"]))["values"]["new.prefix"] == "p"
    # Outside the project there is only the user's.
    assert show(sandbox, sandbox.home)["values"]["new.prefix"] == "u"


@pytest.mark.parametrize(
    "text, words",
    [
        ('[new]\nagnet = "toy"\n', ["unknown key `new.agnet`", "Did you mean `new.agent`?"]),
        ("[nwe]\n", ["unknown key `nwe`", "Did you mean `new`?"]),
        ('[new]\nagent = "toy"\nbase = \n', ["is not valid TOML", "line 3"]),
        ("[new]\nagent = 7\n", ["new.agent must be a text, found 7"]),
        ('[tmux]\nserver = "mine"\n', ["must be one of auto, user, own", "'mine'"]),
    ],
)
def test_a_damaged_file(sandbox: Sandbox, repo: Path, text: str, words: list[str]) -> None:
    for path in (repo / "woodwind.toml", user_file(sandbox)):
        kept = path.read_text() if path.exists() else ""
        path.write_text(text)
        for command in (("config", "validate"), ("config", "show"), ("new", "x")):
            done = sandbox.ww(*command, cwd=repo)
            assert done.code == 2, done
            assert str(path) in done.stderr
            assert done.stderr.count("ww: ") == 1
            for word in words:
                assert word in done.stderr, done
        # Looking is still possible, and the file is as it was.
        for looking in ("ls", "config path"):
            assert sandbox.ww(*looking.split(), cwd=repo).code == 0
        assert path.read_text() == text
        path.write_text(kept)


def test_where_the_files_are(sandbox: Sandbox, repo: Path) -> None:
    data = sandbox.ww("config", "path", "--json", cwd=repo / "src", check=True).json["data"]
    assert data["user"] == str(user_file(sandbox))
    assert data["project"] == str(repo / "woodwind.toml")
    assert "(none" in sandbox.ww("config", "path", cwd=sandbox.home, check=True).stdout


@pytest.mark.parametrize(
    "spelling", ['[output]\nformat = "json"\n', 'output.format = "json"\n', 'output = { format = "json" }\n']
)
def test_the_output_format_by_file(sandbox: Sandbox, repo: Path, spelling: str) -> None:
    user_file(sandbox).write_text(spelling)
    assert sandbox.ww("ls", cwd=repo, check=True).json["data"] == []
    assert sandbox.ww("nope", cwd=repo).json["ok"] is False
    assert not sandbox.ww("ls", cwd=repo, env={"WOODWIND_FORMAT": "human"}, check=True).stdout.startswith("{")


def test_colours_by_file_and_by_variable(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("new", "Add a greeting", cwd=repo, check=True)
    assert "\x1b[" not in sandbox.ww("ls", cwd=repo, check=True).stdout
    user_file(sandbox).write_text('[output]\ncolor = "always"\n')
    assert "\x1b[1madd-greeting\x1b[0m" in sandbox.ww("ls", cwd=repo, check=True).stdout
    assert "\x1b[" not in sandbox.ww("ls", cwd=repo, env={"WOODWIND_OUTPUT_COLOR": "never"}, check=True).stdout
    assert "\x1b[" not in sandbox.ww("ls", "--json", cwd=repo, check=True).stdout


def test_editing_needs_a_person(sandbox: Sandbox, repo: Path) -> None:
    done = sandbox.ww("config", "edit", cwd=repo, env={"EDITOR": "touch"})
    assert done.code == 2
    assert str(user_file(sandbox)) in done.stderr
    assert sandbox.ww("config", "show", "--project", cwd=repo).code == 2


def test_a_person_edits_and_the_result_is_checked(sandbox: Sandbox, repo: Path) -> None:
    editor = sandbox.home / "my editor"
    editor.write_text('#!/bin/sh\necho "[trash]" > "$2"; echo "dyas = 3" >> "$2"; echo "edited with $1"\n')
    editor.chmod(0o755)
    command = [sys.executable, "-m", "woodwind", "config", "edit"]
    env = {"EDITOR": f"'{editor}' --flag"}
    pane = sandbox.run_in_pane(*command, server="terminal", cwd=repo, env=env, until_shown=True)
    assert sandbox.exit_status(pane, server="terminal") == 2
    shown = sandbox.screen(pane, server="terminal", history=True)
    assert "edited with --flag" in shown
    assert "Did you mean `trash.days`?" in shown
    assert user_file(sandbox).read_text() == "[trash]\ndyas = 3\n"


def test_agents_of_ones_own(sandbox: Sandbox, repo: Path) -> None:
    tool = repo / "tools" / "helper"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\necho "args:"; for a; do echo "<$a>"; done; exec cat\n')
    tool.chmod(0o755)
    with (repo / "woodwind.toml").open("a") as file:
        file.write(
            '[agents.helper]\ncommand = "tools/helper"\nargs = ["--fast", "two words", "$(x) #(y);"]\n'
            'prompt = "flag"\nprompt_flag = "--message"\nplan_args = ["--plan"]\n'
        )
    done = sandbox.ww("new", "x", "--agent", "helper", "--plan-mode", "--json", cwd=repo, check=True)
    name = done.json["data"]["workers"][0]["name"]
    sandbox.wait_for(lambda: "<--message>" in sandbox.ww("log", name, cwd=repo, check=True).stdout)
    said = sandbox.ww("log", name, cwd=repo, check=True).stdout.split("args:\n")[1].splitlines()
    assert said[:5] == ["<--fast>", "<two words>", "<$(x) #(y);>", "<--plan>", "<--message>"]
    assert said[5].startswith("<Read .woodwind/brief.md")
