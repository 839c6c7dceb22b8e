"""The branch that work lands in: where it is checked out, and how it moves."""

import contextlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from woodwind.base.failpoints import failpoint
from woodwind.base.processes import occupants
from woodwind.base.run import Done
from woodwind.git import half_moves
from woodwind.git.branches import branch_tip
from woodwind.git.call import git, lock_hint
from woodwind.git.half_moves import NEW, PARTIAL
from woodwind.git.merging import is_ancestor
from woodwind.git.tree import Tree
from woodwind.model.errors import Refused, WoodwindError
from woodwind.model.landing import listed

_LOCK_PATIENCE = 2.0
_PARKED = "/.woodwind-trash/"


class TargetMoved(WoodwindError):
    """The branch is not where it was when the landing was prepared."""

    code = "target_moved"


class Checkout(NamedTuple):
    """A folder that has a branch checked out."""

    path: str
    git_dir: str


def checkouts_of(common: str, branch: str) -> list[Checkout]:
    """Every folder that has the branch checked out, or is rebasing or bisecting it, as git itself counts them."""
    found = []
    listing = git("--git-dir", common, "worktree", "list", "--porcelain", "-z").text
    for entry in listing.split("\0\0"):
        facts = dict(line.partition(" ")[::2] for line in entry.split("\0") if line)
        path, on = facts.get("worktree", ""), facts.get("branch", "")
        if not path or "bare" in facts:
            continue
        if on and on != f"refs/heads/{branch}" and _PARKED in path:
            continue  # nobody goes on with a rebase in the trash, of which there may be hundreds
        git_dir = _git_dir(common, path)
        if on == f"refs/heads/{branch}" or _is_held(git_dir, branch):
            found.append(Checkout(path, git_dir))
    return found


def _git_dir(common: str, path: str) -> str:
    dot_git = os.path.join(path, ".git")
    if os.path.isfile(dot_git):
        with open(dot_git, encoding="utf-8", errors="surrogateescape") as file:
            return os.path.normpath(os.path.join(path, file.read().removeprefix("gitdir:").strip()))
    return dot_git if os.path.isdir(dot_git) else common


def _is_held(git_dir: str, branch: str) -> bool:
    for name in ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"):
        try:
            with open(os.path.join(git_dir, name), encoding="utf-8", errors="replace") as file:
                if file.read().strip().removeprefix("refs/heads/") == branch:
                    return True
        except OSError:
            continue
    return False


def the_checkout(common: str, branch: str) -> Checkout | None:
    """The one folder that has the branch checked out, or None; refused where it cannot be moved safely."""
    found = checkouts_of(common, branch)
    if len(found) > 1:
        raise Refused(
            f"{branch} is checked out twice: {listed([c.path for c in found])}",
            code="target_in_use",
            hint="Whichever moves, the other one's next commit would undo it. Put one of them on another branch.",
        )
    for place in found:
        if not os.path.isdir(place.path):
            raise Refused(
                f"{branch} is checked out in {place.path}, which is not there",
                code="target_in_use",
                hint="If that folder is gone for good: git worktree prune",
            )
        on = git("--git-dir", place.git_dir, "symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).text.strip()
        if on != f"refs/heads/{branch}":
            raise Refused(
                f"a rebase or bisect of {branch} is under way in {place.path}",
                code="target_in_use",
                hint="Finish or abort it first.",
            )
    return found[0] if found else None


def check_way(common: str, branch: str, old: str, new: str) -> None:
    """Refuse early where a file in the branch's checkout would be in the way; the move itself looks again."""
    place = the_checkout(common, branch)
    if place is None:
        return
    check_nothing_in_the_way(place, branch, old, new)
    done = git(*Tree(place.path, place.git_dir).words(), "read-tree", "-n", "-m", "-u", old, new, ok=None)
    if done.code:
        raise in_the_way(branch, place.path, done.stderr.decode("utf-8", "replace"))


def move(common: str, branch: str, old: str, new: str, *, why: str) -> None:
    """Move a branch from `old` to `new`, which has it in its history; TargetMoved when it is elsewhere by now.

    Where it is checked out, a fast-forward in that folder is the move: it refuses rather than overwrites a file.
    The caller holds the project's lock.
    """
    place = the_checkout(common, branch)
    if branch_tip(common, branch) != old:
        raise TargetMoved(f"{branch} moved meanwhile")
    failpoint("move.before_ref")
    if place is None:
        _swap(common, branch, old, new, why)
    else:
        _fast_forward(place, branch, old, new, why)
    failpoint("move.after_ref")


def _fast_forward(place: Checkout, branch: str, old: str, new: str, why: str) -> None:
    words = ("merge", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat", "--quiet", new)
    tree = Tree(place.path, place.git_dir)
    done = _patiently(tree, *words, env={"GIT_REFLOG_ACTION": f"woodwind: {why}"})
    if done.code == 0:
        return
    now = git("--git-dir", place.git_dir, "rev-parse", "HEAD").text.strip()
    if now == new:
        return  # it had moved, and failed at something after that
    if now != old:
        raise TargetMoved(f"{branch} moved meanwhile")
    complaint = done.stderr.decode("utf-8", "replace")
    _put_back(tree, old, new, complaint)
    raise in_the_way(branch, place.path, complaint)


def _patiently(tree: Tree, *words: str, env: Mapping[str, str] | None = None) -> Done:
    """How git ended in a person's checkout, where an editor's `git status` may hold the index for a moment."""
    deadline = time.monotonic() + _LOCK_PATIENCE
    while True:
        done = git(*tree.words(), *words, ok=None, env=env)
        if done.code == 0 or not lock_hint(done.complaint) or time.monotonic() >= deadline:
            return done
        time.sleep(0.05)


def in_the_way(branch: str, path: str, complaint: str) -> Refused:
    """Git's refusal to overwrite something in a person's checkout, with the files that it names."""
    files = [line.strip() for line in complaint.splitlines() if line.startswith("\t")]
    files += re.findall(r"^error: (?:Entry|Untracked working tree file) '(.*?)' ", complaint, re.MULTILINE)
    hint = lock_hint(complaint) or "Commit them or move them away, then try again."
    if files:
        message = f"{branch} is checked out in {path}, where these are in the way: {listed(files)}"
    else:
        lines = [line for line in complaint.splitlines() if line.strip()]
        message = f"{branch} is checked out in {path}, and cannot be moved there: {' '.join(lines[:4])}"
    return Refused(message, code="in_the_way", hint=f"Nothing has moved. {hint}")


def rewind(common: str, branch: str, old: str, new: str, *, why: str) -> None:
    """Move a branch from `old` back to `new`; where it is checked out, only if no edit there would be lost.

    The caller holds the project's lock.
    """
    place = the_checkout(common, branch)
    if branch_tip(common, branch) != old:
        raise TargetMoved(f"{branch} moved meanwhile")
    failpoint("rewind.before_ref")
    if place is None:
        _swap(common, branch, old, new, why)
        return
    check_nothing_in_the_way(place, branch, old, new)
    tree = Tree(place.path, place.git_dir)
    words = tree.words()
    done = _patiently(tree, "read-tree", "-m", "-u", old, new)
    if done.code:
        complaint = done.stderr.decode("utf-8", "replace")
        _put_back(tree, old, new, complaint)
        raise in_the_way(branch, place.path, complaint)
    try:
        failpoint("rewind.in_checkout")
        _swap(common, branch, old, new, why)
    except BaseException:
        git(*words, "read-tree", "-m", "-u", new, old, ok=None)
        raise


def _swap(common: str, branch: str, old: str, new: str, why: str) -> None:
    """Move a branch if it is where it is thought to be."""
    done = git("--git-dir", common, "update-ref", "-m", f"woodwind: {why}", f"refs/heads/{branch}", new, old, ok=None)
    if done.code:
        if branch_tip(common, branch) != old:
            raise TargetMoved(f"{branch} moved meanwhile")
        hint = lock_hint(done.complaint)
        raise WoodwindError(f"{branch} could not be moved: {done.complaint}", code="not_moved", hint=hint)


def check_nothing_in_the_way(place: Checkout, branch: str, old: str, new: str) -> None:
    """Refuse where a file would come in whose place there is something that git does not know of.

    `read-tree`, and a merge that is no fast-forward, would overwrite what is ignored.
    """
    words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", old, new)
    tree = Tree(place.path, place.git_dir)
    there = unknown_at(place, [path for path in tree.git(*words).split("\0") if path])
    if there:
        raise in_the_way(branch, place.path, "".join(f"\t{path}\n" for path in there))


def unknown_at(place: Checkout, paths: Sequence[str]) -> list[str]:
    """The files of a checkout, not in its index, that would have to go if it had files at these paths.

    That is also a file where a folder would have to be, and whatever is in a folder where a file would have to be.
    """

    def full(path: str) -> str:
        return os.path.join(place.path, path)

    folders = {path[:at] for path in paths for at, letter in enumerate(path) if letter == "/"}
    no_folders = {
        f for f in folders if os.path.lexists(full(f)) and (os.path.islink(full(f)) or not os.path.isdir(full(f)))
    }
    met = set(no_folders)
    for path in paths:
        if not os.path.lexists(full(path)) or any(path.startswith(f"{file}/") for file in no_folders):
            continue
        if os.path.islink(full(path)) or not os.path.isdir(full(path)):
            met.add(path)
            continue
        for top, inner, files in os.walk(full(path)):
            found = [*files, *(name for name in inner if os.path.islink(os.path.join(top, name)))]
            met |= {os.path.relpath(os.path.join(top, name), place.path) for name in found}
    if not met:
        return []
    return sorted(met.difference(Tree(place.path, place.git_dir).git("ls-files", "-z").split("\0")))


def clear_locks(common: str, path: str, git_dir: str, branch: str) -> None:
    """Take away what a killed git left locked: a folder's index and HEAD, and a branch; refused while a git runs there.

    The caller holds the lock under which our own git worked, so that one of ours has ended.
    """
    names = [os.path.join(git_dir, name) for name in ("index.lock", "HEAD.lock")] if git_dir else []
    left = [name for name in [*names, os.path.join(common, "refs", "heads", f"{branch}.lock")] if os.path.exists(name)]
    if left and path and any(name == "git" for _, name in occupants(path)):
        raise Refused(f"a git process is at work in {path}", code="in_the_way", hint="Try again when it has ended.")
    for name in left:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def complete(common: str, branch: str, old: str, new: str) -> bool:
    """Finish a move that a killed git left half-done in a checkout; False where none was begun.

    A file that is as `new` has it, and in the index as `old` had it, was written by that git: with the index told
    so, the same fast-forward goes through. The caller holds the project's lock.
    """
    place = the_checkout(common, branch)
    if place is None:
        return False
    tree = Tree(place.path, place.git_dir)
    touched = [change for change in half_moves.changes(tree, old, new) if change.state in (NEW, PARTIAL)]
    if not touched:
        return False
    written = [change for change in touched if change.state == NEW]
    before = half_moves.index_entries(tree, [change.path for change in written])
    half_moves.put_back(tree, [change for change in touched if change.state == PARTIAL])
    half_moves.set_index(tree, [change.entry for change in written])
    try:
        if is_ancestor(common, old, new):
            _fast_forward(place, branch, old, new, "finished what was cut short")
        else:
            rewind(common, branch, old, new, why="finished what was cut short")
    except Refused:
        half_moves.set_index(tree, before)
        half_moves.put_back(tree, written)
        return False
    return True


def _put_back(tree: Tree, old: str, new: str, complaint: str) -> None:
    """Take back what a move that failed in the middle, as on a full disk, had written."""
    if half_moves.failed_writing(complaint):
        half_moves.put_back(tree, [c for c in half_moves.changes(tree, old, new) if c.state in (NEW, PARTIAL)])
