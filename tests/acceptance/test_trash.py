"""`ww rm`, `ww restore`, `ww undo` and `ww trash`: who may, when, and what they say."""

import subprocess
import sys
from pathlib import Path

from woodwind.testing.evidence import leftovers, manifest, rows, work_of
from woodwind.testing.repo import commit, git
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import finish, names, new_worker, start


def test_a_folder_that_is_taken_again_is_not_touched(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    (tree / "notes.txt").write_text("mine\n")
    rm(sandbox, repo, "--force", check=True)
    tree.mkdir()
    (tree / "other.txt").write_text("somebody else's\n")
    parked = manifest(tree.parent / ".woodwind-trash")
    refused = sandbox.ww("restore", "worker-one", cwd=repo)
    assert refused.code == 1
    assert f"the folder {tree} is in use again" in refused.stderr
    assert manifest(tree) == {b"other.txt": ("-rw-r--r--", b"somebody else's\n")}
    assert manifest(tree.parent / ".woodwind-trash") == parked
    (tree / "other.txt").rename(repo.parent / "other.txt")
    tree.rmdir()
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert (tree / "notes.txt").read_text() == "mine\n"


def test_a_worktree_deleted_by_hand(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    commit(tree, "Mine", {"mine.txt": "1\n"})
    (tree / "staged.txt").write_text("staged\n")
    git(tree, "add", "staged.txt")
    reflog = git(tree, "reflog", "--format=%H %gs")
    sandbox.run("rm", "-rf", str(tree), check=True)
    assert names(sandbox, repo) == ["worker-one"]
    assert f"the folder of worker-one is gone: {tree}" in sandbox.ww("ls", cwd=repo, check=True).stderr
    [shown] = sandbox.ww("show", "worker-one", "--json", cwd=repo, check=True).json["data"]
    assert shown["folder_missing"] is True
    assert "its folder is missing" in sandbox.ww("show", "worker-one", cwd=repo, check=True).stdout
    refused = rm(sandbox, repo)
    assert "1 commit not in main" in refused.stderr
    rm(sandbox, repo, "--force", check=True)
    assert names(sandbox, repo) == []
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert (tree / "mine.txt").read_text() == "1\n"
    assert git(tree, "diff", "--cached", "--name-only") == "staged.txt"
    assert git(tree, "show", ":staged.txt") == "staged"
    assert git(tree, "reflog", "--format=%H %gs") == reflog
    assert leftovers(sandbox, repo) == []


def test_a_trash_folder_deleted_by_hand(sandbox: Sandbox, repo: Path) -> None:
    """What was parked is gone; what was saved at the removal comes back, and it is said what does not."""
    tree = new_worker(sandbox, repo)
    (tree / "src" / "app.py").write_text("staged\n")
    git(tree, "add", "src/app.py")
    (tree / "README.md").unlink()
    (tree / "deep").mkdir()
    (tree / "deep" / "notes.txt").write_text("untracked\n")
    before = work_of(tree, ignored=False)
    rm(sandbox, repo, "--force", check=True)
    sandbox.run("rm", "-rf", str(tree.parent / ".woodwind-trash"), check=True)
    back = sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert "ignored files are not part of that" in back.stdout
    assert work_of(tree, ignored=False) == before


def test_a_removal_that_fails_after_the_agent_was_stopped_says_so(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    failing = {"WOODWIND_FAILPOINT": "remove.before_park=error"}
    failed = sandbox.ww("rm", "worker-one", "--yes", cwd=repo, env=failing)
    assert failed.code == 1
    assert "worker-one was not removed, but its agent was stopped: ww resume worker-one" in failed.stderr
    assert tree.is_dir()
    # Its stand-in for an agent knows no conversations.
    sandbox.ww("resume", "worker-one", "--fresh", cwd=repo, check=True)
    assert "was stopped" not in sandbox.ww("rm", "worker-one", "--yes", cwd=repo, check=True).stderr


def test_a_lock_that_a_killed_git_left_is_named_with_what_to_do(sandbox: Sandbox, repo: Path) -> None:
    lock = repo / ".git" / "packed-refs.lock"
    lock.touch()
    failing = {"WOODWIND_FAILPOINT": "create.after_branch=error"}
    failed = sandbox.ww("new", "Some work", "--name", "worker-one", cwd=repo, env=failing)
    assert failed.code == 1
    assert f"a killed one left its lock: delete {lock}" in failed.stderr
    lock.unlink()
    assert names(sandbox, repo) == []
    assert git(repo, "branch", "--list", "feat/*").strip() == ""


def test_one_of_two_removals_at_once_wins(sandbox: Sandbox, repo: Path) -> None:
    for force in ([], ["--force"]):
        tree = new_worker(sandbox, repo)
        both = [start(sandbox, repo, "rm", "worker-one", "--yes", *force) for _ in range(2)]
        ends = sorted(finish(process) for process in both)
        assert ends[0][0] == 0, ends
        assert ends[1][0] in (1, 3), ends
        assert "removed by somebody else meanwhile" in ends[1][1] or "there is no worker" in ends[1][1]
        assert not tree.exists()
        assert leftovers(sandbox, repo) == []
        sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)


def test_a_shell_in_the_worktree_is_named(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    before = work_of(tree)
    shell = subprocess.Popen(
        ["sh", "-c", "echo in; read line"], cwd=tree, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert shell.stdout
        assert shell.stdout.readline()
        refused = rm(sandbox, repo)
        assert refused.code == 1
        assert f"sh (process {shell.pid}) is at work in it" in refused.stderr
        assert work_of(tree) == before
    finally:
        shell.communicate(b"\n")
    rm(sandbox, repo, check=True)


def test_an_agent_removes_itself(sandbox: Sandbox, repo: Path) -> None:
    """Its terminal, and so the command's own, is closed halfway; the removal is completed all the same."""
    agent = sandbox.home / "leaver"
    leave = f'"{sys.executable}" -m woodwind rm leaver --force --yes'
    agent.write_text(f"#!/bin/sh\necho mine > notes.txt\n{leave}\necho never\nexec cat\n")
    agent.chmod(0o755)
    with (repo / "woodwind.toml").open("a") as config:
        config.write(f'[agents.leaver]\ncommand = "{agent}"\n')
    sandbox.ww("new", "Leave", "--name", "leaver", "--agent", "leaver", cwd=repo, check=True)

    def removed() -> bool:
        return rows(sandbox, "SELECT phase FROM worker") == [("removed",)]

    sandbox.wait_for(removed, what="the removal")
    assert rows(sandbox, "SELECT state FROM operation WHERE kind = 'remove'") == [("done",)]
    assert leftovers(sandbox, repo) == []
    sandbox.ww("restore", "leaver", cwd=repo, check=True)
    [entry] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert Path(entry["path"], "notes.txt").read_text() == "mine\n"


def test_an_agent_may_remove_only_what_it_made(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    new_worker(sandbox, repo, "worker-two")
    [(one,)] = rows(sandbox, "SELECT id FROM worker WHERE name = 'worker-one'")
    as_one = {"WOODWIND_WORKER": one}
    sandbox.ww("new", "Child", "--name", "child", cwd=repo, env=as_one, check=True)
    refused = sandbox.ww("rm", "worker-two", "--yes", "--force", cwd=repo, env=as_one)
    assert refused.code == 1
    assert "may remove or land only itself and the workers that it made, not worker-two" in refused.stderr
    assert names(sandbox, repo) == ["worker-one", "worker-two", "child"]
    sandbox.ww("rm", "child", "--yes", cwd=repo, env=as_one, check=True)
    assert names(sandbox, repo) == ["worker-one", "worker-two"]
    pruned = sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, env={"WOODWIND_WORKER": "wsomebody"})
    assert pruned.code == 1
    assert "not child" in pruned.stderr


def test_without_a_terminal_it_wants_yes(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    (tree / "notes.txt").write_text("mine\n")
    before = work_of(tree)
    for words in (["--force"], ["--force", "--json"]):
        refused = sandbox.ww("rm", "worker-one", *words, cwd=repo)
        assert refused.code == 2
        assert "--yes" in refused.stderr + refused.stdout
    assert work_of(tree) == before
    rm(sandbox, repo, "--force", check=True)
    parked = manifest(tree.parent / ".woodwind-trash")
    pruned = sandbox.ww("trash", "prune", "--all", cwd=repo)
    assert pruned.code == 2
    assert "--yes" in pruned.stderr
    assert manifest(tree.parent / ".woodwind-trash") == parked


def test_names_are_reserved_in_the_trash_and_free_after_prune(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    (tree / "notes.txt").write_text("of the first\n")
    rm(sandbox, repo, "--force", check=True)
    taken = sandbox.ww("new", "Again", "--name", "Worker-One", cwd=repo)
    assert taken.code == 1
    assert "there is a worker" in taken.stderr
    sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    again = new_worker(sandbox, repo)
    assert again == tree
    refused = sandbox.ww("restore", "worker-one", cwd=repo)
    assert refused.code == 1
    assert f"the folder {tree} is in use again" in refused.stderr
    assert not (again / "notes.txt").exists()
    rm(sandbox, repo, check=True)
    both = sandbox.ww("trash", "ls", "--json", cwd=repo, check=True).json["data"]
    assert [(entry["name"], entry["pruned"]) for entry in both] == [("worker-one", False), ("worker-one", True)]
    taken = sandbox.ww("restore", both[1]["id"], cwd=repo)
    assert taken.code == 1
    assert "another worker has its name now" in taken.stderr
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert not (again / "notes.txt").exists()


def test_undo_takes_back_the_last_removal_or_the_named_one(sandbox: Sandbox, repo: Path) -> None:
    for name in ("first", "second", "third"):
        new_worker(sandbox, repo, name)
        sandbox.ww("rm", name, "--yes", cwd=repo, check=True)
    sandbox.ww("undo", cwd=repo, check=True)
    assert names(sandbox, repo) == ["third"]
    sandbox.ww("undo", "first", cwd=repo, check=True)
    assert names(sandbox, repo) == ["first", "third"]
    sandbox.ww("undo", cwd=repo, check=True)
    nothing = sandbox.ww("undo", cwd=repo)
    assert nothing.code == 3
    assert "there is nothing to undo" in nothing.stderr


def test_the_trash_is_on_the_same_file_system(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    file = tree / "README.md"
    before = file.stat()
    rm(sandbox, repo, check=True)
    [entry] = sandbox.ww("trash", "ls", "--json", cwd=repo, check=True).json["data"]
    parked = Path(entry["trash"], "README.md").stat()
    assert (parked.st_dev, parked.st_ino, parked.st_mtime_ns) == (before.st_dev, before.st_ino, before.st_mtime_ns)
    assert entry["size"] > 0


def test_prune_honours_days_and_size(sandbox: Sandbox, repo: Path) -> None:
    for name in ("old", "new"):
        tree = new_worker(sandbox, repo, name)
        (tree / "big.bin").write_bytes(b"x" * 300_000)
        sandbox.ww("rm", name, "--yes", "--force", cwd=repo, check=True)
    config = (repo / "woodwind.toml").read_text()

    def prune() -> list[str]:
        done = sandbox.ww("trash", "prune", "--yes", "--json", cwd=repo, check=True)
        return [entry["name"] for entry in done.json["data"]["pruned"]]

    assert prune() == []
    (repo / "woodwind.toml").write_text(config + '[trash]\nmax_size = "500 kB"\n')
    assert prune() == ["old"]
    (repo / "woodwind.toml").write_text(config + "[trash]\ndays = 0\n")
    assert prune() == ["new"]
    for name in ("old", "new"):
        sandbox.ww("restore", name, cwd=repo, check=True)


def test_folders_that_forbid_writing_are_pruned(sandbox: Sandbox, repo: Path) -> None:
    """As package caches make them; and for somebody who is not root, deleting them needs care."""
    (repo / ".git" / "info" / "exclude").write_text("woodwind.toml\ncache/\n")
    tree = new_worker(sandbox, repo)
    (tree / "cache" / "inner").mkdir(parents=True)
    (tree / "cache" / "inner" / "module.go").write_text("package\n")
    (tree / "cache" / "inner").chmod(0o555)
    (tree / "cache").chmod(0o555)
    rm(sandbox, repo, check=True)
    sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    assert not list((tree.parent / ".woodwind-trash").iterdir())


def test_planted_hooks_and_fsmonitor_do_not_run(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    canary = sandbox.home / "canary"
    trap = sandbox.home / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0" >> "{canary}"\n')
    trap.chmod(0o755)
    hooks = "post-checkout post-commit pre-commit reference-transaction post-index-change post-rewrite update".split()
    for folder in (repo / ".git" / "hooks", tree / "hooks"):
        folder.mkdir(exist_ok=True)
        for hook in hooks:
            (folder / hook).write_text(trap.read_text())
            (folder / hook).chmod(0o755)
    git(repo, "config", "core.fsmonitor", str(trap))
    git(repo, "config", "extensions.worktreeConfig", "true")
    git(repo, "config", "--worktree", "core.fsmonitor", str(trap))
    with (repo / ".git" / "worktrees" / tree.name / "config.worktree").open("w") as config:
        config.write(f"[core]\n\thooksPath = {tree / 'hooks'}\n\tfsmonitor = {trap}\n")
    canary.unlink(missing_ok=True)
    rm(sandbox, repo)
    for prune in (False, True):
        rm(sandbox, repo, "--force", check=True)
        if prune:
            sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
        sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert not canary.exists(), canary.read_text()
    git(tree, "status")
    assert canary.exists(), "the trap itself works"


def test_several_are_looked_at_before_the_first_is_touched(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo, "clean")
    tree = new_worker(sandbox, repo, "dirty")
    (tree / "notes.txt").write_text("mine\n")
    assert sandbox.ww("rm", "clean", "dirty", "--yes", cwd=repo).code == 1
    assert names(sandbox, repo) == ["clean", "dirty"]
    assert sandbox.ww("rm", "clean", "nobody", "--yes", cwd=repo).code == 3
    assert sandbox.ww("rm", "cle", "--yes", cwd=repo).code == 3
    assert names(sandbox, repo) == ["clean", "dirty"]
    sandbox.ww("rm", "clean", "dirty", "--force", "--yes", cwd=repo, check=True)
    assert names(sandbox, repo) == []


def test_of_several_that_come_back_or_go_for_good_each_is_told(sandbox: Sandbox, repo: Path) -> None:
    trees = {name: new_worker(sandbox, repo, name) for name in ("one", "two", "three")}
    sandbox.ww("rm", *trees, "--yes", cwd=repo, check=True)
    trees["two"].mkdir()
    done = sandbox.ww("restore", "one", "two", "three", "one", "--json", cwd=repo)
    assert (done.code, done.json["error"]["code"]) == (6, "partly_done")
    assert [(e["name"], "is in use again" in e.get("error", "")) for e in done.json["data"]] == [
        ("one", False),
        ("two", True),
        ("three", False),
    ]
    assert names(sandbox, repo) == ["one", "three"]
    sandbox.ww("rm", "one", "--yes", cwd=repo, check=True)
    told = sandbox.ww("restore", "two", "one", cwd=repo)
    assert told.code == 6
    assert "two not restored: " in told.stdout
    assert "one is back" in told.stdout

    sandbox.ww("rm", "one", "three", "--yes", cwd=repo, check=True)
    [lost] = (e for e in sandbox.ww("trash", "ls", "--json", cwd=repo, check=True).json["data"] if e["name"] == "two")
    git(repo, "update-ref", "-d", f"refs/woodwind/saved/{lost['id']}")
    sandbox.run("rm", "-rf", lost["trash"], check=True)
    done = sandbox.ww("trash", "prune", "one", "two", "three", "--yes", "--json", cwd=repo)
    assert (done.code, [e["name"] for e in done.json["data"]["pruned"]]) == (6, ["one", "three"])
    [kept] = done.json["data"]["failed"]
    assert (kept["name"], "nothing is saved" in kept["error"]) == ("two", True)


def test_removals_and_creations_in_parallel(sandbox: Sandbox, repo: Path) -> None:
    crew = [f"worker-{n}" for n in range(8)]
    for name in crew:
        (new_worker(sandbox, repo, name) / "notes.txt").write_text(f"of {name}\n")
    processes = [start(sandbox, repo, "rm", name, "--force", "--yes") for name in crew]
    processes += [start(sandbox, repo, "new", "More", "--name", f"more-{n}") for n in range(4)]
    while any(process.poll() is None for process in processes):
        sandbox.ww("ls", cwd=repo, check=True)
    for process in processes:
        code, said = finish(process)
        assert code == 0, said
    assert sorted(names(sandbox, repo)) == [f"more-{n}" for n in range(4)]
    assert leftovers(sandbox, repo) == []
    back = sandbox.ww("restore", *crew, "--json", cwd=repo, check=True).json["data"]
    assert [Path(entry["path"], "notes.txt").read_text() for entry in back] == [f"of {name}\n" for name in crew]


def rm(box: Sandbox, repo: Path, *words: str, check: bool = False) -> Result:
    return box.ww("rm", "worker-one", "--yes", *words, cwd=repo, check=check)
