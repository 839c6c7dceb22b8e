"""`ww show`, `ww log` and `ww attach`: what is known about a worker, and being with it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from woodwind.testing.repo import commit
from woodwind.testing.sandbox import Sandbox

WW = (sys.executable, "-m", "woodwind")


def new(sandbox: Sandbox, cwd: Path, *words: str) -> dict[str, Any]:
    done = sandbox.ww("new", "--json", *words, cwd=cwd, check=True)
    [worker] = done.json["data"]["workers"]
    assert isinstance(worker, dict)
    return worker


def pane_of(sandbox: Sandbox, worker: dict[str, Any], server: str = "woodwind") -> str:
    wanted = f"#{{==:#{{@woodwind}},{worker['id']}}}"
    return sandbox.tmux("list-panes", "-a", "-f", wanted, "-F", "#{pane_id}", server=server)


def test_show_tells_what_there_is(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "Add a greeting\n\nIn every language.")
    tree = Path(worker["path"])
    commit(tree, "Say hello", {"hello.py": "print('hello')\n"})
    (tree / "README.md").write_text("changed\n")
    (tree / "notes.txt").write_text("new\n")
    sandbox.wait_for(lambda: "toy got" in sandbox.ww("log", "add-greeting", cwd=repo, check=True).stdout)
    [data] = sandbox.ww("show", "add-greeting", "--json", cwd=repo, check=True).json["data"]
    assert data["task"] == "Add a greeting\n\nIn every language."
    assert data["title"] == "Add a greeting"
    assert data["base_branch"] == "main"
    assert data["path"] == worker["path"]
    assert [c["subject"] for c in data["commits"]] == ["Say hello"]
    assert data["work"][:3] == ["1 changed file (README.md)", "1 untracked file (notes.txt)", "1 commit not in main"]
    assert any("toy got: Read .woodwind/brief.md" in line for line in data["last_words"])
    shown = sandbox.ww("show", "add-greeting", cwd=repo, check=True).stdout
    for word in (
        "feat/add-greeting, from main at",
        "Say hello",
        "1 untracked file (notes.txt)",
        worker["id"],
        str(tree),
    ):
        assert word in shown
    # From inside the worktree without a name, and of several at once.
    new(sandbox, repo, "Another")
    assert (
        sandbox.ww("show", cwd=tree, check=True).stdout
        == sandbox.ww("show", "add-greeting", cwd=repo, check=True).stdout
    )
    both = sandbox.ww("show", "another", "add", "--json", cwd=repo, check=True).json["data"]
    assert [w["name"] for w in both] == ["another", "add-greeting"]


def test_looking_changes_nothing(sandbox: Sandbox, repo: Path) -> None:
    tree = Path(new(sandbox, repo, "Add a greeting")["path"])
    index = Path(repo, ".git", "worktrees", "add-greeting", "index")
    # An index that git status would refresh, were it let.
    os.utime(tree / "README.md", (1, 1))
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    for words in (("ls",), ("show", "add-greeting"), ("path", "add-greeting"), ("log", "add-greeting")):
        sandbox.ww(*words, cwd=repo, check=True)
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


def test_log_has_the_last_lines_also_of_what_has_scrolled_away(sandbox: Sandbox, repo: Path) -> None:
    counter = sandbox.home / "counter"
    counter.write_text('#!/bin/sh\ni=1; while [ $i -le 300 ]; do echo "line $i"; i=$((i+1)); done; exec cat\n')
    counter.chmod(0o755)
    with (repo / "woodwind.toml").open("a") as file:
        file.write(f'[agents.counter]\ncommand = "{counter}"\n')
    new(sandbox, repo, "Count", "--agent", "counter")
    sandbox.wait_for(lambda: "line 300" in sandbox.ww("log", "count", cwd=repo, check=True).stdout)
    assert sandbox.ww("log", "count", "--lines", "3", cwd=repo, check=True).stdout.split("\n")[:3] == [
        "line 298",
        "line 299",
        "line 300",
    ]
    assert sandbox.ww("log", "count", "-l", "250", cwd=repo, check=True).stdout.startswith("line 51\n")
    text = sandbox.ww("log", "count", "--json", cwd=repo, check=True).json["data"]["text"]
    assert len(text.splitlines()) == 50
    for lines in ("0", "-1", "x"):
        assert sandbox.ww("log", "count", "--lines", lines, cwd=repo).code == 2
    assert sandbox.ww("log", "count", "--follow", "--json", cwd=repo).code == 2


def test_log_goes_on_with_follow_until_the_agent_exits(sandbox: Sandbox, repo: Path) -> None:
    pane = pane_of(sandbox, new(sandbox, repo, "Add a greeting"))
    with subprocess.Popen(
        [*WW, "log", "-", "--follow"], cwd=repo, env=sandbox.env, stdout=subprocess.PIPE, text=True
    ) as follower:
        assert follower.stdout
        seen: list[str] = []

        def read_until(word: str) -> None:
            assert follower.stdout
            while not seen or word not in seen[-1]:
                line = follower.stdout.readline()
                assert line, seen
                seen.append(line)

        read_until("toy got")
        sandbox.type_in(pane, "first message")
        read_until("first message")
        sandbox.type_in(pane, "second message")
        read_until("second message")
        sandbox.press(pane, "C-d")
        rest = follower.stdout.read()
        assert follower.wait(60) == 0
    whole = "".join(seen) + rest
    assert whole.count("toy got") == 1
    assert 1 <= whole.count("first message") <= 2  # what was typed, and what cat said


def test_a_script_cannot_attach(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "Add a greeting")
    done = sandbox.ww("attach", "add-greeting", cwd=repo)
    assert done.code == 2
    assert "ww log add-greeting" in done.stderr


def test_a_person_attaches_from_outside_tmux(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "Add a greeting")
    new(sandbox, repo, "Another")
    # A terminal that is in no tmux as far as `ww` can see.
    terminal = sandbox.run_in_pane("env", "-u", "TMUX", *WW, "attach", "add", server="terminal", cwd=repo)
    client = sandbox.wait_for(lambda: sandbox.tmux("list-clients", "-F", "#{client_session} #{client_control_mode}"))
    assert client == "project-add-greeting 0"
    sandbox.type_in(terminal, "typed by a person", server="terminal")
    sandbox.wait_for(lambda: "typed by a person" in sandbox.screen(pane_of(sandbox, worker)))
    sandbox.press(terminal, "C-b", "d", server="terminal")
    assert sandbox.exit_status(terminal, server="terminal") == 0
    assert sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"][0]["status"] != "exited"


def test_new_with_attach_is_at_the_terminal_at_once(sandbox: Sandbox, repo: Path) -> None:
    command = ("env", "-u", "TMUX", *WW, "new", "Add a greeting", "--attach")
    terminal = sandbox.run_in_pane(*command, server="terminal", cwd=repo)
    sandbox.wait_for(
        lambda: (
            sandbox.run("tmux", "-L", "woodwind", "list-clients", "-F", "#{client_session}").stdout.strip()
            == "project-add-greeting"
        )
    )
    sandbox.wait_for(lambda: "toy got" in sandbox.screen(terminal, server="terminal"))
    # A person started it.
    [data] = sandbox.ww("show", "add-greeting", "--json", cwd=repo, check=True).json["data"]
    assert data["automated"] is False
    pid = sandbox.tmux("list-panes", "-a", "-F", "#{pane_pid}")
    assert b"WOODWIND_AUTOMATED" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_attaching_to_a_terminal_that_is_gone(sandbox: Sandbox, repo: Path) -> None:
    new(sandbox, repo, "Add a greeting")
    sandbox.tmux("kill-server")
    command = ("env", "-u", "TMUX", *WW, "attach", "add")
    terminal = sandbox.run_in_pane(*command, server="terminal", cwd=repo, until_shown=True)
    assert sandbox.exit_status(terminal, server="terminal") == 3
    assert "has no terminal" in sandbox.screen(terminal, server="terminal", history=True)
