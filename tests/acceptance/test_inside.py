"""`ww next`, `ww exec`, `ww shell` and `ww diff`: going to a worker, and looking into its folder."""

import sys
from pathlib import Path

from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker, panes_of, rehearse, wait_until

WW = (sys.executable, "-m", "woodwind")


def test_next_takes_the_question_before_the_one_that_is_ready(sandbox: Sandbox, repo: Path) -> None:
    nobody = sandbox.ww("next", "--json", cwd=repo)
    assert (nobody.code, nobody.json["error"]["code"]) == (3, "nobody_waits")
    rehearse(sandbox, repo, "think 600", name="busy")
    wait_until(sandbox, repo, "working", "busy")
    nobody = sandbox.ww("next", cwd=repo)
    assert (nobody.code, nobody.stdout) == (3, "")
    rehearse(sandbox, repo, "exit 0", name="over")
    wait_until(sandbox, repo, "exited", "over")
    assert sandbox.ww("next", cwd=repo, check=True).stdout == "over\n"
    rehearse(sandbox, repo, name="idle")
    wait_until(sandbox, repo, "ready", "idle")
    assert sandbox.ww("next", cwd=repo, check=True).stdout == "idle\n"
    rehearse(sandbox, repo, "ask Which one?", name="asks")
    wait_until(sandbox, repo, "asking", "asks")
    assert sandbox.ww("next", cwd=repo, check=True).stdout == "asks\n"
    assert sandbox.ww("next", "--json", cwd=repo, check=True).json["data"]["name"] == "asks"


def test_next_brings_a_person_there(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo, "ask Which one?")
    wait_until(sandbox, repo, "asking")
    terminal = sandbox.run_in_pane(*WW, "next", server="terminal", cwd=repo, env={"TMUX": ""})
    sandbox.wait_for(lambda: "? Which one?" in sandbox.screen(terminal, server="terminal"), what="the worker's screen")
    [pane] = panes_of(sandbox, worker["id"])
    assert sandbox.fact(pane, "session_attached") == "1"


def test_exec_runs_in_the_worktree_and_passes_the_status_on(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    assert sandbox.ww("exec", "worker-one", "--", "pwd", "-P", cwd=repo, check=True).stdout == f"{tree}\n"
    branch = sandbox.ww("exec", "worker-one", "--", "git", "branch", "--show-current", cwd=repo, check=True).stdout
    assert branch == git(tree, "branch", "--show-current") + "\n"
    for status in (0, 1, 6, 42, 255):
        assert sandbox.ww("exec", "worker-one", "--", "sh", "-c", f"exit {status}", cwd=repo).code == status
    assert sandbox.ww("exec", "worker-one", "--", "sh", "-c", "kill -TERM $$", cwd=repo).code == 143
    assert sandbox.ww("exec", "worker-one", "--", "sh", "-c", "kill -KILL $$", cwd=repo).code == 137
    missing = sandbox.ww("exec", "worker-one", "--", "no-such-program", cwd=repo)
    assert missing.code == 4
    assert "no-such-program was not found" in missing.stderr
    assert sandbox.ww("exec", "worker-one", "--", "sh", "-c", "cat", cwd=repo, input="typed\n").stdout == "typed\n"
    assert sandbox.ww("exec", "worker-one", cwd=repo).code == 2
    assert sandbox.ww("exec", "worker-one", "--", cwd=repo).code == 2
    assert sandbox.ww("exec", "nobody", "--", "true", cwd=repo).code == 3


def test_exec_is_not_led_away_by_git_variables(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    words = [*WW, "exec", "worker-one", "--", "git", "rev-parse", "--show-toplevel"]
    led = sandbox.run("env", f"GIT_DIR={repo}/.git", f"GIT_WORK_TREE={repo}", *words, cwd=repo, check=True)
    assert led.stdout == f"{tree}\n"


def test_exec_as_json_captures(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    script = "echo out; echo err >&2; exit 6"
    for words, env in (
        (("exec", "--json", "worker-one", "--"), {}),
        (("exec", "worker-one", "--json", "--"), {}),
        (("--json", "exec", "worker-one", "--"), {}),
        (("exec", "worker-one", "--"), {"WOODWIND_FORMAT": "json"}),
    ):
        done = sandbox.ww(*words, "sh", "-c", script, cwd=repo, env=env)
        assert done.code == 6
        assert done.json["ok"] is True
        assert done.json["data"] == {"status": 6, "stdout": "out\n", "stderr": "err\n"}
    passed = sandbox.ww("exec", "worker-one", "--", "echo", "--json", cwd=repo, check=True)
    assert passed.stdout == "--json\n"


def test_a_folder_that_is_not_the_worktree_any_more(sandbox: Sandbox, repo: Path) -> None:
    """In a plain folder inside another repository, git would work on that one."""
    tree = new_worker(sandbox, repo)
    tree.rename(sandbox.home / "elsewhere")
    for made in (None, tree):
        if made:
            make_repo(tree.parent)
            made.mkdir()
        for words in (
            ("exec", "worker-one", "--json", "--", "git", "rev-parse", "--show-toplevel"),
            ("diff", "worker-one", "--json"),
        ):
            refused = sandbox.ww(*words, cwd=repo)
            assert refused.code == 3, refused
            assert refused.json["error"]["code"] == "no_folder"


def test_shell_is_for_people(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    refused = sandbox.ww("shell", "worker-one", cwd=repo)
    assert refused.code == 2
    assert "ww exec" in refused.stderr
    pane = sandbox.run_in_pane(*WW, "shell", "worker-one", server="terminal", cwd=repo)
    sandbox.type_in(pane, "pwd -P > here; mv here there; exit 5", server="terminal")
    assert sandbox.exit_status(pane, server="terminal") == 5
    assert (tree / "there").read_text() == f"{tree}\n"


def test_diff_has_what_is_committed_and_what_is_not(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    commit(tree, "Mine", {"mine.txt": "committed\n"})
    (tree / "README.md").write_text("# Changed\n")
    (tree / "staged.txt").write_text("staged\n")
    git(tree, "add", "staged.txt")
    (tree / "new.txt").write_text("untracked\n")
    (tree / "picture.bin").write_bytes(bytes(range(256)))
    git(tree, "add", "picture.bin")
    # What others do on the base meanwhile is not the worker's.
    commit(repo, "Theirs", {"theirs.txt": "theirs\n"})

    whole = sandbox.ww("diff", "worker-one", cwd=repo, check=True).stdout
    for part in ("+committed", "+# Changed", "+staged", "picture.bin differ", "untracked: new.txt"):
        assert part in whole, part
    assert "theirs" not in whole
    short = sandbox.ww("diff", "worker-one", "--stat", cwd=repo, check=True).stdout
    assert "mine.txt" in short
    assert "4 files changed" in short
    assert "+committed" not in short
    committed = sandbox.ww("diff", "worker-one", "--committed", "--json", cwd=repo, check=True).json["data"]
    assert "+committed" in committed["diff"]
    assert "Changed" not in committed["diff"]
    assert committed["untracked"] == []
    data = sandbox.ww("diff", "worker-one", "--json", cwd=repo, check=True).json["data"]
    assert data["name"] == "worker-one"
    assert data["untracked"] == ["new.txt"]
    inside = sandbox.ww("diff", "--committed", "--json", cwd=tree, check=True).json["data"]
    assert inside == committed


def test_a_diff_in_a_file_can_be_applied(sandbox: Sandbox, repo: Path) -> None:
    """Line ends, escapes and bytes that are no text are as they are in the files."""
    tree = new_worker(sandbox, repo)
    content = "one\r\ntwo\x1b[31m red\x1b[0m\r\nça\n".encode() + b"\xe9t\xe9\n"
    (tree / "odd.txt").write_bytes(content)
    git(tree, "add", "odd.txt")
    git(tree, "commit", "--quiet", "-m", "Odd")
    git(tree, "config", "color.ui", "always")
    patch = sandbox.home / "work.patch"
    program = " ".join(f"'{word}'" for word in WW)
    sandbox.run("sh", "-c", f"{program} diff worker-one --committed > '{patch}'", cwd=repo, check=True)
    git(repo, "apply", str(patch))
    assert (repo / "odd.txt").read_bytes() == content


def test_nothing_runs_that_the_repository_names_to_show_changes(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    ran = sandbox.home / "ran"
    program = sandbox.home / "program"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\ncat \"$1\"\n")
    program.chmod(0o755)
    commit(tree, "Work", {"src/app.py": "print('changed')\n"})
    commit(repo, "Ours", {"src/app.py": "print('ours')\n"})
    git(repo, "config", "diff.external", str(program))
    git(repo, "config", "diff.mine.textconv", str(program))
    git(repo, "config", "diff.mine.command", str(program))
    git(repo, "config", "core.fsmonitor", str(program))
    git(repo, "config", "core.hooksPath", str(sandbox.home))
    (repo / ".git" / "info" / "attributes").write_text("* diff=mine\n")
    (tree / "README.md").write_text("# Changed\n")
    for words in ((), ("--stat",), ("--committed",), ("--json",)):
        sandbox.ww("diff", "worker-one", *words, cwd=repo, check=True)
    for command in ("show worker-one", "review worker-one", "forecast", "critic ship worker-one", "queue", "history"):
        sandbox.ww(*command.split(), cwd=repo, check=True)
    sandbox.ww("ship", "worker-one", "--dry-run", cwd=repo, check=True)
    shipped = sandbox.ww("ship", "worker-one", "--yes", "--no-verify", cwd=repo)
    assert "conflicts with main in src/app.py" in shipped.stderr  # for that they were compared
    assert "+# Changed" in sandbox.ww("diff", "worker-one", cwd=repo, check=True).stdout
    shown = (*WW, "diff", "worker-one")
    pane = sandbox.run_in_pane(*shown, server="terminal", cwd=repo, env={"GIT_PAGER": "cat"}, until_shown=True)
    assert sandbox.exit_status(pane, server="terminal") == 0
    assert "+# Changed" in sandbox.screen(pane, server="terminal")
    assert not ran.exists()
