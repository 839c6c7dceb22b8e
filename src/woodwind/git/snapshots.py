"""Saved refs: the work of a worktree, kept byte for byte under refs/woodwind/saved/.

A saved commit has the worktree's commits as parents and a flat tree: `manifest.json` (paths, modes, blobs),
`index` (the raw index file), `f/N` (raw file contents) and `s/N` (blobs that only the index held). File names
stay in the manifest, because a tree could not hold some of them (`.git` of a nested repository, for one).
"""

import json
import os
import stat
from typing import Any

from woodwind.base.files import is_inside
from woodwind.base.run import Conversation
from woodwind.git.call import converse, git
from woodwind.git.worktrees import Tree
from woodwind.model.errors import NotFound, WoodwindError

MANIFEST_VERSION = 1
_CHUNK = 1 << 20


def ref_of(worker: str) -> str:
    """The saved ref of a worker."""
    return f"refs/woodwind/saved/{worker}"


def save(tree: Tree, common: str, worker: str, *, everything: bool = False) -> str:
    """Save the commits, changed and untracked files and index of a worktree; return the saved commit.

    With `everything`, all tracked files are read too, so that edits which git was told to overlook are kept.
    """
    changes = tree.changes()
    paths = set(changes.tracked) | set(changes.untracked)
    if everything:
        paths |= {p for p in tree.git("ls-files", "-z").split("\0") if p}
    head = tree.head()
    previous = _commit(common, ref_of(worker))
    return _Writer(tree, common, worker).write(sorted(paths), changes.index_blobs, head, previous)


def save_git_only(admin: str, common: str, worker: str) -> str:
    """Save what git has of a worktree whose folder is gone: its commits."""
    head = git("--git-dir", admin, "rev-parse", "--verify", "HEAD^{commit}").text.strip()
    return _Writer(Tree("", admin), common, worker).write([], [], head, _commit(common, ref_of(worker)))


def _commit(common: str, ref: str) -> str:
    done = git("--git-dir", common, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", ok=(0, 1, 128))
    return done.text.strip() if done.code == 0 else ""


class _Writer:
    """Streams one saved commit into `git fast-import`: one process, any file name, no filters."""

    def __init__(self, tree: Tree, common: str, worker: str) -> None:
        self.tree = tree
        self.common = common
        self.worker = worker
        self.ref = ref_of(worker)
        self.mark = 0
        self.entries: list[str] = []

    def write(self, paths: list[str], index_blobs: list[str], head: str, previous: str) -> str:
        options = ("--quiet", "--force", "--done", "--date-format=now")
        self.importer: Conversation = converse("--git-dir", self.common, "fast-import", *options)
        failed = ""
        try:
            self._stream(paths, index_blobs, head, previous)
        except BrokenPipeError:
            failed = "it stopped reading"
        finally:
            status = self.importer.close(patience=600)
            failed = self._crash_report() or failed
        saved = _commit(self.common, self.ref)
        if status or failed or not saved or saved == previous:
            raise WoodwindError(
                f"the work in {self.tree.path} could not be saved: {failed or f'git fast-import ended with {status}'}",
                code="not_saved",
                hint="Nothing was removed. Is the disk full? Free some space and try again.",
            )
        return saved

    def _crash_report(self) -> str:
        """What fast-import complained about; the report that it leaves in the repository is taken away."""
        crash = os.path.join(self.common, f"fast_import_crash_{self.importer.pid}")
        if not os.path.exists(crash):
            return ""
        with open(crash, encoding="utf-8", errors="replace") as file:
            complaint = next((line.strip() for line in file if line.startswith("fatal:")), "it crashed")
        os.unlink(crash)
        return complaint

    def _stream(self, paths: list[str], index_blobs: list[str], head: str, previous: str) -> None:
        files: list[dict[str, Any]] = []
        gone: list[str] = []
        skipped: list[str] = []
        self._blob(b"")  # an intended-to-add path refers to the empty blob
        for path in paths:
            if path.endswith("/"):
                for inner in self._walk(path):
                    self._file(inner, files, gone, skipped)
            else:
                self._file(path, files, gone, skipped)
        manifest = {"version": MANIFEST_VERSION, "worker": self.worker, "head": head, "branch": self._branch(),
                    "files": files, "deleted": gone, "not_saved": skipped}  # fmt: skip
        index = os.path.join(self.tree.admin, "index")
        if os.path.exists(index):
            with open(index, "rb") as file:
                self.entries.append(f"M 100644 :{self._blob(file.read())} index")
        self.entries.append(f"M 100644 :{self._blob(json.dumps(manifest).encode())} manifest.json")
        self.entries += [f"M 100644 {blob} s/{n}" for n, blob in enumerate(dict.fromkeys(index_blobs))]
        parents = list(dict.fromkeys([head, *([previous] if previous else []), *self._lone_commits(head)]))
        message = f"Saved work of worker {self.worker}\n".encode()
        lines = [f"commit {self.ref}", "committer woodwind <woodwind@localhost> now"]
        self._send("\n".join(lines).encode() + b"\n" + b"data %d\n%s" % (len(message), message))
        self._send(f"from {parents[0]}\n".encode() + b"".join(b"merge %s\n" % p.encode() for p in parents[1:]))
        self._send(b"deleteall\n" + "".join(e + "\n" for e in self.entries).encode() + b"\ndone\n")

    def _send(self, data: bytes) -> None:
        self.importer.send(data)

    def _blob(self, data: bytes) -> int:
        self.mark += 1
        self._send(b"blob\nmark :%d\ndata %d\n" % (self.mark, len(data)) + data + b"\n")
        return self.mark

    def _file(self, path: str, files: list[dict[str, Any]], gone: list[str], skipped: list[str]) -> None:
        full = os.path.join(os.fsencode(self.tree.path), os.fsencode(path))
        try:
            info = os.lstat(full)
        except (FileNotFoundError, NotADirectoryError):
            gone.append(path)
            return
        if stat.S_ISLNK(info.st_mode):
            mark = self._blob(os.readlink(full))
        elif stat.S_ISREG(info.st_mode):
            mark = self._large(full, info.st_size)
        else:
            if not stat.S_ISDIR(info.st_mode):  # a folder is a submodule's: its own repository keeps its commits
                skipped.append(path)
            return
        self.entries.append(f"M 100644 :{mark} f/{len(files)}")
        files.append({"path": path, "mode": info.st_mode})

    def _large(self, full: bytes, size: int) -> int:
        """Stream a regular file; one that changes its size meanwhile is an error, not a torn copy."""
        self.mark += 1
        self._send(b"blob\nmark :%d\ndata %d\n" % (self.mark, size))
        left = size
        with open(full, "rb", opener=lambda p, f: os.open(p, f | os.O_NOFOLLOW)) as file:
            while left:
                chunk = file.read(min(left, _CHUNK))
                if not chunk:
                    raise WoodwindError(f"{os.fsdecode(full)} shrank while it was saved", hint="Try again.")
                self._send(chunk)
                left -= len(chunk)
        self._send(b"\n")
        return self.mark

    def _walk(self, folder: str) -> list[str]:
        """Every file below a folder that git does not look into, such as a nested repository."""
        top = os.path.join(self.tree.path, folder)
        found = []
        for here, folders, names in os.walk(top):
            links = [d for d in folders if os.path.islink(os.path.join(here, d))]
            found += [os.path.relpath(os.path.join(here, n), self.tree.path) for n in names + links]
        return sorted(found)

    def _branch(self) -> str:
        with open(os.path.join(self.tree.admin, "HEAD"), encoding="utf-8") as file:
            head = file.read().strip()
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else ""

    def _lone_commits(self, head: str) -> list[str]:
        """Commits that only the worktree's own reflog still knows, such as those before a hard reset."""
        log = os.path.join(self.tree.admin, "logs", "HEAD")
        if not os.path.exists(log):
            return []
        with open(log, "rb") as file:
            seen = {word.decode() for line in file for word in line.split(b" ", 2)[:2]}
        seen -= {head, "0" * 40, "0" * 64}
        if not seen:
            return []
        listed = git(
            "--git-dir", self.common, "rev-list", "--parents", "--ignore-missing", "--stdin",
            input=("\n".join([*sorted(seen), f"^{head}"]) + "\n").encode(),
        ).text.splitlines()  # fmt: skip
        commits = [line.split() for line in listed]
        inner = {parent for line in commits for parent in line[1:]}
        return [line[0] for line in commits if line[0] not in inner]


class Saved:
    """A saved commit, read back through one `git cat-file`."""

    def __init__(self, common: str, worker: str) -> None:
        self.commit = _commit(common, ref_of(worker))
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
        """The commit that the worktree was on."""
        return str(self.manifest["head"])

    def _blob(self, name: str) -> bytes | None:
        """The bytes of one entry of the saved tree, or None when it has none."""
        self._reader.send(f"{self.commit}:{name}\n".encode())
        header = (self._reader.line(60) or b"missing").split()
        if header[-1] == b"missing":
            return None
        data = self._reader.read(int(header[2]), 60)
        self._reader.line(60)
        return data

    def write_into(self, tree: Tree) -> None:
        """Put the saved files and index into a worktree that was just checked out at `head`."""
        for path in self.manifest["deleted"]:
            full = _place(tree, path)
            if os.path.lexists(full):
                os.unlink(full)
        for n, file in enumerate(self.manifest["files"]):
            full = _place(tree, file["path"])
            os.makedirs(os.path.dirname(full), exist_ok=True)
            if os.path.lexists(full):
                os.unlink(full)
            data = self._blob(f"f/{n}")
            if data is None:
                raise WoodwindError(
                    f"the saved file {file['path']!r} is missing from {self.commit}", code="damaged_save"
                )
            if stat.S_ISLNK(file["mode"]):
                os.symlink(data, os.fsencode(full))
                continue
            fd = os.open(full, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "wb") as out:
                out.write(data)
            os.chmod(full, stat.S_IMODE(file["mode"]))
        index = self._blob("index")
        if index is not None:
            with open(os.path.join(tree.admin, "index"), "wb") as out:
                out.write(index)


def _place(tree: Tree, path: str) -> str:
    """Where a saved path goes; an error when a symlink or .. would take it out of the worktree."""
    full = os.path.join(tree.path, path)
    if not is_inside(os.path.realpath(os.path.dirname(full)), os.path.realpath(tree.path)):
        raise WoodwindError(f"the saved path {path!r} would be outside {tree.path}", code="unsafe_path")
    return full
