"""`ww new`: from a task to a running agent."""

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Sandbox

Footprint = Callable[[Path], dict[str, Any]]


def new(sandbox: Sandbox, cwd: Path, *words: str, **more: Any) -> dict[str, Any]:
    """The one worker that a `ww new` made."""
    done = sandbox.ww("new", "--json", *words, cwd=cwd, check=True, **more)
    [worker] = done.json["data"]["workers"]
    assert isinstance(worker, dict)
    return worker


def pane_of(sandbox: Sandbox, worker: dict[str, Any], server: str = "woodwind") -> str:
    """The pane that carries the worker's tag."""
    [pane] = sandbox.tmux(
        "list-panes", "-a", "-f", f"#{{==:#{{@woodwind}},{worker['id']}}}", "-F", "#{pane_id}", server=server
    ).splitlines()
    return pane


def environment_of(pid: str) -> dict[str, str]:
    """The variables of a running process."""
    entries = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def agent(repo: Path, name: str, command: Path | str, more: str = "") -> None:
    """Adds an agent to the project's configuration."""
    with (repo / "woodwind.toml").open("a") as file:
        file.write(f"\n[agents.{name}]\ncommand = {json.dumps(str(command))}\n{more}")


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_one_command_makes_all_of_it(sandbox: Sandbox, repo: Path) -> None:
    head = git(repo, "rev-parse", "HEAD")
    done = sandbox.ww("new", "Add a greeting", cwd=repo, check=True)
    assert "add-greeting started: toy on feat/add-greeting, from main" in done.stdout
    [worker] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    tree = Path(worker["path"])
    assert tree == repo.parent / "project.worktrees" / "add-greeting"
    assert git(tree, "symbolic-ref", "HEAD") == "refs/heads/feat/add-greeting"
    assert git(tree, "rev-parse", "HEAD") == head
    assert (tree / "src" / "app.py").read_text() == "print('hi')\n"
    assert "Add a greeting" in (tree / ".woodwind" / "brief.md").read_text()

    pane = pane_of(sandbox, worker)
    shown = sandbox.wait_for(lambda: sandbox.screen(pane) if str(tree) in sandbox.screen(pane) else "")
    assert "toy got: Read .woodwind/brief.md" in shown
    assert sandbox.fact(pane, "pane_width") == "200"
    assert sandbox.fact(pane, "pane_height") in ("49", "50")
    assert sandbox.fact(pane, "session_name") == "project-add-greeting"
    # The agent is the pane's own process.
    process = Path(f"/proc/{sandbox.fact(pane, 'pane_pid')}/comm")
    sandbox.wait_for(lambda: process.read_text().strip() == "cat", what="the agent in place of its shell")


def test_nothing_that_is_written_can_be_committed(sandbox: Sandbox, repo: Path) -> None:
    tree = Path(new(sandbox, repo, "Add a greeting")["path"])
    assert git(tree, "status", "--porcelain", "--untracked-files=all") == ""
    assert git(repo, "status", "--porcelain", "--untracked-files=all") == ""
    git(tree, "add", "--all")
    assert git(tree, "diff", "--cached", "--name-only") == ""
    assert git(repo, "stash", "list") == ""


@pytest.mark.parametrize("place", [".worktrees/{name}", "wt/deep/{branch}"])
def test_worktrees_inside_the_checkout_do_not_show_in_its_status(sandbox: Sandbox, repo: Path, place: str) -> None:
    worker = new(sandbox, repo, "Add a greeting", env={"WOODWIND_NEW_PATH": place})
    assert Path(worker["path"]).is_relative_to(repo)
    assert git(repo, "status", "--porcelain", "--untracked-files=all") == ""
    sandbox.ww("rm", worker["name"], "--force", "--yes", cwd=repo, check=True)
    assert git(repo, "status", "--porcelain", "--untracked-files=all") == ""


def test_a_worktree_inside_the_checkout_is_taken_back_whole(sandbox: Sandbox, repo: Path, footprint: Footprint) -> None:
    (repo / ".woodwind").mkdir()
    commit(repo, "Have a folder of that name", {".woodwind/x": "mine"})
    before = footprint(repo)
    refused = sandbox.ww("new", "Add a greeting", cwd=repo, env={"WOODWIND_NEW_PATH": ".worktrees/{name}"})
    assert refused.code == 1
    assert footprint(repo) == before
    assert not (repo / ".worktrees").exists()


def test_the_same_words_twice_make_two_workers(sandbox: Sandbox, repo: Path) -> None:
    made = [new(sandbox, repo, "Add a greeting") for _ in range(3)]
    assert [w["name"] for w in made] == ["add-greeting", "add-greeting-2", "add-greeting-3"]
    assert [w["branch"] for w in made] == ["feat/add-greeting", "feat/add-greeting-2", "feat/add-greeting-3"]
    assert len({w["path"] for w in made}) == 3


def test_a_taken_branch_or_folder_gets_a_number(sandbox: Sandbox, repo: Path) -> None:
    git(repo, "branch", "feat/add-greeting")
    assert new(sandbox, repo, "Add a greeting")["branch"] == "feat/add-greeting-2"
    (repo.parent / "project.worktrees" / "mend-it").mkdir()
    assert new(sandbox, repo, "Mend it all")["name"] == "mend-all"
    (repo.parent / "project.worktrees" / "paint-walls").write_text("in the way")
    assert Path(new(sandbox, repo, "Paint the walls")["path"]).name == "paint-walls-2"


def test_a_branch_named_like_the_prefix_leaves_room_beside_it(sandbox: Sandbox, repo: Path) -> None:
    git(repo, "branch", "feat")
    assert new(sandbox, repo, "Add a greeting")["branch"] == "feat-add-greeting"
    git(repo, "branch", "docs/readme/old")
    assert new(sandbox, repo, "Docs readme")["branch"] == "docs/readme-2"


def test_flags_override_what_is_made_from_the_task(sandbox: Sandbox, repo: Path) -> None:
    git(repo, "branch", "develop")
    commit(repo, "Go on")
    worker = new(sandbox, repo, "Do it", "--name", "me", "--branch", "my/own", "--base", "develop")
    assert (worker["name"], worker["branch"], worker["base_branch"]) == ("me", "my/own", "develop")
    assert worker["base_commit"] == git(repo, "rev-parse", "develop") != git(repo, "rev-parse", "main")
    assert new(sandbox, repo, "Add a greeting", "--prefix", "team")["branch"] == "team/add-greeting"
    assert new(sandbox, repo, "Add a farewell", "--prefix", "")["branch"] == "add-farewell"
    [shown] = sandbox.ww("show", "me", "--json", cwd=repo, check=True).json["data"]
    assert shown["base_branch"] == "develop"


def test_what_a_branch_is_cut_from(sandbox: Sandbox, repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    git(repo, "switch", "--quiet", "--create", "topic")
    second = commit(repo, "Topic", {"t": "1"})
    git(repo, "tag", "v1", first)
    assert new(sandbox, repo, "From default")["base_commit"] == first
    stacked = new(sandbox, repo, "From current", "--base", "@")
    assert (stacked["base_branch"], stacked["base_commit"]) == ("topic", second)
    tagged = new(sandbox, repo, "From tag", "--base", "v1")
    assert (tagged["base_branch"], tagged["base_commit"]) == ("", first)
    assert new(sandbox, repo, "From older", "--base", "topic~1")["base_commit"] == first
    # From inside the stacked worker's worktree, @ is its own branch.
    inner = new(sandbox, Path(stacked["path"]), "On top", "--base", "@")
    assert (inner["base_branch"], inner["base_commit"]) == (stacked["branch"], second)
    assert Path(inner["path"]).parent == Path(stacked["path"]).parent
    by_config = new(sandbox, repo, "By config", env={"WOODWIND_NEW_BASE": "topic"})
    assert by_config["base_branch"] == "topic"


def test_a_remote_branch_and_the_remotes_default(sandbox: Sandbox, repo: Path) -> None:
    git(repo, "branch", "develop")
    commit(repo, "Only on main")
    clone = sandbox.home / "clone"
    git(sandbox.home, "clone", "--quiet", str(repo), str(clone))
    git(clone, "remote", "set-head", "origin", "main")
    (clone / "woodwind.toml").write_text((repo / "woodwind.toml").read_text())
    worker = new(sandbox, clone, "From remote", "--base", "origin/develop")
    assert (worker["base_branch"], worker["base_commit"]) == ("origin/develop", git(repo, "rev-parse", "develop"))
    assert new(sandbox, clone, "From default")["base_branch"] == "main"


def test_a_detached_head(sandbox: Sandbox, repo: Path) -> None:
    git(repo, "switch", "--quiet", "--detach")
    second = commit(repo, "Detached")
    assert new(sandbox, repo, "From default")["base_branch"] == "main"
    here = new(sandbox, repo, "From here", "--base", "@")
    assert (here["base_branch"], here["base_commit"]) == ("", second)
    assert git(repo, "rev-parse", "HEAD") == second


def test_a_bare_repository(sandbox: Sandbox, repo: Path) -> None:
    bare = make_repo(sandbox.home / "store.git", bare=True)
    agents = sandbox.home / ".config" / "woodwind"
    agents.mkdir(parents=True)
    (agents / "config.toml").write_text((repo / "woodwind.toml").read_text())
    worker = new(sandbox, bare, "Add a greeting")
    assert Path(worker["path"]) == sandbox.home / "store.worktrees" / "add-greeting"
    assert (Path(worker["path"]) / "README.md").exists()
    inner = new(sandbox, Path(worker["path"]), "Add another")
    assert Path(inner["path"]) == sandbox.home / "store.worktrees" / "add-another"
    assert len(sandbox.ww("ls", "--json", cwd=bare, check=True).json["data"]) == 2


def test_from_inside_a_linked_worktree_it_is_the_same_project(sandbox: Sandbox, repo: Path) -> None:
    linked = sandbox.home / "elsewhere"
    git(repo, "worktree", "add", "--quiet", "-b", "side", str(linked))
    worker = new(sandbox, linked / "src", "Add a greeting")
    assert Path(worker["path"]) == repo.parent / "project.worktrees" / "add-greeting"
    assert worker["base_branch"] == "main"
    assert sandbox.fact(pane_of(sandbox, worker), "pane_start_path") == f"{worker['path']}/src"
    [listed] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert listed["name"] == "add-greeting"


def test_submodules(sandbox: Sandbox, repo: Path) -> None:
    part = make_repo(sandbox.home / "part")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "lib/part")
    commit(repo, "Add a part")
    # Of the superproject: its worktree is clean, and goes and comes back.
    worker = new(sandbox, repo, "Use the part")
    assert git(Path(worker["path"]), "status", "--porcelain") == ""
    sandbox.ww("rm", "use-part", "--yes", cwd=repo, check=True)
    sandbox.ww("restore", "use-part", cwd=repo, check=True)
    # Inside the submodule: a project of its own, whose worktrees do not show in the superproject.
    sub = repo / "lib" / "part"
    (sub / "woodwind.toml").write_text((repo / "woodwind.toml").read_text())
    git(sub, "config", "core.excludesFile", str(repo / ".git" / "info" / "exclude"))
    inner = new(sandbox, sub, "Mend the part")
    tree = Path(inner["path"])
    assert git(tree, "rev-parse", "HEAD") == git(part, "rev-parse", "HEAD")
    assert git(tree, "status", "--porcelain") == ""
    assert git(repo, "status", "--porcelain") == ""
    [listed] = sandbox.ww("ls", "--json", cwd=sub, check=True).json["data"]
    assert listed["name"] == "mend-part"
    assert [w["name"] for w in sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]] == ["use-part"]
    sandbox.ww("rm", "mend-part", "--yes", cwd=sub, check=True)
    assert git(repo, "status", "--porcelain") == ""


def test_the_agent_starts_in_the_subfolder_of_the_call(sandbox: Sandbox, repo: Path, tmp_path: Path) -> None:
    odd = "odd ;#(touch x) %H;"
    commit(repo, "An odd folder", {f"src/{odd}/f": "1"})
    for place in ("src", f"src/{odd}"):
        worker = new(sandbox, repo / place, "Add a greeting")
        pid = sandbox.fact(pane_of(sandbox, worker), "pane_pid")
        assert sandbox.wait_for(lambda p=pid: os.readlink(f"/proc/{p}/cwd")) == f"{worker['path']}/{place}"  # type: ignore[misc]
    (repo / "only-here").mkdir()
    worker = new(sandbox, repo / "only-here", "Add a greeting")
    assert sandbox.fact(pane_of(sandbox, worker), "pane_start_path") == worker["path"]
    # On a base where the subfolder is a link to somewhere else, nobody is led out of the worktree.
    git(repo, "switch", "--quiet", "--create", "linked")
    git(repo, "rm", "--quiet", "-r", "src")
    (repo / "src").symlink_to(tmp_path)
    commit(repo, "A link")
    git(repo, "switch", "--quiet", "main")
    worker = new(sandbox, repo / "src", "Add a greeting", "--base", "linked")
    assert sandbox.fact(pane_of(sandbox, worker), "pane_start_path") == worker["path"]


def test_several_at_once(sandbox: Sandbox, repo: Path) -> None:
    agent(repo, "other", sandbox.home / "toy")
    three = sandbox.ww("new", "Try designs", "-n", "3", "--json", cwd=repo, check=True).json["data"]["workers"]
    assert [w["name"] for w in three] == ["try-designs", "try-designs-2", "try-designs-3"]
    both = sandbox.ww("new", "Compare", "--agent", "toy", "--agent", "other", "--json", cwd=repo, check=True)
    assert [w["agent"] for w in both.json["data"]["workers"]] == ["toy", "other"]
    assert len(sandbox.tmux("list-sessions").splitlines()) == 5


@pytest.mark.parametrize(
    "words", [("-n", "2", "--name", "x"), ("-n", "2", "--branch", "x"), ("-n", "0"), ("-n", "51"), ("-n", "x")]
)
def test_a_count_that_does_not_fit_is_an_error(
    sandbox: Sandbox, repo: Path, footprint: Footprint, words: tuple[str, ...]
) -> None:
    before = footprint(repo)
    assert sandbox.ww("new", "Try", *words, cwd=repo).code == 2
    assert footprint(repo) == before


def test_the_task_from_a_file_and_from_standard_input(sandbox: Sandbox, repo: Path) -> None:
    (repo / "task.md").write_text("Add a greeting\n\nWith care.\n")
    by_file = new(sandbox, repo, "--file", "task.md")
    assert "With care." in (Path(by_file["path"]) / ".woodwind/brief.md").read_text()
    by_input = new(sandbox, repo, "-", input="Paint the walls\n")
    assert by_input["name"] == "paint-walls"
    for words in (("--file", "none.md"), ("Both", "--file", "task.md"), ("",), ("-",), ("   ",)):
        assert sandbox.ww("new", *words, cwd=repo, input="").code == 2
    assert len(sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]) == 2


def test_without_an_agent_there_is_a_shell(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "--no-agent", "--name", "mine")
    assert (worker["agent"], worker["name"]) == ("shell", "mine")
    pane = pane_of(sandbox, worker)
    sandbox.type_in(pane, "echo in $(pwd)")
    sandbox.wait_for(lambda: f"in {worker['path']}" in sandbox.screen(pane))
    assert sandbox.ww("new", "x", "--no-agent", "--agent", "toy", cwd=repo).code == 2


def test_an_agent_with_a_space_or_an_equals_sign_in_its_path(sandbox: Sandbox, repo: Path) -> None:
    for name, place in (("spaced", "my tools/the agent"), ("equal", "a=b/agent"), ("odd", "#(touch x);/agent;")):
        agent(repo, name, script(sandbox.home / place, 'echo "ran with: $1"; exec cat'))
        worker = new(sandbox, repo, "Do it", "--agent", name)
        pane = pane_of(sandbox, worker)
        sandbox.wait_for(lambda p=pane: "ran with: Read" in sandbox.screen(p), what=name)  # type: ignore[misc]
    assert not (repo / "x").exists()


def test_an_agent_that_exits_at_once_is_listed_with_its_status(sandbox: Sandbox, repo: Path) -> None:
    agent(repo, "seven", script(sandbox.home / "seven", "exit 7"))
    for _ in range(4):
        new(sandbox, repo, "Fail soon", "--agent", "seven")

    def listed() -> list[dict[str, Any]]:
        found = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
        return found if all(w["detail"] == "with status 7" for w in found) else []

    assert {w["status"] for w in sandbox.wait_for(listed, what="the status 7 of all four")} == {"exited"}
    assert "exited with status 7" in sandbox.ww("ls", cwd=repo, check=True).stdout


def test_the_last_words_of_an_agent_that_exited_stay(sandbox: Sandbox, repo: Path) -> None:
    agent(repo, "brief", script(sandbox.home / "brief", "echo last words; read line; exit 7"))
    worker = new(sandbox, repo, "Fail soon", "--agent", "brief")
    pane = pane_of(sandbox, worker)
    # Before it ends: tmux may lose what a program says in the very moment of its end.
    sandbox.wait_for(lambda: "last words" in sandbox.screen(pane), what="its words")
    sandbox.type_in(pane, "")
    assert sandbox.exit_status(pane) == 7
    assert sandbox.ww("log", worker["name"], cwd=repo, check=True).stdout == "last words\n"
    [shown] = sandbox.ww("show", worker["name"], "--json", cwd=repo, check=True).json["data"]
    assert shown["last_words"] == ["last words"]


def test_an_agent_that_is_killed_is_listed_with_the_signal(sandbox: Sandbox, repo: Path) -> None:
    worker = new(sandbox, repo, "Run long")
    os.kill(int(sandbox.fact(pane_of(sandbox, worker), "pane_pid")), signal.SIGKILL)

    def told() -> str:
        [listed] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
        return str(listed["detail"]) if listed["status"] == "exited" else ""

    assert sandbox.wait_for(told) in ("with signal 9", "with signal kill", "with signal KILL")


def test_the_variables_of_an_agents_terminal(sandbox: Sandbox, repo: Path) -> None:
    agent(
        repo, "keyed", sandbox.home / "toy", 'pass_env = ["THE_KEY", "NOT_THERE"]\nenv = { PLAIN = "a b;$HOME #(x)" }\n'
    )
    # The server that is up already has variables of its own.
    first = new(sandbox, repo, "Start the server", env={"NOT_THERE": "from the server", "UNNAMED": "1"})
    assert environment_of(sandbox.fact(pane_of(sandbox, first), "pane_pid"))["NOT_THERE"] == "from the server"

    secret = "s3cret;'\"$(x) \n#(y)"
    worker = new(
        sandbox,
        repo,
        "Use the key",
        "--agent",
        "keyed",
        env={"THE_KEY": secret, "PATH": os.environ["PATH"] + ":/extra"},
    )
    pid = sandbox.fact(pane_of(sandbox, worker), "pane_pid")
    seen = sandbox.wait_for(lambda: environment_of(pid) if "THE_KEY" in environment_of(pid) else {})
    assert seen["THE_KEY"] == secret
    assert seen["PLAIN"] == "a b;$HOME #(x)"
    assert "NOT_THERE" not in seen
    assert seen["PATH"].endswith(":/extra")
    assert seen["WOODWIND_WORKER"] == worker["id"]
    assert seen["WOODWIND_PROJECT"] == (repo / ".git" / "woodwind" / "id").read_text().strip()
    assert seen["WOODWIND_AUTOMATED"] == "1"
    assert seen["WOODWIND_SOCKET"].startswith(sandbox.env["XDG_RUNTIME_DIR"])

    # The value is nowhere but in that process: no command line, no file of ours.
    needle = b"s3cret"
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert needle not in place.read_bytes()
        except OSError:
            continue
    for root in (sandbox.home / ".local", sandbox.home / ".config", repo, Path(worker["path"])):
        for file in root.rglob("*"):
            if file.is_file():
                assert needle not in file.read_bytes(), file


def test_a_worker_that_makes_a_worker_is_written_down(sandbox: Sandbox, repo: Path) -> None:
    first = new(sandbox, repo, "Lead the others")
    second = new(sandbox, repo, "Follow the lead", env={"WOODWIND_WORKER": first["id"]})
    [shown] = sandbox.ww("show", second["name"], "--json", cwd=repo, check=True).json["data"]
    assert shown["made_by"] == first["id"]
    assert shown["automated"] is True
    pid = sandbox.fact(pane_of(sandbox, second), "pane_pid")
    assert environment_of(pid)["WOODWIND_WORKER"] == second["id"]
    # It may remove what it made, and nothing else.
    refused = sandbox.ww("rm", first["name"], "--yes", cwd=repo, env={"WOODWIND_WORKER": second["id"]})
    assert refused.code == 1
    assert "only itself and the workers that it made" in refused.stderr
    sandbox.ww("rm", second["name"], "--yes", cwd=repo, env={"WOODWIND_WORKER": first["id"]}, check=True)


def test_planted_hooks_and_monitors_are_never_run(sandbox: Sandbox, repo: Path) -> None:
    canary = sandbox.home / "canary"
    planted = script(sandbox.home / "planted" / "run", f'echo "$0 $*" >> {canary}')
    names = "post-checkout reference-transaction post-index-change pre-auto-gc post-commit".split()
    for folder in (repo / ".git" / "hooks", sandbox.home / "planted"):
        folder.mkdir(exist_ok=True)
        for name in names:
            script(folder / name, f"echo hook {name} >> {canary}")
    worker = new(sandbox, repo, "With hooks")
    tree = Path(worker["path"])
    # What an agent could set from inside its worktree.
    for key, value in {
        "core.hooksPath": str(sandbox.home / "planted"),
        "core.fsmonitor": str(planted),
        "gpg.program": str(planted),
        "log.showSignature": "true",
        "core.pager": str(planted),
        "core.editor": str(planted),
        "diff.external": str(planted),
        "alias.status": f"!{planted}",
    }.items():
        git(tree, "config", key, value)
    signed = git(tree, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    (sandbox.home / "signed").write_text(signed + "\n")
    made = git(tree, "hash-object", "-t", "commit", "-w", "--", str(sandbox.home / "signed"))
    plain = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": "/dev/null",
        "GIT_CONFIG_KEY_1": "core.fsmonitor",
        "GIT_CONFIG_VALUE_1": "false",
    }
    git(tree, "update-ref", "HEAD", git(tree, "commit-tree", "HEAD^{tree}", "-p", made, "-m", "More"), env=plain)
    git(tree, "reset", "--quiet", "--soft", made, env=plain)
    canary.unlink(missing_ok=True)
    sandbox.ww("new", "Another", cwd=repo, check=True)
    for words in (("ls",), ("show", worker["name"]), ("path", worker["name"]), ("log", worker["name"])):
        sandbox.ww(*words, cwd=repo, check=True)
    sandbox.ww("rm", worker["name"], "--force", "--yes", cwd=repo, check=True)
    assert not canary.exists(), canary.read_text()


def test_the_callers_git_variables_do_not_lead_elsewhere(sandbox: Sandbox, repo: Path) -> None:
    other = make_repo(sandbox.home / "other")
    # As in a git hook of another repository.
    misleading = [f"GIT_DIR={other}/.git", f"GIT_WORK_TREE={other}", f"GIT_INDEX_FILE={other}/.git/index"]
    command = ["ww", "new", "Add a greeting", "--json"]
    done = sandbox.run("env", *misleading, *sandbox_ww(command), cwd=repo, check=True)
    [worker] = done.json["data"]["workers"]
    assert git(repo, "branch", "--list", worker["branch"])
    assert not git(other, "branch", "--list", worker["branch"])
    # The agent's own git works in its worktree.
    pid = sandbox.fact(pane_of(sandbox, worker), "pane_pid")
    assert not [name for name in environment_of(pid) if name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")]


def sandbox_ww(command: list[str]) -> list[str]:
    return [sys.executable, "-m", "woodwind", *command[1:]]


def test_the_first_use_writes_a_valid_config_and_a_private_store(sandbox: Sandbox, repo: Path) -> None:
    config = Path(sandbox.env["XDG_CONFIG_HOME"], "woodwind", "config.toml")
    assert not config.exists()
    new(sandbox, repo, "Add a greeting")
    assert "[new]" in config.read_text()
    sandbox.ww("config", "validate", cwd=repo, check=True)
    state = Path(sandbox.env["XDG_STATE_HOME"], "woodwind")
    assert state.stat().st_mode & 0o777 == 0o700
    assert (state / "woodwind.db").stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(state / "woodwind.db")) as db:
        assert db.execute("SELECT kind, state FROM operation").fetchall() == [("create", "done")]
        assert db.execute("SELECT kind FROM event").fetchall() == [("worker.created",), ("turn.submitted",)]
