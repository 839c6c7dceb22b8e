"""Hooks of a project run only once their exact text was approved; the user's own always do."""

import json
import sys
from pathlib import Path
from typing import Any

from woodwind.testing.repo import make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker

TOY = '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'


def project(box: Sandbox, hooks: str, *, own: bool = False) -> Path:
    repo = make_repo(box.home / "project", files={"README.md": "x\n", ".gitignore": "woodwind.toml\n"})
    folder = Path(box.env["XDG_CONFIG_HOME"], "woodwind")
    folder.mkdir()
    (folder / "config.toml").write_text(TOY + (hooks if own else ""))
    if not own:
        (repo / "woodwind.toml").write_text(hooks)
    return repo


def setup(command: str) -> str:
    return f"[hooks]\nsetup = {json.dumps(command)}\n"


def ready(box: Sandbox, repo: Path, name: str = "worker-one") -> dict[str, Any]:
    def ended() -> dict[str, Any] | None:
        found: dict[str, Any] = box.ww("show", name, "--json", cwd=repo, check=True).json["data"][0]["environment"]
        return found if found["state"] not in ("pending", "running") else None

    return box.wait_for(ended, 60, "the setup hook to end") or {}


def test_a_projects_hook_needs_approval_and_again_when_it_changes(sandbox: Sandbox) -> None:
    repo = project(sandbox, setup("echo $WOODWIND_WORKER_NAME >> $HOME/ran"))
    refused = sandbox.ww("new", "Work", "--name", "one", cwd=repo, check=True)
    assert "hooks.setup of" in refused.stderr
    assert "is not approved" in refused.stderr
    assert ready(sandbox, repo, "one")["state"] == "none"
    agent = sandbox.ww("hooks", "approve", "--json", cwd=repo, env={"WOODWIND_WORKER": "w1"})
    assert agent.json["error"]["code"] == "not_yours"
    [hook] = sandbox.ww("hooks", "approve", "--json", cwd=repo, check=True).json["data"]
    assert (hook["hook"], hook["may_run"]) == ("setup", True)
    assert sandbox.ww("new", "Work", "--name", "two", cwd=repo, check=True).stderr == ""
    assert ready(sandbox, repo, "two")["state"] == "done"
    assert (sandbox.home / "ran").read_text() == "two\n"
    (repo / "woodwind.toml").write_text(setup("echo changed >> $HOME/ran"))
    assert "is not approved" in sandbox.ww("new", "Work", "--name", "three", cwd=repo, check=True).stderr
    sandbox.ww("hooks", "revoke", cwd=repo, check=True)
    (repo / "woodwind.toml").write_text(setup("echo $WOODWIND_WORKER_NAME >> $HOME/ran"))
    assert "does not run" in sandbox.ww("hooks", cwd=repo, check=True).stdout
    assert (sandbox.home / "ran").read_text() == "two\n"
    assert sandbox.ww("hooks", "approve", "party", "--json", cwd=repo).json["error"]["code"] == "usage"


def test_what_hides_a_part_of_itself_on_a_screen_cannot_be_approved(sandbox: Sandbox) -> None:
    hidden = "\x1b]0; touch $HOME/ran; \x07make seed"
    repo = project(sandbox, setup(hidden))
    refused = sandbox.ww("hooks", "approve", "--json", cwd=repo)
    assert (refused.code, refused.json["error"]["code"]) == (1, "hidden_text"), refused
    assert "\\x1b]0; touch $HOME/ran; \\x07make seed" in refused.json["error"]["hint"]
    shown = sandbox.ww("hooks", cwd=repo, check=True).stdout
    assert "does not run" in shown
    assert "touch $HOME/ran" in shown
    made = sandbox.ww("new", "Work", "--name", "one", cwd=repo, check=True)
    assert "hide a part of it on a screen, so it does not run" in made.stderr
    assert ready(sandbox, repo, "one")["state"] == "none"
    (repo / "woodwind.toml").write_text(setup("if true\nthen\n\ttrue # å\nfi\n"))
    assert sandbox.ww("hooks", "approve", cwd=repo).code == 0


def test_a_person_is_asked_once_and_sees_the_text(sandbox: Sandbox) -> None:
    repo = project(sandbox, setup("touch $HOME/ran"))
    pane = sandbox.run_in_pane(
        sys.executable, "-m", "woodwind", "new", "Work", "-n", "2", cwd=repo, env=dict(sandbox.env)
    )
    sandbox.wait_for(lambda: "Allow it? [y/N]" in sandbox.screen(pane), 60, "the question")
    assert "touch $HOME/ran" in sandbox.screen(pane)
    sandbox.type_in(pane, "y")
    assert sandbox.exit_status(pane, timeout=60) == 0
    assert sandbox.screen(pane).count("Allow it?") == 1
    sandbox.wait_for(lambda: (sandbox.home / "ran").exists(), 60, "the hook to run")


def test_commands_of_a_project_that_install_are_hooks_too_and_the_users_own_run(sandbox: Sandbox) -> None:
    commands = ["echo one", "echo two > mine", "exit 3", "echo three > mine"]
    repo = project(sandbox, f"[environment]\ncommands = {json.dumps(commands)}\n", own=True)
    tree = new_worker(sandbox, repo)
    assert ready(sandbox, repo)["detail"] == "the installation ended with status 3"
    assert (tree / "mine").read_text() == "two\n"
    (repo / "woodwind.toml").write_text('[environment]\ncommands = ["echo bad > theirs"]\n')
    made = sandbox.ww("new", "Work", "--name", "two", cwd=repo, check=True)
    assert "environment.commands of" in made.stderr
    assert ready(sandbox, repo, "two")["state"] == "none"


def test_a_teardown_runs_before_parking_and_its_failure_is_told(sandbox: Sandbox) -> None:
    repo = project(sandbox, '[hooks]\nteardown = "pwd >> $HOME/ran; exit 4"\ntimeout = 60\n', own=True)
    tree = new_worker(sandbox, repo)
    removed = sandbox.ww("rm", "worker-one", "--yes", cwd=repo, check=True)
    assert (sandbox.home / "ran").read_text() == f"{tree}\n"
    assert "the teardown hook of worker-one ended with status 4" in removed.stderr
    assert not tree.exists()
    new_worker(sandbox, repo, "two")
    cut = sandbox.ww("rm", "two", "--yes", cwd=repo, env={"WOODWIND_FAILPOINT": "remove.before_teardown"})
    assert cut.code == -9
    assert sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"] == []  # finished by the next command
    assert len((sandbox.home / "ran").read_text().splitlines()) == 2


def test_a_teardown_that_hangs_is_ended(sandbox: Sandbox) -> None:
    repo = project(sandbox, '[hooks]\nteardown = "sleep 600 & wait"\ntimeout = 1\n', own=True)
    new_worker(sandbox, repo)
    removed = sandbox.ww("rm", "worker-one", "--yes", cwd=repo, check=True)
    assert "did not end within 1 seconds" in removed.stderr
