"""Worktrees: made, found, inspected, parked and brought back."""

import contextlib
import json
import os
import shutil
from typing import Any

from woodwind.base.failpoints import failpoint
from woodwind.base.files import sync_dir, write_atomic
from woodwind.base.run import RunFailed
from woodwind.git.call import git
from woodwind.model.errors import Refused, WoodwindError

RECORD = "woodwind.json"
# Index modes without a blob of their own: a submodule, and nothing.
_NO_BLOB = ("160000", "000000")


def admin_dirs(common: str) -> list[str]:
    """The git directories of all linked worktrees."""
    folder = os.path.join(common, "worktrees")
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder))
    except FileNotFoundError:
        return []


def path_of(admin: str) -> str:
    """The folder that an admin directory belongs to, or "" when it does not say."""
    try:
        with open(os.path.join(admin, "gitdir"), encoding="utf-8", errors="surrogateescape") as file:
            text = file.read().strip()
    except OSError:
        return ""
    return os.path.normpath(os.path.join(admin, os.path.dirname(text))) if text else ""


def admin_of(common: str, path: str) -> str:
    """The admin directory of the worktree at `path`, or ""."""
    wanted = os.path.realpath(path)
    for admin in admin_dirs(common):
        if os.path.realpath(path_of(admin)) == wanted:
            return admin
    return ""


def read_record(admin: str) -> dict[str, Any] | None:
    """The worker's own record, or None where there is none or it is damaged."""
    try:
        with open(os.path.join(admin, RECORD), encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def admin_of_worker(common: str, worker: str) -> str:
    """The admin directory that holds the record of this worker, or ""."""
    for admin in admin_dirs(common):
        record = read_record(admin)
        if record and record.get("id") == worker:
            return admin
    return ""


def write_record(admin: str, record: dict[str, Any]) -> None:
    """Keep a worker's record in its worktree's git directory."""
    write_atomic(os.path.join(admin, RECORD), json.dumps(record, indent=1).encode(), mode=0o644)


def make_branch(common: str, branch: str, commit: str, worker: str) -> None:
    """Make a branch that is not there yet, marked in its reflog as made for this worker."""
    ref = f"refs/heads/{branch}"
    mark = ("--create-reflog", "-m", _mark(worker))
    done = git("--git-dir", common, "update-ref", *mark, ref, commit, "0" * len(commit), ok=None)
    if done.code:
        raise Refused(
            f"the branch {branch} cannot be made: {done.complaint.splitlines()[0].removeprefix('fatal: ')}",
            code="branch_exists",
            hint="Choose another name with --branch or --name.",
        )


def _mark(worker: str) -> str:
    return f"woodwind: made for worker {worker}"


def drop_made_branch(common: str, branch: str, commit: str, worker: str) -> None:
    """Take back a branch that was made for this worker and has not moved since; any other is left alone."""
    log = git("--git-dir", common, "reflog", "show", "--format=%gs", f"refs/heads/{branch}", "--", ok=None)
    if log.code == 0 and log.text.splitlines() == [_mark(worker)]:
        drop_branch(common, branch, commit)


def branch_tip(common: str, branch: str) -> str:
    """The commit that a branch is at, or "" when there is no such branch."""
    ref = f"refs/heads/{branch}^{{commit}}"
    done = git("--git-dir", common, "rev-parse", "--verify", "--quiet", ref, ok=(0, 1, 128))
    return done.text.strip() if done.code == 0 else ""


def add(common: str, *, path: str, branch: str, worker: str) -> str:
    """Register a worktree at `path` on a branch that is there, without files; return its admin directory.

    The caller holds the project's lock: git's own bookkeeping races with itself.
    """
    os.makedirs(os.path.dirname(path), exist_ok=True)
    reason = f"worker {worker} of woodwind: ww rm removes it"
    git("--git-dir", common, "worktree", "add", "--quiet", "--no-checkout", "--lock", "--reason", reason, path, branch)
    admin = admin_of(common, path)
    if not admin:
        raise WoodwindError(f"git made no worktree at {path}")
    return admin


def fill(path: str, admin: str) -> None:
    """Check out the files of a worktree that was just added."""
    git("--git-dir", admin, "--work-tree", path, "-c", "checkout.workers=0", "reset", "--hard", "--quiet")


def discard_new(common: str, *, path: str, worker: str) -> None:
    """Take back a worktree that was being made: its folder and admin directory, as far as they exist.

    The caller holds the project's lock, and `path` was free when the worktree was begun.
    """
    for admin in admin_dirs(common):
        if os.path.realpath(path_of(admin)) == os.path.realpath(path) or _half_made(admin, path):
            record = read_record(admin)
            if record is None or record.get("id") == worker:
                shutil.rmtree(admin)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    for emptied in (os.path.dirname(path), os.path.join(common, "worktrees")):
        with contextlib.suppress(OSError):  # it goes only when nothing is left in it
            os.rmdir(emptied)


def _half_made(admin: str, path: str) -> bool:
    """Whether git was killed before it wrote down which folder this admin directory is for."""
    if os.path.exists(os.path.join(admin, "gitdir")) or os.path.exists(os.path.join(admin, RECORD)):
        return False
    return os.path.basename(admin).rstrip("0123456789") == os.path.basename(path).rstrip("0123456789")


def drop_branch(common: str, branch: str, commit: str) -> bool:
    """Delete a branch if it is at `commit` and checked out nowhere; False when it was left alone."""
    ref = f"refs/heads/{branch}"
    for admin in [common, *admin_dirs(common)]:
        with contextlib.suppress(OSError), open(os.path.join(admin, "HEAD"), encoding="utf-8") as file:
            if file.read().strip() == f"ref: {ref}":
                return False
    return git("--git-dir", common, "update-ref", "-d", ref, commit, ok=None).code == 0


class Tree:
    """A worktree addressed by both its folder and its git directory, so that git can never fall back to another one."""

    def __init__(self, path: str, admin: str) -> None:
        self.path = path
        self.admin = admin

    def git(self, *words: str, input: bytes = b"", ok: tuple[int, ...] | None = (0,)) -> str:
        """What git prints in this worktree."""
        return git("-C", self.path, "--git-dir", self.admin, "--work-tree", self.path, *words, input=input, ok=ok).text

    def changes(self) -> "Changes":
        """What is not committed in it."""
        return Changes(self.git("status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames"))

    def head(self) -> str:
        """The commit it is on."""
        return self.git("rev-parse", "--verify", "HEAD^{commit}").strip()


class Changes:
    """Uncommitted paths by kind, and the blobs that only the index holds."""

    def __init__(self, porcelain: str) -> None:
        self.staged: list[str] = []
        self.unstaged: list[str] = []
        self.unmerged: list[str] = []
        self.untracked: list[str] = []
        self.index_blobs: list[str] = []
        for entry in porcelain.split("\0"):
            if entry.startswith("1 "):
                # 1 XY sub mH mI mW hH hI path
                fields = entry.split(" ", 8)
                xy, index_mode, index_blob, path = fields[1], fields[4], fields[7], fields[8]
                if xy[0] != ".":
                    self.staged.append(path)
                    if index_mode not in _NO_BLOB:
                        self.index_blobs.append(index_blob)
                if xy[1] != ".":
                    self.unstaged.append(path)
            elif entry.startswith("u "):
                # u XY sub m1 m2 m3 mW h1 h2 h3 path
                fields = entry.split(" ", 10)
                self.unmerged.append(fields[10])
                stages = zip(fields[3:6], fields[7:10], strict=True)
                self.index_blobs += [blob for mode, blob in stages if mode not in _NO_BLOB]
            elif entry.startswith("? "):
                self.untracked.append(entry[2:])

    @property
    def tracked(self) -> list[str]:
        """Tracked paths that differ from the last commit."""
        return sorted({*self.staged, *self.unstaged, *self.unmerged})

    def __bool__(self) -> bool:
        return bool(self.tracked or self.untracked)


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


def move(common: str, admin: str, source: str, target: str) -> None:
    """Rename a worktree's folder and tell git; finishes a move that was cut short.

    Not `git worktree move`: that one refuses worktrees with submodules.
    """
    if not os.path.lexists(target):
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        try:
            os.rename(source, target)
        except OSError as error:
            raise Refused(
                f"{source} cannot be moved to {target}: {error.strerror}",
                hint="Both folders must be writable and on one file system.",
            ) from error
        sync_dir(os.path.dirname(source))
        sync_dir(os.path.dirname(target))
    failpoint("move.after_rename")
    try:
        git("--git-dir", common, "worktree", "repair", target)
    except RunFailed:
        write_atomic(os.path.join(admin, "gitdir"), os.fsencode(os.path.join(target, ".git")) + b"\n", mode=0o644)


def forget(common: str, admin: str) -> None:
    """Delete a worktree's git directory; the caller has saved what it held."""
    if os.path.dirname(admin) != os.path.join(common, "worktrees"):
        raise WoodwindError(f"{admin} is not the git directory of a worktree of {common}")
    shutil.rmtree(admin)
