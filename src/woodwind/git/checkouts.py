"""A checkout that belongs to a person, in which a worker may get a branch: switched only when it is clean."""

import contextlib
import os

from woodwind.base.run import RunFailed
from woodwind.git.call import git
from woodwind.git.identity import RECORD
from woodwind.git.worktrees import read_record
from woodwind.model.errors import Refused

# What git leaves in its directory while something is under way that a switch would disturb.
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply")


def under_way(git_dir: str) -> str:
    """The name of git's file for a merge, rebase or the like that is not finished, or ""."""
    return next((name for name in _UNDER_WAY if os.path.exists(os.path.join(git_dir, name))), "")


def branch_at(git_dir: str) -> str:
    """The branch that is checked out, or the commit when HEAD is detached."""
    branch = git("--git-dir", git_dir, "symbolic-ref", "--quiet", "--short", "HEAD", ok=(0, 1)).text.strip()
    return branch or git("--git-dir", git_dir, "rev-parse", "--verify", "HEAD").text.strip()


def switch(top: str, git_dir: str, target: str) -> None:
    """Switch a checkout to a branch, or to a commit; git refuses where that would overwrite something."""
    is_branch = git("--git-dir", git_dir, "show-ref", "--verify", "--quiet", f"refs/heads/{target}", ok=None).code == 0
    how = ("--no-overwrite-ignore", "--no-guess" if is_branch else "--detach")
    try:
        git("-C", top, "--git-dir", git_dir, "--work-tree", top, "switch", "--quiet", *how, target)
    except RunFailed as error:
        raise Refused(
            f"the checkout {top} cannot be switched to {target}: {error.done.complaint}",
            code="not_switched",
            hint="Nothing in it was changed.",
        ) from None


def drop_record(git_dir: str, worker: str) -> None:
    """Forget that a worker is in this checkout; another one's record stays."""
    record = read_record(git_dir)
    if record and record.get("id") == worker:
        os.unlink(os.path.join(git_dir, RECORD))


def is_our_folder(folder: str) -> bool:
    """Whether a folder is one of ours: it ignores itself, as nobody else's does."""
    with contextlib.suppress(OSError), open(os.path.join(folder, ".gitignore"), "rb") as file:
        return not os.path.islink(folder) and file.read() == b"*\n"
    return False


def drop_folder(folder: str) -> None:
    """Delete the folder that holds a worker's brief, if it is ours."""
    if is_our_folder(folder):
        import shutil  # 4 ms, and every `ww new` imports this module

        shutil.rmtree(folder)
