"""What `ww new` refuses: one clear error, and nothing is changed."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox

Footprint = Callable[[Path], dict[str, Any]]


def assert_one_clear_error(done: Result, code: int, *words: str) -> None:
    """One line that begins with `ww:`, perhaps a hint, no traceback, and this exit code."""
    assert done.code == code, done
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("ww: ")] == lines[:1], done
    assert all(line.startswith("    ") for line in lines[1:]), done
    assert "Traceback" not in done.stderr
    assert "a bug in Woodwind" not in done.stderr
    for word in words:
        assert word in done.stderr, done


def test_not_a_repository(sandbox: Sandbox) -> None:
    (sandbox.home / "plain").mkdir()
    for words in (
        ("new", "x", "--no-agent"),
        ("ls",),
        ("show", "x"),
        ("path", "x"),
        ("log", "x"),
        ("rm", "x", "--yes"),
    ):
        assert_one_clear_error(
            sandbox.ww(*words, cwd=sandbox.home / "plain"), 3, "is not in a git repository", "git init"
        )
    assert sandbox.ww("ls", "--all", cwd=sandbox.home / "plain").code == 0
    assert not (sandbox.home / "plain" / ".git").exists()


def test_a_folder_that_is_gone(sandbox: Sandbox) -> None:
    ww = f"{sys.executable} -m woodwind ls"
    done = sandbox.run("sh", "-c", f"mkdir gone && cd gone && rmdir ../gone && {ww}")
    assert_one_clear_error(done, 1, "does not exist any more")
    assert_one_clear_error(sandbox.ww("-C", "nowhere", "ls"), 2, "nowhere")


def test_no_commit_yet(sandbox: Sandbox, footprint: Footprint) -> None:
    path = sandbox.home / "empty"
    path.mkdir()
    git(path, "init", "--quiet")
    before = footprint(path)
    for base in ((), ("--base", "@")):
        done = sandbox.ww("new", "Add a greeting", "--no-agent", *base, cwd=path)
        assert_one_clear_error(done, 1, "no commit yet", "git commit --allow-empty")
    assert footprint(path) == before
    assert sandbox.ww("ls", cwd=path).code == 0


def test_a_repository_without_a_plain_default_branch(sandbox: Sandbox) -> None:
    path = make_repo(sandbox.home / "odd", branch="one")
    git(path, "branch", "two")
    git(path, "switch", "--quiet", "--detach")
    assert_one_clear_error(
        sandbox.ww("new", "x", "--no-agent", cwd=path), 1, "no branch that is plainly its default", "--base"
    )
    sandbox.ww("new", "x", "--no-agent", "--base", "two", cwd=path, check=True)


def test_a_branch_that_exists(sandbox: Sandbox, repo: Path, footprint: Footprint) -> None:
    git(repo, "branch", "mine")
    git(repo, "branch", "feat")
    git(repo, "branch", "deep/er/est")
    before = footprint(repo)
    for branch in ("mine", "Mine", "main"):
        assert_one_clear_error(sandbox.ww("new", "x", "--branch", branch, cwd=repo), 1, "exists already", "--branch")
    for branch in ("feat/x", "deep/er", "deep"):
        assert_one_clear_error(sandbox.ww("new", "x", "--branch", branch, cwd=repo), 1, "git keeps branches as folders")
    assert footprint(repo) == before


def test_a_name_or_folder_that_exists(sandbox: Sandbox, repo: Path, footprint: Footprint) -> None:
    sandbox.ww("new", "x", "--name", "taken", cwd=repo, check=True)
    (repo.parent / "project.worktrees" / "folder").mkdir()
    (repo.parent / "project.worktrees" / "link").symlink_to("nowhere")
    before = footprint(repo)
    assert_one_clear_error(sandbox.ww("new", "y", "--name", "Taken", cwd=repo), 1, "there is a worker", "--name")
    for name in ("folder", "link"):
        assert_one_clear_error(sandbox.ww("new", "y", "--name", name, cwd=repo), 1, "exists already", name)
    assert footprint(repo) == before
    sandbox.ww("rm", "taken", "--yes", cwd=repo, check=True)
    assert_one_clear_error(sandbox.ww("new", "y", "--name", "taken", cwd=repo), 1, "ww trash ls")


@pytest.mark.parametrize(
    "words, code, says",
    [
        (("--base", "nowhere"), 3, "there is no branch, tag or commit 'nowhere'"),
        (("--base", "-x"), 2, ""),
        (("--base=-x",), 3, "there is no branch, tag or commit '-x'"),
        (("--base", "^main"), 3, "there is no branch, tag or commit '^main'"),
        (("--base", "main..main"), 3, "there is no branch"),
        (("--base", "main^{tree}"), 3, "there is no branch"),
        (("--branch", "HEAD"), 2, "'HEAD' cannot be a branch name"),
        (("--branch=-x",), 2, "'-x' cannot be a branch name"),
        (("--prefix", "a b"), 2, "cannot be a branch name"),
        (("--prefix", "-"), 2, "cannot be a branch name"),
        (("--prefix", ".."), 2, "cannot be a branch name"),
        (("--name", "a/b"), 2, "cannot be a worker's name"),
        (("--agent", "nobody"), 3, "there is no agent 'nobody'"),
        (("--agent", "../toy"), 3, "there is no agent '../toy'"),
        (("-s", "-w"), 2, "not allowed with argument"),
        (("-s", "--launch", "window"), 2, "not allowed with argument"),
        (("--launch", "tab"), 2, "invalid choice"),
        (("-w",), 2, "this terminal is not in tmux"),
        (("--launch", "window"), 2, "this terminal is not in tmux"),
        (("--attach",), 2, "--attach needs a person at a terminal"),
        (("--plan-mode",), 2, "--plan-mode"),
        (("--no-such-flag",), 2, "--no-such-flag"),
        (("two", "tasks"), 2, "unrecognized arguments"),
    ],
)
def test_words_that_do_not_fit(
    sandbox: Sandbox, repo: Path, footprint: Footprint, words: tuple[str, ...], code: int, says: str
) -> None:
    before = footprint(repo)
    assert_one_clear_error(sandbox.ww("new", "Add a greeting", *words, cwd=repo), code, says)
    assert footprint(repo) == before


@pytest.mark.parametrize(
    "place", ["{nope}/x", "{", "..", ".", "{name.__class__}", "{0}", "}/{name}", "{name!r}", "{{name}}"]
)
def test_a_path_template_that_cannot_be_used(sandbox: Sandbox, repo: Path, footprint: Footprint, place: str) -> None:
    before = footprint(repo)
    done = sandbox.ww("new", "Add a greeting", cwd=repo, env={"WOODWIND_NEW_PATH": place})
    assert_one_clear_error(done, 2, "new.path")
    assert footprint(repo) == before


def test_a_window_that_only_the_configuration_wants_becomes_a_session(sandbox: Sandbox, repo: Path) -> None:
    done = sandbox.ww("new", "x", "--json", cwd=repo, env={"WOODWIND_LAUNCH_IMPLEMENTATION": "window"}, check=True)
    assert done.json["data"]["workers"][0]["launch"] == "session"
    done = sandbox.ww("new", "x", cwd=repo, env={"WOODWIND_TMUX_SERVER": "user"})
    assert_one_clear_error(done, 2, 'tmux.server is "user"')


def test_an_agent_that_is_missing_or_cannot_run(sandbox: Sandbox, repo: Path, footprint: Footprint) -> None:
    plain = sandbox.home / "not-executable"
    plain.write_text("#!/bin/sh\n")
    with (repo / "woodwind.toml").open("a") as file:
        file.write('[agents.missing]\ncommand = "no-such-program"\n[agents.gone]\ncommand = "/no/such"\n')
        file.write(f'[agents.plain]\ncommand = "{plain}"\n[agents.folder]\ncommand = "{sandbox.home}"\n')
        file.write('[agents.nothing]\nargs = ["x"]\n[agents.flag]\ncommand = "cat"\nprompt = "flag"\n')
        file.write('[agents.told]\ncommand = "no-such-program"\ninstall = "Ask Ann for it."\n')
        file.write('[agents.words]\ncommand = "cat -n"\n')
    before = footprint(repo)
    for name, code, words in (
        ("missing", 4, "there is no program 'no-such-program' on PATH"),
        ("gone", 4, "there is no program at /no/such"),
        ("plain", 4, "is not executable"),
        ("folder", 4, "folder"),
        ("nothing", 2, "has no `command`"),
        ("flag", 2, "no prompt_flag"),
        ("told", 4, "Ask Ann for it."),
        ("words", 4, "make it 'cat' in [agents.words], and the rest its `args`"),
    ):
        assert_one_clear_error(sandbox.ww("new", "x", "--agent", name, cwd=repo), code, words)
    # One of several that is missing stops all of them before the first is made.
    assert sandbox.ww("new", "x", "--agent", "toy", "--agent", "missing", cwd=repo).code == 4
    assert footprint(repo) == before


def test_an_interpreter_that_is_missing_shows_as_exited(sandbox: Sandbox, repo: Path) -> None:
    broken = sandbox.home / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o755)
    with (repo / "woodwind.toml").open("a") as file:
        file.write(f'[agents.broken]\ncommand = "{broken}"\n')
    sandbox.ww("new", "x", "--agent", "broken", cwd=repo, check=True)

    def told() -> str:
        [worker] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
        return str(worker["detail"]) if worker["status"] == "exited" else ""

    assert sandbox.wait_for(told) in ("with status 127", "with status 126")


def path_with(sandbox: Sandbox, *programs: str) -> str:
    """A PATH on which there are only these programs."""
    folder = sandbox.root / "bin"
    folder.mkdir(exist_ok=True)
    for name in programs:
        found = shutil.which(name)
        assert found
        if not (folder / name).exists():
            (folder / name).symlink_to(found)
    return str(folder)


def test_no_tmux_and_no_git(sandbox: Sandbox, repo: Path, footprint: Footprint) -> None:
    before = footprint(repo)
    done = sandbox.ww("new", "Add a greeting", cwd=repo, env={"PATH": path_with(sandbox, "git", "sh", "env", "cat")})
    assert_one_clear_error(done, 4, "tmux was not found", "apt install tmux")
    assert footprint(repo) == before
    shutil.rmtree(sandbox.root / "bin")
    done = sandbox.ww("new", "Add a greeting", cwd=repo, env={"PATH": path_with(sandbox, "tmux", "sh", "env", "cat")})
    assert_one_clear_error(done, 4, "git was not found", "apt install git")
    assert footprint(repo) == before


def test_no_tmux_beside_a_server_that_runs(sandbox: Sandbox, repo: Path, footprint: Footprint) -> None:
    sandbox.ww("new", "First", cwd=repo, check=True)
    before = footprint(repo)
    done = sandbox.ww("new", "Add a greeting", cwd=repo, env={"PATH": path_with(sandbox, "git", "sh", "env", "cat")})
    assert_one_clear_error(done, 4, "tmux was not found", "apt install tmux")
    assert footprint(repo) == before


def test_a_tmux_server_that_was_killed_between_two_commands(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("new", "First", cwd=repo, check=True)
    sandbox.tmux("kill-server")
    [worker] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert (worker["status"], worker["detail"]) == ("exited", "its terminal is gone")
    assert_one_clear_error(sandbox.ww("log", "first", cwd=repo), 3, "Its work is safe in")
    assert sandbox.ww("show", "first", cwd=repo).code == 0
    sandbox.ww("new", "Second", cwd=repo, check=True)
    assert [w["name"] for w in sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]] == ["first", "second"]
    sandbox.ww("rm", "first", "--yes", cwd=repo, check=True)
    # A socket that nobody listens on, as a crash leaves it.
    server = int(sandbox.tmux("display-message", "-p", "#{pid}"))
    os.kill(server, 9)
    sandbox.wait_for(lambda: sandbox.run("tmux", "-L", "woodwind", "list-sessions").code != 0)
    sandbox.ww("new", "Third", cwd=repo, check=True)


def own_folder(repo: Path, how: str) -> None:
    if how == "symlink":
        (repo / ".woodwind").symlink_to("/tmp")
        commit(repo, "A link of that name")
    elif how == "file":
        commit(repo, "A file of that name", {".woodwind": "mine"})
    else:
        commit(repo, "A folder of that name", {".woodwind/brief.md": "mine"})


@pytest.mark.parametrize("how", ["folder", "file", "symlink"])
def test_a_repository_that_has_our_folder_is_refused(
    sandbox: Sandbox, repo: Path, footprint: Footprint, how: str
) -> None:
    own_folder(repo, how)
    before = footprint(repo)
    done = sandbox.ww("new", "Add a greeting", cwd=repo)
    assert_one_clear_error(done, 1, "has a .woodwind of its own in main")
    assert footprint(repo) == before
    assert git(repo, "status", "--porcelain") == ""


@pytest.fixture
def small_disk(sandbox: Sandbox) -> Iterator[Path]:
    """A file system of its own inside the sandbox, that a test may make read-only."""
    place = sandbox.root / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", place], check=False, capture_output=True)
    if done.returncode:
        pytest.skip(f"mounting is not allowed here: {done.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_a_read_only_repository(sandbox: Sandbox, small_disk: Path, footprint: Footprint) -> None:
    path = make_repo(small_disk / "project")
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    before = footprint(path)
    assert_one_clear_error(sandbox.ww("new", "x", "--no-agent", cwd=path), 1, "Read-only file system")
    assert sandbox.ww("ls", cwd=path).code == 0
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    sandbox.ww("new", "x", "--no-agent", "--name", "first", cwd=path, check=True)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    between = footprint(path)
    assert between != before
    assert_one_clear_error(sandbox.ww("new", "x", "--no-agent", cwd=path), 1, "Read-only file system")
    assert footprint(path) == between
    for words in (("ls",), ("show", "first"), ("path", "first"), ("log", "first")):
        sandbox.ww(*words, cwd=path, check=True)


def test_a_place_for_worktrees_that_cannot_be_written(sandbox: Sandbox, repo: Path, footprint: Footprint) -> None:
    (sandbox.home / "file").write_text("")
    before = footprint(repo)
    done = sandbox.ww("new", "x", cwd=repo, env={"WOODWIND_NEW_PATH": str(sandbox.home / "file" / "{name}")})
    assert_one_clear_error(done, 1, "for worktrees cannot be made", "`path` in [new]")
    assert footprint(repo) == before


@pytest.mark.parametrize("words", [("new", "x"), ("show", "x"), ("ls", "--all")])
def test_a_state_folder_that_cannot_be_written(sandbox: Sandbox, repo: Path, words: tuple[str, ...]) -> None:
    blocked = sandbox.root / "blocked"
    blocked.write_text("")
    done = sandbox.ww(*words, cwd=repo, env={"XDG_STATE_HOME": str(blocked)})
    assert_one_clear_error(done, 1, "cannot make the folder", "XDG_STATE_HOME")
    assert not (repo / ".git" / "woodwind").exists()
    assert git(repo, "branch", "--format=%(refname:short)") == "main"


def test_a_home_that_cannot_be_written_but_for_its_state(sandbox: Sandbox, repo: Path) -> None:
    blocked = sandbox.root / "blocked"
    blocked.write_text("")
    # The commented configuration is a comfort: without it everything works.
    sandbox.ww("new", "x", cwd=repo, env={"XDG_CONFIG_HOME": str(blocked)}, check=True)
    assert_one_clear_error(
        sandbox.ww("config", "edit", cwd=repo, env={"XDG_CONFIG_HOME": str(blocked)}), 3, "could not be written"
    )


def test_a_folder_whose_name_is_no_text(sandbox: Sandbox, repo: Path) -> None:
    path = Path(os.fsdecode(bytes(sandbox.home) + b"/caf\xe9"))
    shutil.copytree(repo, path)
    assert_one_clear_error(sandbox.ww("new", "x", cwd=path), 1, "not UTF-8", "Rename the folder")
    assert not (path / ".git" / "woodwind").exists()
