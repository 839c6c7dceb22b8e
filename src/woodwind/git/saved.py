"""Saved refs read back: the files, the git directory and the branch of a worktree as they were."""

import json
import os
import shutil
import stat

from woodwind.base.files import is_inside
from woodwind.git.branches import branch_tip, make_branch, unlock_ref
from woodwind.git.call import converse, git
from woodwind.git.snapshots import commit_at, ref_of
from woodwind.git.tree import Tree
from woodwind.model.errors import NotFound, WoodwindError
from woodwind.model.typed import Any


def bring_back_branch(common: str, branch: str, worker: str) -> None:
    """Make the worker's branch again where someone deleted it since it was saved."""
    if branch_tip(common, branch):
        return
    unlock_ref(common, f"refs/heads/{branch}")
    with Saved(common, worker) as saved:
        if saved.tip or saved.head:
            make_branch(common, branch, saved.tip or saved.head, worker)


def saved_records(common: str) -> list[dict[str, Any]]:
    """The workers' own records, as far as they are in saved commits."""
    listed = git("--git-dir", common, "for-each-ref", "--format=%(refname:lstrip=3)", "refs/woodwind/saved").text
    found = []
    for worker in listed.split():
        with Saved(common, worker) as saved:
            record = saved.manifest.get("record")
        if isinstance(record, dict) and record.get("id") == worker:
            found.append(record)
    return found


class Saved:
    """A saved commit, read back through one `git cat-file`."""

    def __init__(self, common: str, worker: str) -> None:
        self.commit = commit_at(common, ref_of(worker))
        if not self.commit:
            raise NotFound(f"nothing is saved of worker {worker}", code="nothing_saved")
        self._reader = converse("--git-dir", common, "cat-file", "--batch")
        self.manifest: dict[str, Any] = json.loads(self._blob("manifest.json") or b"{}")

    def __enter__(self) -> "Saved":
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()

    @property
    def head(self) -> str:
        """The commit that the worktree was on, or "" when its branch had none."""
        return str(self.manifest["head"])

    @property
    def tip(self) -> str:
        """The commit that the worker's own branch was at, or "" when it had none."""
        return str(self.manifest["tip"])

    @property
    def admin(self) -> str:
        """What the worktree's git directory was called."""
        return str(self.manifest["admin"])

    @property
    def branch(self) -> str:
        """The branch that was checked out, or "" when HEAD was detached."""
        return str(self.manifest["branch"])

    def _blob(self, name: str) -> bytes | None:
        """The bytes of one entry of the saved tree, or None when it has none."""
        self._reader.send(f"{self.commit}:{name}\n".encode())
        header = (self._reader.line(60) or b"missing").split()
        if header[-1] == b"missing":
            return None
        data = self._reader.read(int(header[2]), 60)
        self._reader.line(60)
        return data

    def write_git_dir(self, tree: Tree) -> None:
        """Put the saved files of the git directory into a new one."""
        for n, entry in enumerate(self.manifest["git"]):
            self._write(_place(tree.admin, entry["path"]), entry["mode"], f"g/{n}")
        index = self._blob("index")
        if index is not None:
            with open(os.path.join(tree.admin, "index"), "wb") as out:
                out.write(index)

    def write_files(self, tree: Tree) -> None:
        """Put the saved files into a worktree that has none yet; those that were as committed come from git."""
        if not self.manifest["complete"]:
            self._fill(tree)
        for path in self.manifest["deleted"]:
            _clear(_place(tree.path, path))
        for n, entry in enumerate(self.manifest["files"]):
            self._write(_place(tree.path, entry["path"]), entry["mode"], f"f/{n}")
        for entry in self.manifest["folders"]:
            self._write(_place(tree.path, entry["path"]), entry["mode"], "")

    def _fill(self, tree: Tree) -> None:
        """Check out what was committed without touching the index as it was."""
        index = os.path.join(tree.admin, "index")
        kept = index + ".saved"
        if os.path.exists(index):
            os.replace(index, kept)
        if self.head:
            tree.refill()
        if os.path.exists(kept):
            os.replace(kept, index)

    def _write(self, full: str, mode: int, name: str) -> None:
        if stat.S_ISDIR(mode):
            os.makedirs(full, exist_ok=True)
            os.chmod(full, stat.S_IMODE(mode))
            return
        os.makedirs(os.path.dirname(full), exist_ok=True)
        _clear(full)
        data = self._blob(name)
        if data is None:
            raise WoodwindError(f"the saved file {full!r} is missing from {self.commit}", code="damaged_save")
        if stat.S_ISLNK(mode):
            os.symlink(data, os.fsencode(full))
            return
        fd = os.open(full, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "wb") as out:
            out.write(data)
        os.chmod(full, stat.S_IMODE(mode))


def _clear(full: str) -> None:
    if os.path.isdir(full) and not os.path.islink(full):
        shutil.rmtree(full)
    elif os.path.lexists(full):
        os.unlink(full)


def _place(top: str, path: str) -> str:
    """Where a saved path goes; an error when a symlink or .. would take it out of the worktree."""
    full = os.path.join(top, path)
    if not is_inside(os.path.realpath(os.path.dirname(full)), os.path.realpath(top)):
        raise WoodwindError(f"the saved path {path!r} would be outside {top}", code="unsafe_path")
    return full
