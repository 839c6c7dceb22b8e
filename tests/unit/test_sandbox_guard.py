"""The sandbox's guards: nothing in it reaches the caller's files, tmux or git."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from woodwind.testing import repo
from woodwind.testing.sandbox import NotPrivate, Sandbox, assert_private


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.mark.parametrize(
    "change",
    [
        {"HOME": "/home/somebody"},
        {"HOME": ""},
        {"TMUX_TMPDIR": "/tmp"},
        {"TMUX_TMPDIR": ""},
        {"XDG_STATE_HOME": "/home/somebody/.local/state"},
        {"XDG_CONFIG_HOME": "relative/path"},
        {"XDG_RUNTIME_DIR": "/run/user/1000"},
        {"XDG_DATA_HOME": "/home/somebody/.local/share"},
        {"TMPDIR": "/tmp"},
        {"GIT_CONFIG_GLOBAL": "/home/somebody/.gitconfig"},
        {"TMUX": "/tmp/tmux-1000/default,1,0"},
        {"GIT_DIR": "/home/somebody/project/.git"},
    ],
)
def test_an_environment_that_leads_out_is_refused(sandbox: Sandbox, change: dict[str, str]) -> None:
    assert_private(sandbox.env, sandbox.root)
    with pytest.raises(NotPrivate, match=next(iter(change))):
        assert_private({**sandbox.env, **change}, sandbox.root)
    with pytest.raises(NotPrivate):
        sandbox.run("true", env=change)


def test_a_path_that_only_looks_private_is_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    link = sandbox.root / "link"
    link.symlink_to(tmp_path)
    for value in (str(link), f"{sandbox.root}/../elsewhere", f"{sandbox.root}-other"):
        with pytest.raises(NotPrivate):
            assert_private({**sandbox.env, "HOME": value}, sandbox.root)


def test_the_callers_tmux_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path / "box" / "t"))
    with pytest.raises(NotPrivate, match="TMUX_TMPDIR"):
        Sandbox(tmp_path / "box")
    assert not (tmp_path / "box").exists()


def test_an_existing_folder_is_never_taken_over(tmp_path: Path) -> None:
    with pytest.raises(FileExistsError):
        Sandbox(tmp_path)


def test_the_callers_variables_stay_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMUX", "GIT_DIR", "WOODWIND_WORKER", "SECRET_TOKEN"):
        monkeypatch.setenv(name, "theirs")
    with Sandbox() as sandbox:
        seen = sandbox.run("env", check=True).stdout
        assert "theirs" not in seen
        assert f"PATH={os.environ['PATH']}" in seen


def test_the_runtime_folder_is_private_and_sockets_fit(sandbox: Sandbox) -> None:
    mode = Path(sandbox.env["XDG_RUNTIME_DIR"]).stat().st_mode
    assert stat.S_IMODE(mode) == 0o700
    socket = f"{sandbox.env['TMUX_TMPDIR']}/tmux-{os.getuid()}/woodwind"
    assert len(socket) < 100


def test_git_has_an_identity_and_a_main_branch(sandbox: Sandbox) -> None:
    sandbox.run("git", "init", "--quiet", "repo", check=True)
    repo = sandbox.home / "repo"
    sandbox.run("git", "commit", "--quiet", "--allow-empty", "-m", "x", cwd=repo, check=True)
    assert sandbox.run("git", "branch", "--show-current", cwd=repo).stdout == "main\n"


def test_results_carry_status_output_and_json(sandbox: Sandbox) -> None:
    result = sandbox.run("sh", "-c", "cat; echo oops >&2; exit 3", input='{"a": 1}')
    assert (result.code, result.stderr, result.json) == (3, "oops\n", {"a": 1})
    with pytest.raises(AssertionError, match="oops"):
        sandbox.run("sh", "-c", "echo oops >&2; exit 3", check=True)
    with pytest.raises(ValueError, match="not JSON"):
        _ = sandbox.run("echo", "plain").json


def test_wait_for_says_what_did_not_come(sandbox: Sandbox) -> None:
    assert sandbox.wait_for(lambda: "value") == "value"
    with pytest.raises(AssertionError, match="in vain for a sign"):
        sandbox.wait_for(lambda: False, timeout=0.05, what="a sign")


def test_closing_ends_its_own_servers_only() -> None:
    with Sandbox() as other, Sandbox() as sandbox:
        theirs = other.user_server()
        sandbox.user_server("set -g status off\n")
        assert sandbox.tmux("show-options", "-g", "status", server="user") == "status off"
        # This one does not heed the hang-up of its terminal.
        pane = sandbox.run_in_pane("sh", "-c", "trap '' HUP; echo up; while :; do sleep 0.1; done")
        sandbox.wait_for(lambda: "up" in sandbox.screen(pane), what="the stubborn process")
        processes = [int(sandbox.fact(pane, name)) for name in ("pid", "pane_pid")]
        sandbox.close()
        assert not sandbox.root.exists()
        for process in processes:
            assert not _is_running(process)
        assert other.fact(theirs, "pane_dead", server="user") == "0"


def test_a_pane_keeps_the_status_of_a_quick_command(sandbox: Sandbox) -> None:
    pane = sandbox.run_in_pane("sh", "-c", "exit 9")
    assert sandbox.exit_status(pane) == 9
    pane = sandbox.run_in_pane("sh", "-c", "kill -TERM $$")
    assert sandbox.exit_status(pane) == -signal.SIGTERM


def test_last_words_of_a_command_are_shown_when_it_has_ended(sandbox: Sandbox) -> None:
    server = sandbox.fact(sandbox.run_in_pane("cat"), "pid")
    # A tmux that is slow to read, while the command ends.
    slow = f"kill -STOP {server}; (trap '' HUP; sleep 0.5; kill -CONT {server}) & echo last words; exit 3"
    pane = sandbox.run_in_pane("sh", "-c", slow, until_shown=True)
    assert sandbox.exit_status(pane) == 3
    assert "last words" in sandbox.screen(pane, history=True)


def test_words_reach_a_pane_as_they_are(sandbox: Sandbox) -> None:
    # It stays: what a command prints with its last breath may never reach tmux.
    told = ("sh", "-c", 'printf "%s|" "$@"; exec cat', "sh", "a b", "c;", "$HOME", "it's")
    pane = sandbox.run_in_pane(*told, env={"EXTRA": "1"})
    sandbox.wait_for(lambda: "a b|c;|$HOME|it's|" in sandbox.screen(pane), what="the words")
    pane = sandbox.run_in_pane("cat")
    sandbox.type_in(pane, "typed;")
    sandbox.wait_for(lambda: sandbox.screen(pane).count("typed;") == 2, what="the typed line")


@pytest.mark.parametrize("bare", [False, True])
def test_a_made_repository_knows_nothing_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bare: bool
) -> None:
    config = tmp_path / "config"
    config.write_text("[user]\n\tname = Caller\n[commit]\n\tgpgsign = true\n[core]\n\tautocrlf = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    made = repo.make_repo(tmp_path / "a" / "made", files={"x/y.txt": "1\r\n2"}, bare=bare, branch="trunk")
    assert repo.git(made, "rev-parse", "--is-bare-repository") == str(bare).lower()
    assert repo.git(made, "log", "--format=%an %s", "trunk") == "Test Person First commit"
    assert repo.git(made, "symbolic-ref", "HEAD") == "refs/heads/trunk"
    assert repo.git(made, "cat-file", "-s", "HEAD:x/y.txt") == "4"
    assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(repo.GitError, match=r"git nonsense in .*nonsense"):
        repo.git(made, "nonsense")


def test_the_sample_project_is_real_and_has_its_bug(tmp_path: Path, sandbox: Sandbox) -> None:
    made = repo.sample_project(tmp_path / "chimes")
    assert repo.git(made, "rev-list", "--count", "HEAD") == "3"
    tests = sandbox.run(sys.executable, "-m", "unittest", cwd=made)
    assert tests.code == 0
    assert "Ran 1 test" in tests.stderr
    said = sandbox.run(sys.executable, "-c", "from chimes.greet import *; print(greet('Ada', 9))", cwd=made)
    assert said.stdout == "Good morning, ada!\n"
    assert repo.git(made, "status", "--porcelain") == ""


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return True
