"""Many commands at the same time on one repository."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from woodwind.testing.repo import git, make_repo
from woodwind.testing.sandbox import Sandbox


def start(sandbox: Sandbox, cwd: Path, *words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "woodwind", *words]
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=sandbox.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("many", [8, 32])
def test_many_new_at_once_all_succeed(sandbox: Sandbox, repo: Path, many: int) -> None:
    commands = [start(sandbox, repo, "new", "Add a greeting", "--json") for _ in range(many)]
    ends = [(c.communicate(timeout=110), c.returncode) for c in commands]
    assert [(out, err) for (out, err), code in ends if code] == []
    made = [json.loads(out)["data"]["workers"][0] for (out, _), _ in ends]
    for field in ("id", "name", "branch", "path"):
        assert len({w[field] for w in made}) == many, field
    # Numbers without a hole: a name is taken or free, whatever the order.
    assert {w["name"] for w in made} == {"add-greeting", *(f"add-greeting-{n}" for n in range(2, many + 1))}
    listed = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert {w["id"] for w in listed} == {w["id"] for w in made}
    assert {w["status"] for w in listed} == {"unknown"}
    assert len(sandbox.tmux("list-sessions").splitlines()) == many
    for worker in made:
        assert git(Path(worker["path"]), "symbolic-ref", "--short", "HEAD") == worker["branch"]
        assert (Path(worker["path"]) / "src" / "app.py").exists()
    assert len(git(repo, "worktree", "list").splitlines()) == many + 1
    assert git(repo, "fsck", "--no-dangling") == ""


def test_two_projects_and_the_same_words_at_once(sandbox: Sandbox, repo: Path) -> None:
    other = make_repo(sandbox.home / "deep" / "project")
    (other / "woodwind.toml").write_text((repo / "woodwind.toml").read_text())
    commands = [start(sandbox, place, "new", "Same words", "--json") for _ in range(3) for place in (repo, other)]
    commands += [start(sandbox, repo, "ls", "--all", "--json") for _ in range(4)]
    for command in commands:
        said = command.communicate(timeout=60)
        assert command.returncode == 0, said
    for place in (repo, other):
        names = [w["name"] for w in sandbox.ww("ls", "--json", cwd=place, check=True).json["data"]]
        assert sorted(names) == ["same-words", "same-words-2", "same-words-3"]


def test_the_same_asked_for_name_goes_to_one(sandbox: Sandbox, repo: Path) -> None:
    commands = [start(sandbox, repo, "new", "x", "--name", "only", "--branch", f"b-{n}") for n in range(5)]
    ends = [(c.communicate(timeout=60), c.returncode) for c in commands]
    assert sorted(code for _, code in ends) == [0, 1, 1, 1, 1], ends
    assert all("there is a worker 'only' already" in err for (_, err), code in ends if code), ends
    assert len(git(repo, "branch", "--format=%(refname:short)").splitlines()) == 2
    assert len(sandbox.tmux("list-sessions").splitlines()) == 1


def test_making_and_removing_at_once(sandbox: Sandbox, repo: Path) -> None:
    for n in range(4):
        sandbox.ww("new", "x", "--name", f"old-{n}", cwd=repo, check=True)
    commands = [start(sandbox, repo, "rm", f"old-{n}", "--yes") for n in range(4)]
    commands += [start(sandbox, repo, "new", "x", "--name", f"young-{n}") for n in range(4)]
    for command in commands:
        said = command.communicate(timeout=60)
        assert command.returncode == 0, said
    names = [w["name"] for w in sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]]
    assert sorted(names) == [f"young-{n}" for n in range(4)]
    assert len(sandbox.tmux("list-sessions").splitlines()) == 4
