"""Whether a worktree changed since it was last looked at, told without a process: from stats and ref files."""

import hashlib
import os
from collections.abc import Collection


def footprint(path: str, admin: str, head: str, ignored: Collection[str]) -> str:
    """A mark that changes with the commit, the index, or any file outside of the `ignored` folders."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{path}\0{head}\0{stamp(os.path.join(admin, 'index'))}\0".encode("utf-8", "surrogateescape"))
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = sorted(os.scandir(os.path.join(path, folder)), key=lambda e: e.name)
        except OSError as error:
            digest.update(f"{folder}\0{error.errno}\0".encode("utf-8", "surrogateescape"))
            continue
        for entry in entries:
            name = f"{folder}{entry.name}"
            if name == ".git" or f"{name}/" in ignored:
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{name}/")
                continue
            try:
                s = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            told = f"{name}\0{s.st_mode} {s.st_size} {s.st_ino} {s.st_mtime_ns} {s.st_ctime_ns}\0"
            digest.update(told.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def stamp(path: str) -> str:
    """What a file's replacement or change would alter; "" when there is none."""
    try:
        s = os.stat(path)
    except OSError:
        return ""
    return f"{s.st_ino} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}"


class RefFiles:
    """The commits of refs, read from git's own files."""

    def __init__(self, common: str) -> None:
        self.common = common
        self._packed: dict[str, str] | None = None

    def head(self, admin: str) -> str:
        """The commit that a worktree is on, or "" when the files do not tell."""
        text = _read(os.path.join(admin, "HEAD"))
        return self.commit(text[5:].strip()) if text.startswith("ref: ") else text.strip()

    def commit(self, ref: str) -> str:
        """The commit of a full ref name, or "" when the files do not tell."""
        text = _read(os.path.join(self.common, ref)).strip()
        if text.startswith("ref: "):
            return self.commit(text[5:].strip()) if text[5:].strip() != ref else ""
        return text or self._in_pack().get(ref, "")

    def branch(self, name: str) -> str:
        """The commit of a local or, failing that, remote branch."""
        return self.commit(f"refs/heads/{name}") or self.commit(f"refs/remotes/{name}")

    def _in_pack(self) -> dict[str, str]:
        if self._packed is None:
            lines = _read(os.path.join(self.common, "packed-refs")).splitlines()
            pairs = [line.split(" ", 1) for line in lines if line[:1] not in ("#", "^") and " " in line]
            self._packed = {ref: commit for commit, ref in pairs}
        return self._packed


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except (OSError, UnicodeError):
        return ""
