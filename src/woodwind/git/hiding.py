"""Files of a commit that are kept out of a worktree, though git has them: for a stranger's code."""

import contextlib
import os
from collections.abc import Callable

from woodwind.git.call import git


def without_filters(git_dir: str) -> list[str]:
    """Options for git that switch off every filter program of the user's, which a stranger's attributes could feed."""
    told = git("--git-dir", git_dir, "config", "--name-only", "--get-regexp", r"^filter\.", ok=(0, 1)).text
    names = {line[len("filter.") :].rpartition(".")[0] for line in told.splitlines()}
    off = ("clean=", "smudge=", "process=", "required=false")
    return [word for name in sorted(names - {""}) for key in off for word in ("-c", f"filter.{name}.{key}")]


def hide(path: str, admin: str, unwanted: Callable[[str], bool]) -> list[str]:
    """Take tracked files out of a worktree without git missing them; return which."""
    # Also to mark them: git compares again what is as young as its index, through the filters.
    here = ("--git-dir", admin, "--work-tree", path, *without_filters(admin))
    tracked = git(*here, "ls-files", "-z").stdout.split(b"\0")
    found = [name for name in tracked if name and unwanted(os.fsdecode(name))]
    if not found:
        return []
    git(*here, "update-index", "--skip-worktree", "-z", "--stdin", input=b"\0".join(found) + b"\0")
    for name in found:
        file = os.path.join(os.fsencode(path), name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)
        with contextlib.suppress(OSError):  # folders that are empty now go, too
            os.removedirs(os.path.dirname(file))
    return [os.fsdecode(name) for name in found]
