"""Saved refs: the work of a worktree, kept byte for byte under refs/woodwind/saved/.

A saved commit has the worktree's commits as parents and a flat tree: `manifest.json` (paths, modes, blobs),
`index` (the raw index file), `f/N` (raw file contents), `g/N` (further files of the worktree's git directory: its
reflog, a merge that is under way, the repositories of its submodules) and `s/N` (blobs that only the index held).
File names stay in the manifest, because a tree could not hold some of them (`.git` of a nested repository, for one).
"""

import contextlib
import errno
import json
import os
import stat

from woodwind.base.run import Conversation
from woodwind.git.branches import branch_tip, unlock_ref
from woodwind.git.call import converse, git
from woodwind.git.identity import RECORD
from woodwind.git.tree import Tree, head_of
from woodwind.git.worktrees import read_record
from woodwind.model.brief import FOLDER
from woodwind.model.errors import WoodwindError
from woodwind.model.typed import Any

MANIFEST_VERSION = 1
_CHUNK = 1 << 20
# Files of a worktree's git directory that its place decides, or that are saved by themselves.
_NOT_KEPT = ("HEAD", "commondir", "gitdir", "index", "locked", RECORD)


def ref_of(worker: str) -> str:
    """The saved ref of a worker."""
    return f"refs/woodwind/saved/{worker}"


def save(tree: Tree, common: str, worker: str, *, everything: bool = False) -> str:
    """Save the commits, changed and untracked files and index of a worktree; return the saved commit.

    With `everything`, all tracked files are read too, so that edits which git was told to overlook are kept.
    """
    changes = tree.changes(submodules=not everything)
    paths = set(changes.tracked) | set(changes.untracked)
    if everything:
        if changes.unread:
            raise WoodwindError(
                f"the work in {tree.path} could not be saved: {changes.unread[0].removeprefix('warning: ')}",
                code="not_saved",
                hint="Nothing was removed. Make that folder readable, for example with chmod u+rwx, and try again.",
            )
        paths |= {p for p in tree.git("ls-files", "-z").split("\0") if p}
        if os.path.isdir(os.path.join(tree.path, FOLDER)):
            paths.add(f"{FOLDER}/")  # the brief, which git is told to overlook
    return _Writer(tree, common, worker, everything).write(sorted(paths), changes.index_blobs)


def save_git_only(admin: str, common: str, worker: str) -> str:
    """Save what git has of a worktree whose folder is gone: its commits and index."""
    staged = git("--git-dir", admin, "ls-files", "--stage", "-z").text.split("\0")
    blobs = [entry.split(" ", 2)[1] for entry in staged if entry and not entry.startswith("160000")]
    return _Writer(Tree("", admin), common, worker, False).write([], blobs)


def is_saved(common: str, worker: str) -> bool:
    """Whether there is a saved commit of the worker."""
    return bool(commit_at(common, ref_of(worker)))


def commit_at(common: str, ref: str) -> str:
    """The commit that a ref names, or ""."""
    done = git("--git-dir", common, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}", ok=(0, 1, 128))
    return done.text.strip() if done.code == 0 else ""


class _Writer:
    """Streams one saved commit into `git fast-import`: one process, any file name, no filters."""

    def __init__(self, tree: Tree, common: str, worker: str, complete: bool) -> None:
        self.tree = tree
        self.common = common
        self.worker = worker
        self.complete = complete
        self.ref = ref_of(worker)
        self.mark = 0
        self.entries: list[str] = []
        self.files: list[dict[str, Any]] = []
        self.folders: list[dict[str, Any]] = []
        self.gone: list[str] = []
        self.skipped: list[str] = []

    def write(self, paths: list[str], index_blobs: list[str]) -> str:
        unlock_ref(self.common, self.ref)
        previous = commit_at(self.common, self.ref)
        options = ("--quiet", "--force", "--done", "--date-format=now")
        self.importer: Conversation = converse("--git-dir", self.common, "fast-import", *options)
        failed = ""
        try:
            self._stream(paths, index_blobs, previous)
        except BrokenPipeError:
            failed = "it stopped reading"
        finally:
            status = self.importer.close(patience=600)
            failed = self._crash_report() or failed
        saved = commit_at(self.common, self.ref)
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

    def _stream(self, paths: list[str], index_blobs: list[str], previous: str) -> None:
        self._blob(b"")  # an intended-to-add path refers to the empty blob
        for path in paths:
            if path.endswith("/"):
                self._walk(path)
            else:
                self._file(path)
        head, record = head_of(self.tree.admin), read_record(self.tree.admin) or {}
        branch = str(record.get("branch", ""))
        tip = branch_tip(self.common, branch) if branch else ""
        manifest = {"version": MANIFEST_VERSION, "worker": self.worker, "complete": self.complete, "head": head,
                    "branch": self._branch(), "tip": tip, "record": record,
                    "admin": os.path.basename(self.tree.admin), "files": self.files,
                    "folders": self.folders, "deleted": self.gone, "not_saved": self.skipped,
                    "git": self._git_files()}  # fmt: skip
        index = os.path.join(self.tree.admin, "index")
        if os.path.exists(index):
            with open(index, "rb") as file:
                self.entries.append(f"M 100644 :{self._blob(file.read())} index")
        self.entries.append(f"M 100644 :{self._blob(json.dumps(manifest).encode())} manifest.json")
        self.entries += [f"M 100644 {blob} s/{n}" for n, blob in enumerate(dict.fromkeys(index_blobs))]
        known = [commit for commit in (head, tip, previous) if commit]
        parents = list(dict.fromkeys([*known, *self._lone_commits(known, branch)]))
        message = f"Saved work of worker {self.worker}\n".encode()
        lines = [f"commit {self.ref}", "committer woodwind <woodwind@localhost> now"]
        self._send("\n".join(lines).encode() + b"\n" + b"data %d\n%s" % (len(message), message))
        for n, parent in enumerate(parents):
            self._send(f"{'merge' if n else 'from'} {parent}\n".encode())
        self._send(b"deleteall\n" + "".join(e + "\n" for e in self.entries).encode() + b"\ndone\n")

    def _send(self, data: bytes) -> None:
        self.importer.send(data)

    def _blob(self, data: bytes) -> int:
        self.mark += 1
        self._send(b"blob\nmark :%d\ndata %d\n" % (self.mark, len(data)) + data + b"\n")
        return self.mark

    def _file(self, path: str) -> None:
        full = os.path.join(os.fsencode(self.tree.path), os.fsencode(path))
        try:
            info = os.lstat(full)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise
            self.gone.append(path)
            return
        if self._through_link(path):
            self.gone.append(path)  # one of its folders is a link now: what is behind it is another file
        elif stat.S_ISDIR(info.st_mode):
            if not os.path.lexists(os.path.join(full, b".git")):
                self.gone.append(path)  # where there was a file is now a folder
            elif self.complete:
                self._walk(path)  # a submodule
        elif stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode):
            try:
                mark = self._content(full, info)
            except FileNotFoundError:  # its agent, which is stopped later, has just deleted it
                self.gone.append(path)
                return
            self.entries.append(f"M 100644 :{mark} f/{len(self.files)}")
            self.files.append({"path": path, "mode": info.st_mode})
        else:
            self.skipped.append(path)

    def _through_link(self, path: str) -> bool:
        parent = os.path.dirname(path)
        top = os.path.realpath(self.tree.path)
        return bool(parent) and os.path.realpath(os.path.join(top, parent)) != os.path.join(top, parent)

    def _content(self, full: bytes, info: os.stat_result) -> int:
        if stat.S_ISLNK(info.st_mode):
            return self._blob(os.readlink(full))
        return self._large(full, info.st_size)

    def _git_files(self) -> list[dict[str, Any]]:
        """Save the rest of the worktree's git directory, so that a merge can go on and a reflog is whole."""
        if os.path.realpath(self.tree.admin) == os.path.realpath(self.common):
            return []  # the main checkout's is the repository itself, and is not removed
        kept: list[dict[str, Any]] = []
        names, folders = _below(self.tree.admin)
        for name in names:
            if name in _NOT_KEPT or name.endswith(".lock"):
                continue
            if name.startswith("modules/") and not self.complete:
                continue  # large, and parked with the rest
            full = os.path.join(os.fsencode(self.tree.admin), os.fsencode(name))
            try:
                info = os.lstat(full)
                if not stat.S_ISREG(info.st_mode):
                    continue
                mark = self._content(full, info)
            except FileNotFoundError:
                continue  # a git of its agent's has just ended what it did
            self.entries.append(f"M 100644 :{mark} g/{len(kept)}")
            kept.append({"path": name, "mode": info.st_mode})
        return kept + [{"path": name, "mode": stat.S_IFDIR | 0o755} for name in folders]

    def _large(self, full: bytes, size: int) -> int:
        """Stream a regular file; one that shrinks meanwhile is an error, not a torn copy."""
        left = size
        with open(full, "rb", opener=lambda p, f: os.open(p, f | os.O_NOFOLLOW)) as file:
            self.mark += 1  # once it is open: what is gone must not leave half a blob in the stream
            self._send(b"blob\nmark :%d\ndata %d\n" % (self.mark, size))
            while left:
                chunk = file.read(min(left, _CHUNK))
                if not chunk:
                    raise WoodwindError(f"{os.fsdecode(full)} shrank while it was saved", hint="Try again.")
                self._send(chunk)
                left -= len(chunk)
        self._send(b"\n")
        return self.mark

    def _walk(self, folder: str) -> None:
        """Save all of a folder that git does not look into: a nested repository, a submodule."""
        top = os.path.join(self.tree.path, folder)
        names, empty = _below(top)
        for name in names:
            self._file(os.path.join(folder, name))
        for name in empty:
            with contextlib.suppress(FileNotFoundError):
                mode = os.lstat(os.path.join(top, name)).st_mode
                self.folders.append({"path": os.path.join(folder, name), "mode": mode})

    def _branch(self) -> str:
        with open(os.path.join(self.tree.admin, "HEAD"), encoding="utf-8") as file:
            head = file.read().strip()
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref:") else ""

    def _lone_commits(self, known: list[str], branch: str) -> list[str]:
        """Commits that only the reflogs of the worktree and its branch still know, as from before a hard reset."""
        seen: set[str] = set()
        for log in (
            os.path.join(self.tree.admin, "logs", "HEAD"),
            os.path.join(self.common, "logs/refs/heads", branch),
        ):
            if os.path.isfile(log):
                with open(log, "rb") as file:
                    seen |= {word.decode("ascii", "replace") for line in file for word in line.split(b" ", 2)[:2]}
        seen = {word for word in seen - set(known) if set(word) <= set("0123456789abcdef") and word.strip("0")}
        if not seen:
            return []
        listed = git(
            "--git-dir", self.common, "rev-list", "--parents", "--ignore-missing", "--stdin",
            input=("\n".join([*sorted(seen), *(f"^{commit}" for commit in known)]) + "\n").encode(),
        ).text.splitlines()  # fmt: skip
        commits = [line.split() for line in listed]
        inner = {parent for line in commits for parent in line[1:]}
        return [line[0] for line in commits if line[0] not in inner]


def _below(top: str) -> tuple[list[str], list[str]]:
    """The files and the empty folders below a folder, relative to it; links are files."""
    files, empty = [], []
    for here, folders, names in os.walk(top, onerror=_not_gone):
        links = [d for d in folders if os.path.islink(os.path.join(here, d))]
        files += [os.path.relpath(os.path.join(here, n), top) for n in names + links]
        if not folders and not names and here != top:
            empty.append(os.path.relpath(here, top))
    return sorted(files), sorted(empty)


def _not_gone(error: OSError) -> None:
    """A folder that cannot be read must not pass for an empty one: what is in it would be deleted unsaved."""
    if not isinstance(error, FileNotFoundError):
        raise error
