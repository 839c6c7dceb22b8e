"""`ww rm`, `ww restore`, `ww undo` and `ww trash`: whatever is in a worktree is refused, parked and brought back."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers, refs_of, rows, work_of
from woodwind.testing.repo import GitError, commit, git, make_repo
from woodwind.testing.sandbox import Result, Sandbox
from woodwind.testing.workers import names, new_worker, panes_of

Scene = Callable[[Path, Path], None]
SCENES: dict[str, tuple[Scene, bool]] = {}


def scene(*, refused: bool = True) -> Callable[[Scene], Scene]:
    """Something that can be in a worktree; `refused`: `ww rm` must not put it away by itself."""

    def keep(make: Scene) -> Scene:
        SCENES[make.__name__] = (make, refused)
        return make

    return keep


@scene()
def staged(tree: Path, _: Path) -> None:
    (tree / "README.md").write_text("staged\n")
    (tree / "new.txt").write_text("staged and new\n")
    git(tree, "add", "--all")
    (tree / "README.md").write_text("and changed again\n")


@scene()
def unstaged(tree: Path, _: Path) -> None:
    (tree / "README.md").write_text("changed\n")
    (tree / "src" / "app.py").unlink()


@scene()
def untracked(tree: Path, _: Path) -> None:
    (tree / "notes.txt").write_text("mine\n")
    (tree / "deep" / "er").mkdir(parents=True)
    (tree / "deep" / "er" / "data.bin").write_bytes(bytes(range(256)) * 50)
    (tree / "empty.txt").touch()


@scene(refused=False)
def ignored(tree: Path, repo: Path) -> None:
    (repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n*.secret\nnode_modules/\n")
    (tree / "key.secret").write_text("s3cret\n")
    (tree / "node_modules" / "left-pad").mkdir(parents=True)
    (tree / "node_modules" / "left-pad" / "index.js").write_text("module\n")


@scene()
def unmerged_commits(tree: Path, _: Path) -> None:
    commit(tree, "One", {"one.txt": "1\n"})
    commit(tree, "Two", {"two.txt": "2\n"})


@scene()
def detached(tree: Path, _: Path) -> None:
    git(tree, "checkout", "--quiet", "--detach")
    commit(tree, "Nowhere else", {"lone.txt": "1\n"})


@scene()
def another_branch(tree: Path, _: Path) -> None:
    git(tree, "checkout", "--quiet", "-b", "idea")
    commit(tree, "An idea", {"idea.txt": "1\n"})


@scene()
def unborn_branch(tree: Path, _: Path) -> None:
    git(tree, "checkout", "--quiet", "--orphan", "fresh")


@scene(refused=False)
def stashed(tree: Path, _: Path) -> None:
    (tree / "README.md").write_text("stashed\n")
    git(tree, "stash", "push", "--quiet")


@scene(refused=False)
def reset_commit(tree: Path, _: Path) -> None:
    commit(tree, "Thrown away", {"gone.txt": "1\n"})
    git(tree, "reset", "--quiet", "--hard", "HEAD~1")


@scene()
def merge_conflict(tree: Path, _: Path) -> None:
    git(tree, "branch", "theirs")
    commit(tree, "Ours", {"README.md": "ours\n"})
    git(tree, "checkout", "--quiet", "--detach", "theirs")
    theirs = commit(tree, "Theirs", {"README.md": "theirs\n", "more.txt": "more\n"})
    git(tree, "checkout", "--quiet", "-")
    with pytest.raises(GitError):
        git(tree, "merge", theirs)
    assert "<<<<<<<" in (tree / "README.md").read_text()


@scene()
def rebase_under_way(tree: Path, _: Path) -> None:
    base = git(tree, "rev-parse", "HEAD")
    commit(tree, "Ours", {"README.md": "ours\n"})
    ours = git(tree, "rev-parse", "HEAD")
    git(tree, "reset", "--quiet", "--hard", base)
    commit(tree, "Theirs", {"README.md": "theirs\n"})
    with pytest.raises(GitError):
        git(tree, "rebase", "HEAD", ours)


@scene()
def nested_repository(tree: Path, _: Path) -> None:
    inner = make_repo(tree / "vendor" / "inner", files={"inner.txt": "inside\n"})
    (inner / "dirty.txt").write_text("dirty inside\n")
    git(inner, "pack-refs", "--all")  # leaves folders of refs empty, without which it is no repository


@scene()
def modes(tree: Path, _: Path) -> None:
    for name, mode in {"private": 0o600, "program": 0o755, "read-only": 0o444, "open": 0o666}.items():
        (tree / name).write_text(name)
        (tree / name).chmod(mode)
    (tree / "src" / "app.py").chmod(0o600)


@scene()
def executable_bit(tree: Path, _: Path) -> None:
    (tree / "src" / "app.py").chmod(0o755)


@scene()
def links(tree: Path, _: Path) -> None:
    (tree / "to-file").symlink_to("README.md")
    (tree / "to-folder").symlink_to("src")
    (tree / "dangling").symlink_to("nowhere/at all")
    (tree / "outside").symlink_to("/etc/hostname")


@scene()
def file_became_folder(tree: Path, _: Path) -> None:
    (tree / "README.md").unlink()
    (tree / "README.md").mkdir()
    (tree / "README.md" / "part.txt").write_text("part\n")


@scene()
def folder_became_file(tree: Path, _: Path) -> None:
    (tree / "src" / "app.py").unlink()
    (tree / "src").rmdir()
    (tree / "src").write_text("a file now\n")


@scene()
def folder_became_link(tree: Path, _: Path) -> None:
    (tree / "src").rename(tree / "moved")
    (tree / "src").symlink_to("moved")


@scene()
def folder_became_loop(tree: Path, _: Path) -> None:
    (tree / "src").rename(tree / "moved")
    (tree / "src").symlink_to("src")


@scene()
def odd_names(tree: Path, _: Path) -> None:
    for name in ("two\nlines", 'it\'s "quoted"', "-rf", "--force", "tab\there", "snow☃", " spaces ", "back\\slash"):
        (tree / name).write_text(name)
    Path(os.fsdecode(os.path.join(os.fsencode(tree), b"latin-\xe9\xff"))).write_text("not UTF-8\n")
    git(tree, "add", "--", "-rf", "two\nlines")


@scene(refused=False)
def empty_folders(tree: Path, _: Path) -> None:
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "closed").mkdir(mode=0o700)


@scene()
def crlf(tree: Path, repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "true")
    (tree / "README.md").write_bytes(b"one\r\ntwo\r\nthree\n")
    (tree / "windows.txt").write_bytes(b"only\r\nsuch\r\n")
    git(tree, "add", "windows.txt")


@scene(refused=False)
def assumed_unchanged(tree: Path, _: Path) -> None:
    git(tree, "update-index", "--assume-unchanged", "README.md")
    (tree / "README.md").write_text("an edit that git was told to overlook\n")


@scene(refused=False)
def skipped_in_worktree(tree: Path, _: Path) -> None:
    git(tree, "update-index", "--skip-worktree", "src/app.py")
    (tree / "src" / "app.py").write_text("local settings\n")


@scene()
def filtered(tree: Path, repo: Path) -> None:
    git(repo, "config", "filter.big.clean", "tr a-z A-Z")
    git(repo, "config", "filter.big.smudge", "tr A-Z a-z")
    commit(tree, "Filter", {".gitattributes": "*.big filter=big\n", "one.big": "some words\n"})
    assert git(tree, "show", "HEAD:one.big") == "SOME WORDS"
    (tree / "two.big").write_text("Mixed Case is kept as it is\n")


@scene()
def intent_to_add(tree: Path, _: Path) -> None:
    (tree / "planned.txt").write_text("soon\n")
    git(tree, "add", "--intent-to-add", "planned.txt")


@scene()
def submodule(tree: Path, repo: Path) -> None:
    library = make_repo(repo.parent / "library", files={"lib.py": "lib = 1\n"})
    allow = ("-c", "protocol.file.allow=always")
    git(tree, *allow, "submodule", "--quiet", "add", str(library), "lib")
    git(tree, "commit", "--quiet", "-m", "Use the library")
    inner = tree / "lib"
    for key, value in (("user.name", "Test Person"), ("user.email", "test@example.invalid")):
        git(inner, "config", key, value)
    commit(inner, "Only in this worktree's copy of the library", {"lib.py": "lib = 2\n"})
    (inner / "scratch.py").write_text("scratch\n")


@pytest.mark.parametrize("name", SCENES)
def test_every_kind_of_work_comes_back(sandbox: Sandbox, repo: Path, name: str) -> None:
    make, refused = SCENES[name]
    tree = new_worker(sandbox, repo)
    make(tree, repo)
    before, refs = work_of(tree), refs_of(repo)
    gone_when_pruned = work_of(tree, ignored=False)

    if refused:
        refusal = rm(sandbox, repo)
        assert refusal.code == 1, refusal
        assert "worker-one was not removed" in refusal.stderr
        assert "--force" in refusal.stderr
        assert (work_of(tree), refs_of(repo)) == (before, refs)
        assert names(sandbox, repo) == ["worker-one"]
        assert leftovers(sandbox, repo, branches=branches(repo)) == []

    rm(sandbox, repo, *(["--force"] if refused else []), check=True)
    assert not tree.exists()
    assert refs_of(repo) == refs
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert (work_of(tree), refs_of(repo)) == (before, refs)

    rm(sandbox, repo, "--force", check=True)
    sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    assert not list(tree.parent.glob(".woodwind-trash/*"))
    git(repo, "-c", "gc.reflogExpire=now", "gc", "--quiet", "--prune=now")
    back = sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert "ignored files are not part of that" in back.stdout
    assert (work_of(tree, ignored=False), refs_of(repo)) == (gone_when_pruned, refs)
    assert git(repo, "fsck", "--no-dangling", "--no-progress") == ""
    assert leftovers(sandbox, repo, branches=branches(repo)) == []


def test_a_submodule_is_usable_after_each_way_back(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    submodule(tree, repo)
    inner = work_of(tree / "lib")
    rm(sandbox, repo, "--force", check=True)
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert work_of(tree / "lib") == inner
    rm(sandbox, repo, "--force", check=True)
    sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert work_of(tree / "lib") == inner


def test_a_merge_goes_on_after_prune_and_restore(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    merge_conflict(tree, repo)
    rm(sandbox, repo, "--force", check=True)
    sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    (tree / "README.md").write_text("both\n")
    commit(tree, "Merged")
    assert len(git(tree, "rev-parse", "HEAD^@").splitlines()) == 2


def test_commits_of_a_reset_are_kept_by_the_saved_ref(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    thrown = commit(tree, "Thrown away", {"gone.txt": "1\n"})
    git(tree, "reset", "--quiet", "--hard", "HEAD~1")
    rm(sandbox, repo, check=True)
    sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    [(worker,)] = rows(sandbox, "SELECT id FROM worker")
    assert git(repo, "merge-base", "--is-ancestor", thrown, f"refs/woodwind/saved/{worker}") == ""
    git(repo, "-c", "gc.reflogExpire=now", "gc", "--quiet", "--prune=now")
    assert git(repo, "show", f"{thrown}:gone.txt") == "1"


def test_ignored_files_come_back_from_the_trash_and_not_after_prune(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    ignored(tree, repo)
    rm(sandbox, repo, check=True)
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert (tree / "key.secret").read_text() == "s3cret\n"
    rm(sandbox, repo, check=True)
    sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert not (tree / "key.secret").exists()


def test_a_branch_deleted_by_hand_comes_back(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    unmerged_commits(tree, repo)
    (tree / "notes.txt").write_text("mine\n")
    before, refs = work_of(tree), refs_of(repo)
    rm(sandbox, repo, "--force", check=True)
    [branch] = [ref for ref in refs if ref != "refs/heads/main"]
    git(repo, "update-ref", "-d", branch)
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert (work_of(tree), refs_of(repo)) == (before, refs)


def test_a_branch_deleted_by_hand_can_be_pruned_and_comes_back(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    unmerged_commits(tree, repo)
    before, refs = work_of(tree, ignored=False), refs_of(repo)
    rm(sandbox, repo, "--force", check=True)
    [branch] = [ref for ref in refs if ref != "refs/heads/main"]
    git(repo, "update-ref", "-d", branch)
    sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert refs_of(repo) == refs
    assert work_of(tree, ignored=False)["files"] == before["files"]


def test_a_branch_that_moved_on_is_not_taken_back(sandbox: Sandbox, repo: Path) -> None:
    """Restored on a branch that has newer commits, the old index would undo them with the next commit."""
    tree = new_worker(sandbox, repo)
    head = commit(tree, "Mine", {"mine.txt": "1\n"})
    branch = git(tree, "symbolic-ref", "--short", "HEAD")
    rm(sandbox, repo, "--force", check=True)
    sandbox.ww("trash", "prune", "--all", "--yes", cwd=repo, check=True)
    git(repo, "checkout", "--quiet", branch)
    newer = commit(repo, "Newer", {"newer.txt": "1\n"})
    git(repo, "checkout", "--quiet", "main")
    back = sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert "moved on" in back.stderr
    assert git(repo, "rev-parse", branch) == newer
    assert git(tree, "rev-parse", "HEAD") == head
    assert git(tree, "status", "--porcelain") == ""


def rm(box: Sandbox, repo: Path, *words: str, check: bool = False) -> Result:
    return box.ww("rm", "worker-one", "--yes", *words, cwd=repo, check=check)


def branches(repo: Path) -> tuple[str, ...]:
    return tuple(git(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines())


def test_a_terminal_that_cannot_be_closed_is_not_called_closed(sandbox: Sandbox, repo: Path) -> None:
    tree = new_worker(sandbox, repo)
    stub = sandbox.home / "bin" / "tmux"
    stub.parent.mkdir()
    real = shutil.which("tmux", path=sandbox.env["PATH"])
    refusal = "echo 'error connecting (Resource temporarily unavailable)' >&2; exit 1"
    stub.write_text(f'#!/bin/sh\ncase " $* " in *" kill-pane "*) {refusal} ;; esac\nexec {real} "$@"\n')
    stub.chmod(0o755)
    env = {"PATH": f"{stub.parent}:{sandbox.env['PATH']}"}
    failed = sandbox.ww("rm", "worker-one", "--yes", cwd=repo, env=env)
    assert failed.code == 1, failed
    assert "Resource temporarily unavailable" in failed.stderr
    assert len(panes_of(sandbox, rows(sandbox, "SELECT id FROM worker")[0][0])) == 1
    assert tree.is_dir()
    sandbox.ww("rm", "worker-one", "--yes", cwd=repo, check=True)
    assert names(sandbox, repo) == []
    assert leftovers(sandbox, repo) == []


def plays(sandbox: Sandbox, repo: Path, script: str) -> None:
    """Let agents in this repository be a program of these lines."""
    program = sandbox.home / "agent"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    (repo / "woodwind.toml").write_text(f'[new]\nagent = "rehearsal"\n[agents.rehearsal]\ncommand = "{program}"\n')


def test_what_an_agent_writes_while_it_ends_is_put_away_with_the_rest(sandbox: Sandbox, repo: Path) -> None:
    save = 'sleep 0.5; echo saved > "$folder/at-its-end.txt"; exit'
    plays(sandbox, repo, f"folder=$(pwd)\ntrap '{save}' HUP\necho up\nwhile :; do sleep 0.05; done")
    tree = new_worker(sandbox, repo)
    [(worker,)] = rows(sandbox, "SELECT id FROM worker")
    [pane] = panes_of(sandbox, worker)
    sandbox.wait_for(lambda: "up" in sandbox.tmux("capture-pane", "-p", "-t", pane), what="the program to be up")
    sandbox.ww("rm", "worker-one", "--force", "--yes", cwd=repo, check=True)
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert (tree / "at-its-end.txt").read_text() == "saved\n"


def test_an_agent_that_ends_what_it_began_removes_its_own_worker(sandbox: Sandbox, repo: Path) -> None:
    go = sandbox.home / "go"
    remove = f"{sys.executable} -m woodwind rm --force --yes"
    end = "trap 'sleep 3; kill -TERM $child; exit' HUP"
    plays(sandbox, repo, f"{end}\nuntil [ -e {go} ]; do sleep 0.05; done\n{remove} &\nchild=$!\nwait\nsleep 600")
    tree = new_worker(sandbox, repo)
    go.touch()
    sandbox.wait_for(lambda: not tree.exists(), what="the worker to put itself away")
    sandbox.wait_for(
        lambda: rows(sandbox, "SELECT state FROM operation WHERE kind = 'remove'") == [("done",)], what="its end"
    )
    assert names(sandbox, repo) == []
