"""`ww sync`: the base comes into a worker, or nothing changes at all."""

import json
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers, refs_of, rows, work_of
from woodwind.testing.repo import commit, git, make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import listed, new_worker, rehearse

TOY = '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'


def project(box: Sandbox) -> Path:
    folder = Path(box.env["XDG_CONFIG_HOME"], "woodwind")
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(TOY)
    return make_repo(box.home / "project", files={"README.md": "# Project\n", ".gitignore": "*.log\n"})


def base_of(box: Sandbox, repo: Path, name: str = "worker-one") -> str:
    """The recorded base commit, which the store and the worker's own record agree on."""
    [(stored,)] = rows(
        box, "SELECT t.base_commit FROM worktree t JOIN worker w ON w.id = t.worker WHERE w.name = ?", name
    )
    records = [json.loads(path.read_text()) for path in (repo / ".git/worktrees").glob("*/woodwind.json")]
    assert [record["base_commit"] for record in records if record["name"] == name] == [stored]
    return str(stored)


@pytest.mark.parametrize("method", ["merge", "rebase"])
def test_the_base_comes_in_and_the_diff_stays_the_workers_own(sandbox: Sandbox, method: str) -> None:
    repo = project(sandbox)
    tree = new_worker(sandbox, repo)
    mine = commit(tree, "Mine", {"mine.txt": "mine\n"})
    theirs = commit(repo, "Theirs", {"theirs.txt": "theirs\n"})
    done = sandbox.ww("sync", "worker-one", f"--{method}", "--json", cwd=repo, check=True).json["data"]
    [entry] = done["synced"]
    assert (entry["how"], entry["from"], entry["commits"], entry["base_commit"]) == (method, mine, 1, theirs)
    assert git(tree, "rev-parse", "HEAD") == entry["to"]
    parents = git(tree, "log", "-1", "--format=%P").split()
    assert parents == ([mine, theirs] if method == "merge" else [theirs])
    assert (tree / "theirs.txt").read_text() == "theirs\n"
    assert git(tree, "status", "--porcelain") == ""
    assert base_of(sandbox, repo) == theirs
    diff = sandbox.ww("diff", "worker-one", cwd=repo, check=True).stdout
    assert "mine.txt" in diff
    assert "theirs.txt" not in diff
    assert rows(sandbox, "SELECT count(*) FROM event WHERE kind = 'worker.synced'") == [(1,)]
    again = sandbox.ww("sync", "worker-one", "--json", cwd=repo, check=True).json["data"]
    assert again["synced"][0]["how"] == "up_to_date"


@pytest.mark.parametrize("method", ["merge", "rebase"])
def test_a_conflict_is_told_by_file_and_nothing_changes(sandbox: Sandbox, method: str) -> None:
    repo = project(sandbox)
    tree = new_worker(sandbox, repo)
    commit(tree, "Mine", {"README.md": "mine\n"})
    commit(repo, "Theirs", {"README.md": "theirs\n"})
    before, refs, base = work_of(tree), refs_of(repo), base_of(sandbox, repo)
    refused = sandbox.ww("sync", "worker-one", f"--{method}", "--json", cwd=repo)
    assert refused.code == 1
    assert refused.json["error"]["code"] == "conflict"
    assert "README.md" in refused.json["error"]["message"]
    assert (work_of(tree), refs_of(repo), base_of(sandbox, repo)) == (before, refs, base)


def test_what_may_not_be_moved_is_refused_and_the_others_are_synced(sandbox: Sandbox) -> None:
    repo = project(sandbox)
    trees = {name: new_worker(sandbox, repo, name) for name in ("fine", "dirty", "merging", "elsewhere", "blocked")}
    commit(trees["merging"], "Mine", {"README.md": "mine\n"})
    git(trees["merging"], "branch", "side", "HEAD~1")
    git(trees["elsewhere"], "switch", "--quiet", "--detach")
    git(repo, "switch", "--quiet", "main")
    (repo / "a.log").write_text("forced in\n")
    git(repo, "add", "--force", "a.log")
    tip = commit(repo, "Theirs", {"theirs.txt": "theirs\n"})
    (trees["dirty"] / "new.txt").write_text("untracked\n")
    (trees["blocked"] / "a.log").write_text("ignored, and in the way\n")
    git(trees["merging"], "merge", "--quiet", "--no-commit", "--no-ff", "main")
    before = {name: work_of(trees[name]) for name in ("dirty", "merging", "elsewhere", "blocked")}
    done = sandbox.ww("sync", "--all", "--json", cwd=repo)
    assert done.code == 6
    data = done.json["data"]
    assert [(entry["name"], entry["how"], entry["to"]) for entry in data["synced"]] == [("fine", "fast_forward", tip)]
    codes = {entry["name"]: entry["code"] for entry in data["failed"]}
    wanted = {"dirty": "dirty", "merging": "under_way", "elsewhere": "elsewhere", "blocked": "in_the_way"}
    assert codes == wanted
    assert {name: work_of(trees[name]) for name in before} == before
    assert (trees["blocked"] / "a.log").read_text() == "ignored, and in the way\n"


def test_a_worker_in_a_turn_or_without_a_base_branch_is_left_alone(sandbox: Sandbox) -> None:
    repo = project(sandbox)
    rehearse(sandbox, repo, "think 600")
    sandbox.wait_for(lambda: listed(sandbox, repo)["status"] == "working", 60, "the agent to be working")
    tip = commit(repo, "Theirs", {"theirs.txt": "theirs\n"})
    refused = sandbox.ww("sync", "worker-one", "--json", cwd=repo)
    assert refused.json["error"]["code"] == "working"
    forced = sandbox.ww("sync", "worker-one", "--force", "--json", cwd=repo, check=True).json["data"]
    assert forced["synced"][0]["to"] == tip
    sandbox.ww("new", "Work", "--name", "bare", "--base", tip, cwd=repo, check=True)
    assert sandbox.ww("sync", "bare", "--json", cwd=repo).json["error"]["code"] == "no_base"


POINTS = ["before_move", "after_move", "before_record", "after_record", "after_commit"]


@pytest.mark.parametrize("mode", ["", "=error"], ids=["killed", "full-disk"])
def test_cut_short_it_is_before_or_after(sandbox: Sandbox, mode: str) -> None:
    repo = project(sandbox)
    tree = new_worker(sandbox, repo)
    commit(tree, "Mine", {"mine.txt": "mine\n"})
    for n, point in enumerate(POINTS):
        if mode and point == "after_commit":
            continue  # nothing can fail after it
        theirs = commit(repo, "Theirs", {f"{n}.txt": "theirs\n"})
        old, base = git(tree, "rev-parse", "HEAD"), base_of(sandbox, repo)
        cut = sandbox.ww("sync", "worker-one", "--rebase", cwd=repo, env={"WOODWIND_FAILPOINT": f"sync.{point}{mode}"})
        assert cut.code == (1 if mode else -9), cut
        sandbox.ww("ls", cwd=repo, check=True)
        head = git(tree, "rev-parse", "HEAD")
        assert git(tree, "status", "--porcelain") == ""
        assert (head != old, base_of(sandbox, repo)) == ((False, base) if mode else (True, theirs))
        assert git(tree, "symbolic-ref", "--short", "HEAD") == "feat/work"
        assert rows(sandbox, "SELECT count(*) FROM operation WHERE state = 'running'") == [(0,)]
        if mode:
            sandbox.ww("sync", "worker-one", "--rebase", cwd=repo, check=True)
        assert (tree / "mine.txt").is_file()
        assert (tree / f"{n}.txt").is_file()
    assert [line for line in leftovers(sandbox, repo) if "lanes" not in line and "lane-" not in line] == []
