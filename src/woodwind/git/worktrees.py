"""Worktrees: made, found, inspected, parked and brought back."""

import contextlib
import errno
import json
import os
from typing import Any

from woodwind.base.failpoints import failpoint
from woodwind.base.files import delete_tree, sync_dir, write_atomic
from woodwind.base.run import RunFailed
from woodwind.git.call import git
from woodwind.git.identity import RECORD
from woodwind.git.repo import locate
from woodwind.model.errors import NotFound, Refused, WoodwindError

# Index modes without a blob of their own: a submodule, and nothing.
_NO_BLOB = ("160000", "000000")
_IGNORE_ALL = b"*\n"


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


def is_at(admin: str, path: str) -> bool:
    """Whether the folder `path` is the worktree of this admin directory; in any other, git would find another one."""
    dot_git = os.path.join(path, ".git")
    try:
        if os.path.isdir(dot_git):
            return os.path.realpath(dot_git) == os.path.realpath(admin)
        with open(dot_git, "rb") as file:
            target = os.fsdecode(file.read().removeprefix(b"gitdir:").strip())
    except OSError:
        return False
    return os.path.realpath(os.path.join(path, target)) == os.path.realpath(admin)


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
    for admin in [common, *admin_dirs(common)]:  # the main checkout's own, for a worker in place
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
        reason = done.complaint.splitlines()[0].removeprefix("fatal: ") if done.complaint else f"status {done.code}"
        taken = "exist" in reason
        raise Refused(
            f"the branch {branch} cannot be made: {reason}",
            code="branch_exists" if taken else "not_writable",
            hint="Choose another name with --branch or --name."
            if taken
            else "The repository must be writable, with space left on its disk.",
        )


def _mark(worker: str) -> str:
    return f"woodwind: made for worker {worker}"


def drop_made_branch(common: str, branch: str, commit: str, worker: str) -> None:
    """Take back a branch that was made for this worker and has not moved since; any other is left alone."""
    unlock_ref(common, f"refs/heads/{branch}")
    log = git("--git-dir", common, "reflog", "show", "--format=%gs", f"refs/heads/{branch}", "--", ok=None)
    if log.code or log.text.splitlines() != [_mark(worker)]:
        return
    drop_branch(common, branch, commit)
    if branch_tip(common, branch) == commit:
        raise WoodwindError(f"the branch {branch} that was made could not be taken back")


def unlock_ref(common: str, ref: str) -> None:
    """Take away the lock that a killed git left on a ref of ours; the caller holds the worker's lock."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(os.path.join(common, f"{ref}.lock"))


def branch_tip(common: str, branch: str) -> str:
    """The commit that a branch is at, or "" when there is no such branch."""
    ref = f"refs/heads/{branch}^{{commit}}"
    done = git("--git-dir", common, "rev-parse", "--verify", "--quiet", ref, ok=(0, 1, 128))
    return done.text.strip() if done.code == 0 else ""


def add(common: str, *, path: str, branch: str, worker: str, detach: bool = False) -> str:
    """Register a worktree at `path` on a branch (or detached, a commit), without files; return its admin directory.

    The caller holds the project's lock: git's own bookkeeping races with itself.
    """
    _make_parent(os.path.dirname(path))
    reason = f"worker {worker} of woodwind: ww rm removes it"
    options = ("--quiet", "--no-checkout", "--lock", "--reason", reason, *(("--detach",) if detach else ()))
    git("--git-dir", common, "worktree", "add", *options, path, branch)
    admin = admin_of(common, path)
    if not admin:
        raise WoodwindError(f"git made no worktree at {path}")
    return admin


def attach(admin: str, path: str) -> None:
    """Give a worktree whose folder is gone an empty one at `path`."""
    os.makedirs(path)
    write_atomic(os.path.join(path, ".git"), b"gitdir: " + os.fsencode(admin) + b"\n", mode=0o644)
    write_atomic(os.path.join(admin, "gitdir"), os.fsencode(os.path.join(path, ".git")) + b"\n", mode=0o644)


def _make_parent(folder: str) -> None:
    """Make the folder for worktrees; in a checkout, one that ignores itself, so that no `git status` shows it."""
    if os.path.isdir(folder):
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Refused(
            f"the folder {folder} for worktrees cannot be made: {error.strerror}",
            code="not_writable",
            hint="Make its place writable, or choose another one with `path` in [new].",
        ) from error
    with contextlib.suppress(NotFound):
        if locate(folder).top:
            write_atomic(os.path.join(folder, ".gitignore"), _IGNORE_ALL, mode=0o644)


def _drop_parent(folder: str) -> None:
    """Take that folder back when nothing of anybody's is in it."""
    with contextlib.suppress(OSError):
        if os.listdir(folder) == [".gitignore"]:
            with open(os.path.join(folder, ".gitignore"), "rb") as file:
                ours = file.read() == _IGNORE_ALL
            if ours:
                os.unlink(os.path.join(folder, ".gitignore"))
        os.rmdir(folder)


def fill(path: str, admin: str) -> None:
    """Check out the files of a worktree that was just added."""
    git("--git-dir", admin, "--work-tree", path, "-c", "checkout.workers=0", "reset", "--hard", "--quiet")


def refill(path: str, admin: str) -> None:
    """Check out the last commit's files into an empty folder, without a word in the reflog; the index is new."""
    git("--git-dir", admin, "read-tree", "HEAD")
    git("-C", path, "--git-dir", admin, "--work-tree", path, "checkout-index", "--all", "--force", "--quiet")


def rename_admin(admin: str, name: str) -> str:
    """Call a worktree's git directory `name` again, as its submodules do; as it was when that is taken."""
    wanted = os.path.join(os.path.dirname(admin), name)
    if os.path.lexists(wanted):
        return admin
    path = path_of(admin)
    os.rename(admin, wanted)
    write_atomic(os.path.join(path, ".git"), b"gitdir: " + os.fsencode(wanted) + b"\n", mode=0o644)
    return wanted


def discard_new(common: str, *, path: str, worker: str) -> None:
    """Take back a worktree that was being made: its folder and admin directory, as far as they exist.

    The caller holds the project's lock, and `path` was free when the worktree was begun.
    """
    ours = os.path.isdir(path) and not os.path.islink(path) and _is_worktree_of(common, path)
    delete_tree(path if ours else "", by_way_of=os.path.join(os.path.dirname(path), f".{worker}.deleting"))
    for admin in admin_dirs(common):
        if os.path.realpath(path_of(admin)) == os.path.realpath(path) or _half_made(admin, path):
            record = read_record(admin)
            if record is None or record.get("id") == worker:
                forget(common, admin)
    clear_forgotten(common)
    _drop_parent(os.path.dirname(path))
    with contextlib.suppress(OSError):  # it goes only when nothing is left in it
        os.rmdir(os.path.join(common, "worktrees"))


def _is_worktree_of(common: str, path: str) -> bool:
    """Whether a folder is a worktree of the repository, or empty; a person's own folder is neither."""
    try:
        with open(os.path.join(path, ".git"), "rb") as file:
            target = os.fsdecode(file.read().removeprefix(b"gitdir:").strip())
    except OSError:
        return not os.listdir(path)
    admin = os.path.realpath(os.path.join(path, target))
    return os.path.dirname(admin) == os.path.realpath(os.path.join(common, "worktrees"))


def _half_made(admin: str, path: str) -> bool:
    """Whether git was killed before it wrote down which folder this admin directory is for."""
    if os.path.exists(os.path.join(admin, "gitdir")) or os.path.exists(os.path.join(admin, RECORD)):
        return False
    return os.path.basename(admin).rstrip("0123456789") == os.path.basename(path).rstrip("0123456789")


def drop_branch(common: str, branch: str, commit: str) -> bool:
    """Delete a branch if it is at `commit` and checked out nowhere; False when it was left alone."""
    if is_checked_out(common, branch):
        return False
    return git("--git-dir", common, "update-ref", "-d", f"refs/heads/{branch}", commit, ok=None).code == 0


def is_checked_out(common: str, branch: str) -> bool:
    """Whether a worktree, or the main checkout, is on the branch."""
    for admin in [common, *admin_dirs(common)]:
        with contextlib.suppress(OSError), open(os.path.join(admin, "HEAD"), encoding="utf-8") as file:
            if file.read().strip() == f"ref: refs/heads/{branch}":
                return True
    return False


def set_head(admin: str, branch: str) -> None:
    """Put a worktree on a branch, without a word in its reflog."""
    write_atomic(os.path.join(admin, "HEAD"), f"ref: refs/heads/{branch}\n".encode(), mode=0o644)


def head_of(admin: str) -> str:
    """The commit that a worktree is on, or "" when its branch has none."""
    done = git("--git-dir", admin, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", ok=(0, 1, 128))
    return done.text.strip() if done.code == 0 else ""


class Tree:
    """A worktree addressed by both its folder and its git directory, so that git can never fall back to another one."""

    def __init__(self, path: str, admin: str) -> None:
        self.path = path
        self.admin = admin

    def words(self) -> list[str]:
        """The options that make any git call work on this worktree and no other."""
        return ["-C", self.path, "--git-dir", self.admin, "--work-tree", self.path]

    def merge_base(self, commit: str) -> str:
        """Where the worktree left the history of `commit`."""
        return self.git("merge-base", commit, "HEAD", ok=(0, 1)).strip() or commit

    def git(self, *words: str, input: bytes = b"", ok: tuple[int, ...] | None = (0,)) -> str:
        """What git prints in this worktree."""
        return git(*self.words(), *words, input=input, ok=ok).text

    def changes(self, *, submodules: bool = True) -> "Changes":
        """What is not committed in it; a parked worktree's submodules cannot be looked into."""
        options = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames")
        inside = "none" if submodules else "all"
        return Changes(self.git("status", *options, f"--ignore-submodules={inside}"))

    def head(self) -> str:
        """The commit it is on, or "" when its branch has none."""
        return head_of(self.admin)


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
    if not _moved(admin, source, target):
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        try:
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            os.rename(source, target)
        except OSError as error:
            raise Refused(
                f"{source} cannot be moved to {target}: {error.strerror}",
                hint="Both folders must be writable and on one file system, and nothing may be in the way.",
            ) from error
        sync_dir(os.path.dirname(source))
        sync_dir(os.path.dirname(target))
    failpoint("move.after_rename")
    try:
        git("--git-dir", common, "worktree", "repair", target)
    except RunFailed:
        write_atomic(os.path.join(admin, "gitdir"), os.fsencode(os.path.join(target, ".git")) + b"\n", mode=0o644)


def _moved(admin: str, source: str, target: str) -> bool:
    """Whether what is at `target` is the worktree, from a move that was cut short."""
    try:
        with open(os.path.join(target, ".git"), "rb") as file:
            pointer = os.fsdecode(file.read().removeprefix(b"gitdir:").strip())
    except OSError:
        return os.path.lexists(target) and not os.path.lexists(source)
    return os.path.realpath(os.path.join(target, pointer)) == os.path.realpath(admin)


def repair(common: str) -> None:
    """Tell the worktrees of a repository that was moved where it is now."""
    git("--git-dir", common, "worktree", "repair", ok=None)


def forget(common: str, admin: str) -> None:
    """Delete a worktree's git directory; the caller has saved what it held."""
    if os.path.dirname(admin) != os.path.join(common, "worktrees"):
        raise WoodwindError(f"{admin} is not the git directory of a worktree of {common}")
    delete_tree(admin, by_way_of=os.path.join(_forgotten(common), os.path.basename(admin)))


def clear_forgotten(common: str) -> None:
    """Delete what is left of git directories whose deletion was cut short; the caller holds the project's lock."""
    delete_tree("", by_way_of=_forgotten(common))


def _forgotten(common: str) -> str:
    return os.path.join(common, "woodwind", "deleting")
