"""Ignored folders of the main checkout, such as node_modules: cloned copy-on-write into a worktree, or not at all."""

import fcntl
import os
import sys

from woodwind.base.files import delete_tree
from woodwind.base.run import run
from woodwind.git.tree import Tree
from woodwind.model.brief import FOLDER

_FICLONE = 0x40049409
# What npm, pnpm and yarn write into their folder at the end of each installation.
_MADE = (".package-lock.json", ".modules.yaml", ".yarn-integrity", ".yarn-state.yml")
_SAME_RUN = 10  # seconds by which a tool may write its lock file after that


def can_clone(source: str, target: str) -> bool:
    """Whether the file system can clone a file from the one folder into the other."""
    if sys.platform == "darwin":
        return True  # `cp -c` finds out by itself, and copies where it cannot

    name = os.path.join(target, f".woodwind-probe-{os.getpid()}")
    sample = next((os.path.join(at, n) for at, _, names in os.walk(source) for n in names if _is_plain(at, n)), "")
    if not sample:
        return False
    try:
        with open(sample, "rb") as old, open(name, "xb") as new:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
        return True
    except OSError:
        return False
    finally:
        if os.path.exists(name):
            os.unlink(name)


def _is_plain(folder: str, name: str) -> bool:
    path = os.path.join(folder, name)
    return os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) > 0


def follows(main: str, path: str, lock: str) -> bool:
    """Whether a cache of the main checkout was made from the lock file as it is there now, as far as times tell."""
    folder = os.path.join(main, path)
    notes = [note for note in (os.path.join(folder, name) for name in _MADE) if os.path.isfile(note)]
    try:
        made = max(os.stat(note).st_mtime for note in notes or [folder])
        return os.stat(os.path.join(main, lock)).st_mtime <= made + _SAME_RUN
    except OSError:
        return False


def bring(main: str, tree: Tree, path: str, *, copy_below: int) -> str:
    """Clone one folder, or copy it when it is small enough; return how, "" for not at all, where the log says why."""
    source, target = os.path.join(main, path), os.path.join(tree.path, path)
    if os.path.lexists(target) or not os.path.isdir(os.path.dirname(target)):
        return ""
    if not tree.git("check-ignore", "-z", "--stdin", input=f"{path}/\0".encode(), ok=(0, 1)):
        return ""  # it would show as untracked
    scratch = os.path.join(tree.path, FOLDER, f"cache-{os.getpid()}")
    how = "cloned"
    flags = ["-c", "-R"] if sys.platform == "darwin" else ["-a", "--reflink=always"]
    if not can_clone(source, os.path.dirname(scratch)):
        if not copy_below or folder_size(source) > copy_below:
            return ""
        how, flags = "copied", ["-R", "-p"] if sys.platform == "darwin" else ["-a"]
    try:
        done = run(["cp", *flags, "--", source, scratch], ok=None)
        if done.code or os.path.lexists(target):
            return ""
        os.rename(scratch, target)
    finally:
        delete_tree(scratch, by_way_of=f"{scratch}.deleting")
    return how


def folder_size(path: str) -> int:
    """The bytes that the files of a folder hold."""
    total = 0
    for here, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(here, name)).st_size
            except OSError:
                continue  # it went away while we counted
    return total
