"""What tests compare to prove that nothing was lost and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

from woodwind.testing.repo import GitError, git
from woodwind.testing.sandbox import Sandbox

_QUIET = {"GIT_OPTIONAL_LOCKS": "0"}


def manifest(folder: Path, *, folders: bool = True) -> dict[bytes, tuple[str, bytes]]:
    """Every entry below a folder by its raw name: its kind and mode, and its bytes or where it links to."""
    top = os.fsencode(folder)
    found: dict[bytes, tuple[str, bytes]] = {}
    for here, names, files in os.walk(top):
        for name in names + files:
            full = os.path.join(here, name)
            info = os.lstat(full)
            data = b""
            if stat.S_ISLNK(info.st_mode):
                data = os.readlink(full)
            elif stat.S_ISREG(info.st_mode):
                data = Path(os.fsdecode(full)).read_bytes()
            elif not folders:
                continue
            found[os.path.relpath(full, top)] = (stat.filemode(info.st_mode), data)
    return found


def work_of(tree: Path, *, ignored: bool = True) -> dict[str, Any]:
    """A worktree as a person sees it: files, status, index, branch and reflog.

    Without `ignored`, what `ww trash prune` does not keep is left out: ignored files and folders of their own.
    """
    files = manifest(tree, folders=ignored)
    if not ignored:
        hidden = git(tree, "ls-files", "--others", "--ignored", "--exclude-standard", "-z", env=_QUIET)
        for name in hidden.split("\0"):
            files.pop(os.fsencode(name), None)
    files.pop(b".git")  # how it points to its repository may be spelt in two ways
    seen = {
        "files": files,
        "status": git(tree, "status", "--porcelain=v2", "-z", "--untracked-files=all", env=_QUIET),
        "index": git(tree, "ls-files", "--stage", "-v", "-z", env=_QUIET),
        "staged": git(tree, "diff", "--cached", "--binary", env=_QUIET),
        "unstaged": git(tree, "diff", "--binary", env=_QUIET),
        "head": _try(tree, "rev-parse", "HEAD"),
        "branch": _try(tree, "symbolic-ref", "HEAD"),
        "reflog": _try(tree, "reflog", "--format=%H %gs"),
        "stash": git(tree, "stash", "list", "--format=%H %gs"),
    }
    for state in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD", "ORIG_HEAD"):
        seen[state] = _try(tree, "rev-parse", "--verify", state)
    return seen


def refs_of(repo: Path) -> dict[str, str]:
    """Every ref with its object, but for those that Woodwind keeps saved work under."""
    lines = git(repo, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    found = dict(line.split(" ") for line in lines)
    return {ref: commit for ref, commit in found.items() if not ref.startswith("refs/woodwind/")}


def _try(tree: Path, *words: str) -> str:
    try:
        return git(tree, *words, env=_QUIET)
    except GitError:
        return ""


def database(box: Sandbox) -> Path:
    """The file of the sandbox's store."""
    return Path(box.env["XDG_STATE_HOME"], "woodwind", "woodwind.db")


def rows(box: Sandbox, sql: str, *values: object) -> list[tuple[Any, ...]]:
    """What a query on the sandbox's store finds."""
    with contextlib.closing(sqlite3.connect(database(box), timeout=20)) as db:
        return db.execute(sql, values).fetchall()


def leftovers(box: Sandbox, repo: Path, *, branches: tuple[str, ...] = ("main",)) -> list[str]:
    """What belongs to no worker, and each worker that lacks something of its own; empty when all is in order."""
    found = [f"unfinished {kind} at {step!r}" for kind, step in _unfinished(box)]
    sql = "SELECT w.id, w.name, w.phase, w.purged, t.branch, t.path FROM worker w JOIN worktree t ON t.worker = w.id"
    project = (repo / ".git" / "woodwind" / "id").read_text().strip()
    known = rows(box, f"{sql} WHERE w.project = ?", project)
    present = [row for row in known if not row[3]]
    found += [f"row in phase {row[2]}: {row[1]}" for row in known if row[2] == "creating"]
    found += _branches(repo, {row[4] for row in known}, {row[4] for row in present}, branches)
    found += _worktrees(repo, {row[0]: row for row in present})
    tagged = box.run("tmux", "-L", "woodwind", "list-panes", "-a", "-F", "#{@woodwind}").stdout.splitlines()
    live = [row[0] for row in rows(box, "SELECT id FROM worker WHERE phase <> 'removed'")]
    headless = Path(box.env["XDG_STATE_HOME"], "woodwind", "headless")
    tagged += [folder.name for folder in headless.iterdir()] if headless.is_dir() else []
    found += [f"terminal of {worker or 'nobody'}" for worker in tagged if worker not in live]
    common = repo / ".git" if (repo / ".git").is_dir() else repo
    found += [f"lock {path}" for path in common.rglob("*.lock")]
    found += [f"temporary file {path}" for path in common.rglob("*.tmp")]
    found += [f"half-deleted {path}" for path in repo.parent.rglob("*deleting*")]
    return found


def _unfinished(box: Sandbox) -> list[tuple[Any, ...]]:
    return rows(box, "SELECT kind, step FROM operation WHERE state = 'running'")


def _branches(repo: Path, known: set[str], wanted: set[str], others: tuple[str, ...]) -> list[str]:
    there = set(git(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines())
    found = [f"branch {branch} of nobody" for branch in sorted(there - known - set(others))]
    return found + [f"branch {branch} is missing" for branch in sorted(wanted - there)]


def _worktrees(repo: Path, workers: dict[str, tuple[Any, ...]]) -> list[str]:
    found = []
    listed = git(repo, "worktree", "list", "--porcelain").split("\n\n")[1:]
    places = {Path(entry.splitlines()[0].removeprefix("worktree ")).resolve() for entry in listed if entry}
    places = {place for place in places if ".woodwind-lanes" not in place.parts}
    found += [f"worktree {place} has no folder" for place in places if not place.is_dir()]
    wanted = {Path(row[5]).resolve() for row in workers.values() if row[2] != "removed"}
    found += [f"worktree {place} is missing" for place in wanted - places]
    parents = {place.parent for place in places | wanted}
    for parent in parents:
        for folder in parent.iterdir() if parent.is_dir() else ():
            if folder.resolve() not in places and folder.name not in (".woodwind-trash", ".woodwind-lanes"):
                found.append(f"folder {folder} of nobody")
    trash = {parent / ".woodwind-trash" for parent in parents if parent.name != ".woodwind-trash"} | parents
    for folder in trash:
        if folder.name == ".woodwind-trash" and folder.is_dir():
            parked = {row[0] for row in workers.values() if row[2] == "removed"}
            found += [f"parked folder {name} of nobody" for name in {p.name for p in folder.iterdir()} - parked]
    admins = repo / ".git" / "worktrees"
    if admins.is_dir():
        workers_own = [admin for admin in admins.iterdir() if not admin.name.startswith("lane-")]
        found += [f"{admin} has no record" for admin in workers_own if not (admin / "woodwind.json").is_file()]
        found += [f"{admin} is not registered" for admin in admins.iterdir() if not (admin / "gitdir").is_file()]
    return found
