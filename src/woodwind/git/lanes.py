"""Lanes: worktrees of our own in which work is merged and verified, so that nobody else's folder is touched.

A lane persists, with what its environment needs in ignored files; whoever takes it finds the files of the commit
that is checked out, and nothing that an earlier user of the lane left untracked.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence

from woodwind.base import paths
from woodwind.base.failpoints import failpoint
from woodwind.base.files import Locked, delete_tree, locked, write_atomic
from woodwind.base.jobs import Ended, end_group, run_job
from woodwind.base.processes import is_running, start_time
from woodwind.git import worktrees
from woodwind.git.call import argv_with_hooks, environment_with_hooks, git
from woodwind.git.identity import lock_of
from woodwind.git.tree import Tree, head_of
from woodwind.model.errors import WoodwindError

FOLDER = ".woodwind-lanes"
_REASON = "a lane of woodwind, in which work is merged and verified; safe to remove when nothing is landing"
_JOB = "woodwind-job.json"  # the process group that works in the lane
_ENVIRONMENT = "woodwind-environment"  # what its environment was made for


class Lane:
    """A worktree that only the holder of its lock uses."""

    def __init__(self, common: str, path: str, admin: str) -> None:
        self.common = common
        self.path = path
        self.admin = admin
        self.tree = Tree(path, admin)

    def check_out(self, commit: str) -> None:
        """Put the lane on a commit, detached: its files exactly, and nothing untracked but what is ignored."""
        self.clear_locks()
        for state in ("rebase-merge", "rebase-apply", "sequencer"):
            shutil.rmtree(os.path.join(self.admin, state), ignore_errors=True)
        # By hand: a verification may have put HEAD on a branch, which a reset would move.
        write_atomic(os.path.join(self.admin, "HEAD"), f"{commit}\n".encode(), mode=0o644)
        self.tree.git("-c", "checkout.workers=0", "reset", "--hard", "--quiet", commit, "--")
        self.tree.git("clean", "-ffdq")

    def clear_locks(self) -> None:
        """Take away what a git that was killed left locked: nobody else is in here."""
        for lock in ("index.lock", "HEAD.lock"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.admin, lock))

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        sink: Callable[[bytes], None],
        timeout: float | None = None,
    ) -> Ended:
        """Run a command in the lane; were we killed, the next holder of the lane ends it."""
        try:
            return run_job(argv, cwd=self.path, env=env, sink=sink, started=self._note_job, timeout=timeout)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.admin, _JOB))

    def git_with_hooks(self, *words: str, env: Mapping[str, str] | None = None) -> tuple[int, str]:
        """(exit status, all output) of git in the lane, with the repository's own hooks."""
        said: list[bytes] = []
        variables = {**environment_with_hooks(), **(env or {})}
        ended = self.run(argv_with_hooks(*words), env=variables, sink=said.append)
        return ended.code, b"".join(said).decode("utf-8", "replace")

    def _note_job(self, pid: int) -> None:
        write_atomic(os.path.join(self.admin, _JOB), json.dumps({"pid": pid, "start": start_time(pid)}).encode())

    def end_leftover_job(self) -> None:
        """End what the lane's previous holder had running in it when it was killed."""
        place = os.path.join(self.admin, _JOB)
        try:
            with open(place, encoding="utf-8") as file:
                job = json.load(file)
            pid, start = int(job["pid"]), str(job["start"])
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError):
            pid, start = 0, ""
        # Its leader may have ended before its children; a group's id is not given away while one of them lives.
        if pid and (is_running(pid, start) or not start_time(pid)):
            end_group(pid)
        os.unlink(place)

    @property
    def environment(self) -> str:
        """What the lane's environment was made for, or "" when there is none."""
        with contextlib.suppress(OSError), open(os.path.join(self.admin, _ENVIRONMENT), encoding="utf-8") as file:
            return file.read()
        return ""

    def set_environment(self, key: str) -> None:
        """Remember what the lane's environment was made for; "" before it is made anew."""
        write_atomic(os.path.join(self.admin, _ENVIRONMENT), key.encode(), mode=0o644)


@contextlib.contextmanager
def taken(common: str, project: str, beside: str, commit: str, *, number: int = 1, wait: bool = True) -> Iterator[Lane]:
    """Hold a lane of the project, made or mended where needed; `wait=False` raises Locked where it is in use.

    `beside` is the folder that the project's worktrees are in; `commit` is any commit that there is.
    """
    with locked(paths.lock_file(f"lane-{project}-{number}"), wait=wait):
        lane = _ready(common, os.path.join(beside, FOLDER, project, f"lane-{number}"), commit)
        lane.end_leftover_job()
        lane.clear_locks()
        yield lane


def _ready(common: str, path: str, commit: str) -> Lane:
    admin = worktrees.admin_of(common, path)
    if not admin or not worktrees.is_at(admin, path) or not head_of(admin):
        if admin:
            Lane(common, path, admin).end_leftover_job()
        with locked(lock_of(common)):
            delete_tree(path, by_way_of=f"{path}.deleting")  # only ever ours, whatever is left of it
            worktrees.discard_new(common, path=path, worker="lane")
            admin = worktrees.add(common, path=path, branch=commit, worker="", detach=True, reason=_REASON)
        failpoint("lane.after_add")
    return Lane(common, path, admin)


def in_use(project: str, number: int = 1) -> bool:
    """Whether somebody holds the lane right now."""
    try:
        with locked(paths.lock_file(f"lane-{project}-{number}"), wait=False):
            return False
    except Locked:
        return True


def numbers(project: str, beside: str) -> list[int]:
    """The numbers of the lanes that the project has."""
    try:
        names = os.listdir(os.path.join(beside, FOLDER, project))
    except FileNotFoundError:
        return []
    return sorted(int(name[5:]) for name in names if name.startswith("lane-") and name[5:].isdecimal())


def tree_of(common: str, commit: str) -> str:
    """The tree of a commit."""
    done = git("--git-dir", common, "rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}", ok=(0, 1, 128))
    if done.code:
        raise WoodwindError(f"there is no commit {commit} any more")
    return done.text.strip()


def blobs_named(common: str, commit: str, names: frozenset[str], env: Mapping[str, str] | None = None) -> list[str]:
    """`blob path` of every file of a commit whose name is one of these, in order."""
    listed = git("--git-dir", common, "ls-tree", "-r", "-z", "--format=%(objectname) %(path)", commit, env=env).text
    return [entry for entry in listed.split("\0") if entry and os.path.basename(entry.split(" ", 1)[1]) in names]
