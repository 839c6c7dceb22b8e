"""Worktrees: made, found, inspected, parked and brought back."""

import contextlib
import errno
import json
import os
from collections.abc import Sequence

from woodwind.base.failpoints import failpoint
from woodwind.base.files import delete_tree, sync_dir, write_atomic
from woodwind.base.run import RunFailed
from woodwind.git.call import git
from woodwind.git.identity import RECORD
from woodwind.git.repo import locate
from woodwind.model.errors import NotFound, Refused, WoodwindError
from woodwind.model.typed import Any

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
        with open(os.path.join(admin, "gitdir"), "rb", buffering=0) as file:
            text = os.fsdecode(file.read().strip())
    except OSError:
        return ""
    return os.path.normpath(os.path.join(admin, os.path.dirname(text))) if text else ""


def admin_of(common: str, path: str) -> str:
    """The admin directory of the worktree at `path`, or ""."""
    wanted = os.path.realpath(path)
    # The folder itself mostly tells; only where the two do not agree are all of them looked at.
    told = os.path.join(common, "worktrees", os.path.basename(_pointer(path)))
    if is_at(told, path) and os.path.realpath(path_of(told)) == wanted:
        return told
    for admin in admin_dirs(common):
        if os.path.realpath(path_of(admin)) == wanted:
            return admin
    return ""


def is_at(admin: str, path: str) -> bool:
    """Whether the folder `path` is the worktree of this admin directory; in any other, git would find another one."""
    dot_git = os.path.join(path, ".git")
    if os.path.isdir(dot_git):
        return os.path.realpath(dot_git) == os.path.realpath(admin)
    target = _pointer(path)
    return bool(target) and os.path.realpath(os.path.join(path, target)) == os.path.realpath(admin)


def _pointer(path: str) -> str:
    """The git directory that a worktree's folder names, or "" where it names none."""
    try:
        with open(os.path.join(path, ".git"), "rb", buffering=0) as file:
            return os.fsdecode(file.read().removeprefix(b"gitdir:").strip())
    except OSError:
        return ""


def read_record(admin: str) -> dict[str, Any] | None:
    """The worker's own record, or None where there is none or it is damaged."""
    try:
        with open(os.path.join(admin, RECORD), "rb", buffering=0) as file:
            record = json.loads(file.read().decode())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


# Where a worker's record was last seen: a project may have hundreds of worktrees, most of them in the trash.
_places: dict[tuple[str, str], str] = {}


def admin_of_worker(common: str, worker: str) -> str:
    """The admin directory that holds the record of this worker, or ""."""
    known = _places.get((common, worker), "")
    if known and _is_of(known, worker):
        return known
    for admin in [common, *admin_dirs(common)]:  # `common`: of a worker in place
        if _is_of(admin, worker):
            _places[common, worker] = admin
            return admin
    return ""


def _is_of(admin: str, worker: str) -> bool:
    record = read_record(admin)
    return record is not None and record.get("id") == worker


def admins_of_workers(common: str) -> dict[str, str]:
    """The admin directory of every worker that has one, by id."""
    records = [(admin, read_record(admin)) for admin in [common, *admin_dirs(common)]]
    return {str(record["id"]): admin for admin, record in records if record and record.get("id")}


def write_record(admin: str, record: dict[str, Any]) -> None:
    """Keep a worker's record in its worktree's git directory."""
    write_atomic(os.path.join(admin, RECORD), json.dumps(record, indent=1).encode(), mode=0o644)
    folder, _ = os.path.split(admin)
    _places[os.path.dirname(folder), str(record.get("id"))] = admin


def add(common: str, *, path: str, branch: str, worker: str, detach: bool = False, reason: str = "") -> str:
    """Register a worktree at `path` on a branch (or detached, a commit), without files; return its admin directory.

    The caller holds the project's lock: git's own bookkeeping races with itself.
    """
    _make_parent(os.path.dirname(path))
    reason = reason or f"worker {worker} of woodwind: ww rm removes it"
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


def fill(path: str, admin: str, *, options: Sequence[str] = ()) -> None:
    """Check out the files of a worktree that was just added, with further options for git."""
    git("--git-dir", admin, "--work-tree", path, "-c", "checkout.workers=0", *options, "reset", "--hard", "--quiet")


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


def set_head(admin: str, branch: str) -> None:
    """Put a worktree on a branch, without a word in its reflog."""
    write_atomic(os.path.join(admin, "HEAD"), f"ref: refs/heads/{branch}\n".encode(), mode=0o644)


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
