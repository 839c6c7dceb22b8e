"""Branches: made for workers and taken back, and what they hold that their base does not."""

import contextlib
import os

from woodwind.git.call import git, lock_hint
from woodwind.git.worktrees import admin_dirs
from woodwind.model.errors import Refused, WoodwindError


def make_branch(common: str, branch: str, commit: str, worker: str) -> None:
    """Make a branch that is not there yet, marked in its reflog as made for this worker."""
    ref = f"refs/heads/{branch}"
    mark = ("--create-reflog", "-m", _mark(worker))
    done = git("--git-dir", common, "update-ref", *mark, ref, commit, "0" * len(commit), ok=None)
    if done.code:
        locked = lock_hint(done.complaint)
        reason = done.complaint.splitlines()[0].removeprefix("fatal: ") if done.complaint else f"status {done.code}"
        taken = "exist" in reason and not locked
        raise Refused(
            f"the branch {branch} cannot be made: {reason}",
            code="branch_exists" if taken else "not_writable",
            hint="Choose another name with --branch or --name."
            if taken
            else locked or "The repository must be writable, with space left on its disk.",
        )


def _mark(worker: str) -> str:
    return f"woodwind: made for worker {worker}"


def drop_made_branch(common: str, branch: str, commit: str, worker: str) -> None:
    """Take back a branch that was made for this worker and has not moved since; any other is left alone."""
    unlock_ref(common, f"refs/heads/{branch}")
    log = git("--git-dir", common, "reflog", "show", "--format=%gs", f"refs/heads/{branch}", "--", ok=None)
    if log.code or log.text.splitlines() != [_mark(worker)]:
        return
    complaint = "" if is_checked_out(common, branch) else _drop(common, branch, commit)
    if branch_tip(common, branch) == commit:
        raise WoodwindError(
            f"the branch {branch} that was made could not be taken back: {complaint or 'it is checked out'}",
            hint=lock_hint(complaint),
        )


def unlock_ref(common: str, ref: str) -> None:
    """Take away the lock that a killed git left on a ref of ours; the caller holds the worker's lock."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(os.path.join(common, f"{ref}.lock"))


def branch_tip(common: str, branch: str) -> str:
    """The commit that a branch is at, or "" when there is no such branch."""
    # A ref with a file of its own is what that file says, and needs no process; a landing asks half a dozen times.
    with contextlib.suppress(OSError, UnicodeDecodeError, ValueError):
        with open(os.path.join(common, "refs", "heads", branch), encoding="ascii") as file:
            commit = file.read(80).rstrip("\n")
        if len(commit) in (40, 64) and not commit.strip("0123456789abcdef"):
            return commit
    ref = f"refs/heads/{branch}^{{commit}}"
    done = git("--git-dir", common, "rev-parse", "--verify", "--quiet", ref, ok=(0, 1, 128))
    return done.text.strip() if done.code == 0 else ""


def drop_branch(common: str, branch: str, commit: str) -> bool:
    """Delete a branch if it is at `commit` and checked out nowhere; False when it was left alone."""
    return not is_checked_out(common, branch) and not _drop(common, branch, commit)


def _drop(common: str, branch: str, commit: str) -> str:
    """Delete a branch if it is at `commit`; what git complained of."""
    done = git("--git-dir", common, "update-ref", "-d", f"refs/heads/{branch}", commit, ok=None)
    return (done.complaint or f"status {done.code}").splitlines()[0] if done.code else ""


def is_checked_out(common: str, branch: str) -> bool:
    """Whether a worktree, or the main checkout, is on the branch."""
    for admin in [common, *admin_dirs(common)]:
        with contextlib.suppress(OSError), open(os.path.join(admin, "HEAD"), encoding="utf-8") as file:
            if file.read().strip() == f"ref: refs/heads/{branch}":
                return True
    return False


def commits_since(admin: str, base_commit: str, most: int = 50) -> list[dict[str, str]]:
    """The commits of a worktree that came after its base, newest first."""
    done = git(
        "--git-dir", admin, "log", f"--max-count={most}", "--format=%H%x00%s", f"{base_commit}..HEAD", "--", ok=None
    )
    lines = [line.split("\0", 1) for line in done.text.splitlines() if "\0" in line]
    return [{"commit": commit, "subject": subject} for commit, subject in lines]


def unmerged_commits(common: str, tips: list[str], base_branch: str, base_commit: str) -> int:
    """How many commits the tips have that the base has not."""
    known = [base_commit]
    if base_branch:
        known.append(f"refs/heads/{base_branch}")
        known.append(f"refs/remotes/{base_branch}")
        known.append(f"refs/remotes/origin/{base_branch}")
    bases = []
    for ref in known:
        done = git("--git-dir", common, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", ok=(0, 1, 128))
        if done.code == 0:
            bases.append(done.text.strip())
    return int(git("--git-dir", common, "rev-list", "--count", *tips, "--not", *bases, "--").text)
