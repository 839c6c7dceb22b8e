"""Text that tries to be more than text: it is stored, shown and passed on as text, or refused."""

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Sandbox

Footprint = Callable[[Path], dict[str, Any]]

TEXTS = {
    "punctuation": "!!! ??? *** ;;; &&",
    "chinese": "修复登录页面的崩溃",
    "newlines": "First line\nsecond line\r\n\r\nlast",
    "quotes": """it's "quoted" `ticks` \\back""",
    "shell": "$(touch canary) `touch canary` ; touch canary | touch canary & touch canary",
    "tmux": "#(touch canary) #{pid} ##(touch canary)",
    "ansi": "\x1b[31mred\x1b[0m \x9b31mred",
    "title": "\x1b]0;owned\x07title \x1b]2;owned\x1b\\",
    "nul": "nul\0byte",
    "bidi": "safe \u202egnp.exe\u2066",
    "option": "--force -rf --help",
    "path": "../../etc/passwd",
    "format": "{name} {0} %s %n {repo.__class__}",
    "markdown": "# Heading\n```\n<script>alert(1)</script>",
    "emoji": "👩\u200d💻 add emoji e\u0301",
    "lone surrogate": "half \udc80 byte",
}
# What no terminal may be sent from a text of ours.
RAW = ("\x1b", "\x07", "\0", "\x9b", "\u202e", "\u2066")


def run_task(sandbox: Sandbox, repo: Path, text: str) -> dict[str, Any]:
    """A worker with that task, given as a word where a word can hold it, else by file."""
    if "\0" in text:
        (sandbox.home / "task").write_bytes(os.fsencode(text))
        words = ["--file", str(sandbox.home / "task")]
    else:
        words = ["--", text]
    done = sandbox.ww("new", "--json", *words, cwd=repo, check=True)
    [worker] = done.json["data"]["workers"]
    assert isinstance(worker, dict)
    return worker


def canaries(sandbox: Sandbox) -> list[Path]:
    return [p for p in sandbox.root.rglob("canary*") if p.name.startswith("canary")]


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in TEXTS.items()])
def test_a_task_is_text(sandbox: Sandbox, repo: Path, text: str) -> None:
    worker = run_task(sandbox, repo, text)
    tree = Path(worker["path"])
    assert tree.parent == repo.parent / "project.worktrees"
    assert git(tree, "symbolic-ref", "--short", "HEAD") == worker["branch"]
    brief = (tree / ".woodwind" / "brief.md").read_text()
    for said in ("ls", "show", "log"):
        done = sandbox.ww(said, *([] if said == "ls" else [worker["name"]]), cwd=repo, check=True)
        assert not [raw for raw in RAW if raw in done.stdout + brief], done
        data = sandbox.ww(said, "--json", *([] if said == "ls" else [worker["name"]]), cwd=repo, check=True).json
        assert data["ok"]
    assert sandbox.tmux("list-panes", "-a", "-F", "#{session_name} #{window_name}").isascii()
    assert not canaries(sandbox)
    sandbox.ww("rm", worker["name"], "--yes", cwd=repo, check=True)
    assert not tree.exists()


def test_the_words_of_the_task_reach_the_brief(sandbox: Sandbox, repo: Path) -> None:
    for name in ("chinese", "quotes", "shell", "tmux", "markdown", "format"):
        tree = Path(run_task(sandbox, repo, TEXTS[name])["path"])
        assert TEXTS[name] in (tree / ".woodwind" / "brief.md").read_text()
    tree = Path(run_task(sandbox, repo, TEXTS["newlines"])["path"])
    assert "First line\nsecond line\n\nlast" in (tree / ".woodwind" / "brief.md").read_text()


@pytest.mark.parametrize("how", ["file", "input"])
def test_a_task_of_a_megabyte(sandbox: Sandbox, repo: Path, how: str) -> None:
    text = "Sort the list\n" + "0123456789abcde\n" * (1 << 16)
    if how == "file":
        (sandbox.home / "task").write_text(text)
    words = ["--file", str(sandbox.home / "task")] if how == "file" else ["-"]
    done = sandbox.ww("new", "--json", *words, cwd=repo, input=text if how == "input" else "", check=True)
    [worker] = done.json["data"]["workers"]
    assert worker["name"] == "sort-list"
    assert text.strip() in (Path(worker["path"]) / ".woodwind" / "brief.md").read_text()
    assert len(sandbox.ww("ls", cwd=repo, check=True).stdout) < 1000
    [shown] = sandbox.ww("show", "sort-list", "--json", cwd=repo, check=True).json["data"]
    assert shown["task"] == text.strip()


def test_a_task_that_is_too_long_is_refused(sandbox: Sandbox, repo: Path, footprint: Footprint) -> None:
    before = footprint(repo)
    done = sandbox.ww("new", "-", cwd=repo, input="x" * (5 << 20))
    assert done.code == 2
    assert "longer than 4 MB" in done.stderr
    assert footprint(repo) == before


@pytest.mark.parametrize("flag", ["--name", "--branch", "--base"])
def test_as_a_flag_such_text_is_refused_and_changes_nothing(
    sandbox: Sandbox, repo: Path, footprint: Footprint, flag: str
) -> None:
    before = footprint(repo)
    for name, text in TEXTS.items():
        if "\0" in text or (name == "chinese" and flag != "--base"):
            continue
        done = sandbox.ww("new", "Add a greeting", f"{flag}={text}", cwd=repo)
        assert done.code in (2, 3), (name, done)
        assert done.stderr.startswith("ww: ")
        assert "a bug in Woodwind" not in done.stderr
        assert not [raw for raw in RAW if raw in done.stderr], (name, done)
    assert footprint(repo) == before
    assert not canaries(sandbox)


@pytest.mark.parametrize("text", ["\x1b]0;owned\x07", "\x1b[2J", "\u202eevil", "x\ny"])
@pytest.mark.parametrize(
    "words",
    [
        ("{}",),
        ("new", "x", "--{}"),
        ("new", "x", "--agent", "{}"),
        ("show", "{}"),
        ("-C", "{}", "ls"),
        ("config", "{}"),
        ("--{}",),
    ],
)
def test_errors_do_not_repeat_escapes(sandbox: Sandbox, repo: Path, text: str, words: tuple[str, ...]) -> None:
    done = sandbox.ww(*(w.format(text) for w in words), cwd=repo)
    assert done.code in (2, 3)
    assert not [raw for raw in RAW if raw in done.stderr + done.stdout], done


@pytest.mark.parametrize(
    "folder",
    [
        "we#(touch canary)ird $(touch canary) 'q\"",
        "#{pid} ;",
        "-dash",
        "a\nb",
        "\x1b[31mred",
        "中文 é",
        "%H:%M ~ `touch canary`",
        "{name}",
        "x.git",
    ],
)
def test_a_repository_in_a_folder_with_an_odd_name(sandbox: Sandbox, repo: Path, folder: str) -> None:
    path = make_repo(sandbox.home / folder)
    (path / "woodwind.toml").write_text((repo / "woodwind.toml").read_text())
    done = sandbox.ww("new", "Add a greeting", cwd=path, check=True)
    assert not [raw for raw in RAW if raw in done.stdout], done
    [worker] = sandbox.ww("ls", "--json", cwd=path, check=True).json["data"]
    tree = Path(worker["path"])
    assert tree == sandbox.home / f"{folder.removesuffix('.git')}.worktrees" / "add-greeting"
    pid = sandbox.tmux("list-panes", "-a", "-F", "#{pane_pid}")
    sandbox.wait_for(lambda: Path(f"/proc/{pid}/comm").read_text().strip() == "cat")
    assert os.readlink(f"/proc/{pid}/cwd") == str(tree)
    assert sandbox.tmux("list-sessions", "-F", "#{session_name}").isascii()
    assert sandbox.ww("path", "add-greeting", cwd=path, check=True).stdout == f"{tree}\n"
    sandbox.ww("show", "add-greeting", cwd=path, check=True)
    (tree / "new file").write_text("mine")
    sandbox.ww("rm", "add-greeting", "--force", "--yes", cwd=path, check=True)
    sandbox.ww("restore", "add-greeting", cwd=path, check=True)
    assert (tree / "new file").read_text() == "mine"
    assert not canaries(sandbox)


def test_what_an_agent_writes_is_shown_as_text(sandbox: Sandbox, repo: Path) -> None:
    """Commit messages, file names, terminal title and screen are an agent's, and may come from anywhere."""
    talker = sandbox.home / "talker"
    talker.write_text(
        "#!/bin/sh\n"
        "printf '\\033]0;\\342\\227\\217 #(touch canary) | %%end 1\\007'\n"
        "printf 'said \\033[31mred\\033[0m\\n%%end 1 2 3\\n#(touch canary)\\n'\n"
        "exec cat\n"
    )
    talker.chmod(0o755)
    with (repo / "woodwind.toml").open("a") as file:
        file.write(f"[agents.talker]\ncommand = {json.dumps(str(talker))}\n")
    done = sandbox.ww("new", "Talk", "--agent", "talker", "--json", cwd=repo, check=True)
    tree = Path(done.json["data"]["workers"][0]["path"])
    commit(tree, "Subject \x1b]0;owned\x07 \u202eevil #(touch canary)", {"a": "1"})
    (tree / "file \x1b[31m \u202e;touch canary").write_text("x")
    sandbox.wait_for(lambda: "said red" in sandbox.ww("log", "talk", cwd=repo, check=True).stdout)
    for words in (
        ("ls",),
        ("show", "talk"),
        ("log", "talk"),
        ("rm", "talk", "--yes"),
        ("rm", "talk", "--yes", "--force"),
    ):
        done = sandbox.ww(*words, cwd=repo)
        assert not [raw for raw in RAW if raw in done.stdout + done.stderr], done
        if words[0] == "show":
            assert "Subject" in done.stdout
            assert "%end 1 2 3" in done.stdout
    assert not canaries(sandbox)


def test_colours_are_ours_alone(sandbox: Sandbox, repo: Path) -> None:
    tree = Path(run_task(sandbox, repo, "Add a greeting")["path"])
    commit(tree, "Subject \x1b[2J\x1b]0;owned\x07 end", {"a": "1"})
    shown = sandbox.ww("show", "add-greeting", cwd=repo, env={"WOODWIND_OUTPUT_COLOR": "always"}, check=True).stdout
    assert "\x1b[1madd-greeting\x1b[0m" in shown
    assert "Subject  end" in shown
    assert "\x1b[2J" not in shown
    assert "\x1b]" not in shown


def test_the_path_can_be_used_in_a_shell(sandbox: Sandbox, repo: Path) -> None:
    odd = make_repo(sandbox.home / "we $(touch canary) 'q")
    sandbox.ww("new", "--no-agent", "--name", "one", cwd=odd, check=True)
    ww = f"{shlex.quote(sys.executable)} -m woodwind"
    done = sandbox.run("sh", "-c", f'cd "$({ww} path one)" && pwd', cwd=odd, check=True)
    assert done.stdout == f"{sandbox.home}/we $(touch canary) 'q.worktrees/one\n"
    assert not canaries(sandbox)
