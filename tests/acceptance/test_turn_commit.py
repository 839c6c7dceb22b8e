"""An agent that cannot commit in its own sandbox gets its tree committed at the end of a turn."""

import sys
from pathlib import Path

from woodwind.testing.repo import commit, git
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import rehearse

# A Codex that writes a file, then ends its turn as the real one does: with the Stop hook of its flags.
CODEX = """#!{python}
import json, pathlib, subprocess, sys, time, tomllib
[word] = [w for w in sys.argv if w.startswith("hooks.Stop=")]
command = tomllib.loads(word)["hooks"]["Stop"][0]["hooks"][0]["command"]
pathlib.Path("new file.txt").write_text("made by codex")
said = {{"hook_event_name": "Stop", "turn_id": "t1", "last_assistant_message": {message!r}}}
subprocess.run(["sh", "-c", command], input=json.dumps(said).encode(), check=True)
print("turn over", "__turn-ended" in command, flush=True)
time.sleep(600)
"""


def start_codex(sandbox: Sandbox, repo: Path, message: str, *flags: str) -> Path:
    stub = sandbox.home / "bin" / "codex"
    stub.parent.mkdir(exist_ok=True)
    stub.write_text(CODEX.format(python=sys.executable, message=message))
    stub.chmod(0o755)
    env = {"PATH": f"{stub.parent}:{sandbox.env['PATH']}"}
    made = sandbox.ww("new", "Write it", "--agent", "codex", "--json", *flags, cwd=repo, env=env, check=True)
    [worker] = made.json["data"]["workers"]
    sandbox.wait_for(lambda: "turn over" in sandbox.ww("log", worker["name"], cwd=repo).stdout, what="the turn's end")
    return Path(worker["path"])


def test_the_tree_is_committed_with_the_last_words(sandbox: Sandbox, repo: Path) -> None:
    tree = start_codex(sandbox, repo, "Added the file.\n\nIt holds one line.", "--permissions", "auto")
    assert git(tree, "log", "-1", "--format=%B").strip() == "Added the file.\n\nIt holds one line."
    assert git(tree, "status", "--porcelain").strip() == ""
    assert "new file.txt" in git(tree, "show", "--stat", "--format=", "HEAD")
    assert ".woodwind" not in git(tree, "ls-files")


def test_an_agent_that_can_commit_is_left_to_it(sandbox: Sandbox, repo: Path) -> None:
    tree = start_codex(sandbox, repo, "Done.", "--permissions", "bypass")
    assert "turn over False" in sandbox.ww("log", "write", cwd=repo, check=True).stdout
    assert git(tree, "status", "--porcelain").strip() == '?? "new file.txt"'


def test_a_turn_without_words_takes_the_task_as_the_message(sandbox: Sandbox, repo: Path) -> None:
    tree = start_codex(sandbox, repo, "", "--permissions", "auto")
    assert git(tree, "log", "-1", "--format=%s").strip() == "Write it"


def test_a_planted_commit_hook_does_not_run(sandbox: Sandbox, repo: Path) -> None:
    canary = sandbox.home / "canary"
    hook = repo / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {canary}\n")
    hook.chmod(0o755)
    tree = start_codex(sandbox, repo, "Done.", "--permissions", "auto")
    assert git(tree, "log", "-1", "--format=%s").strip() == "Done."
    assert not canary.exists()


def test_the_hook_always_ends_well_and_logs_what_went_wrong(sandbox: Sandbox, repo: Path) -> None:
    for payload in ("not json", "[]", '{"last_assistant_message": 7}'):
        done = sandbox.ww("__turn-ended", input=payload, cwd=repo, env={"WOODWIND_WORKER": "wnobody"})
        assert (done.code, done.stdout) == (0, "")
    log = Path(sandbox.env["XDG_STATE_HOME"]) / "woodwind" / "ww.log"
    assert "there is no worker wnobody" in log.read_text()


def test_modules_that_lie_in_the_worktree_are_not_imported(sandbox: Sandbox, repo: Path) -> None:
    """What Python finds in the current folder would run as us, outside of the agent's sandbox."""
    canary = sandbox.home / "canary"
    spy = f"open({str(canary)!r}, 'a').write(__name__)\nraise ImportError\n"
    names = ("woodwind/__init__.py", "woodwind/__main__.py", "json.py", "signal.py", "sqlite3.py", "argparse.py")
    commit(repo, "Shadow modules", dict.fromkeys(names, spy))
    tree = start_codex(sandbox, repo, "Done.", "--permissions", "auto")
    assert not canary.exists(), canary.read_text()
    assert git(tree, "log", "-1", "--format=%s").strip() == "Done."
    rehearse(sandbox, repo, "say Hello", name="played")
    sandbox.wait_for(lambda: "Hello" in sandbox.ww("log", "played", cwd=repo).stdout, what="the rehearsal agent")
    assert not canary.exists(), canary.read_text()
