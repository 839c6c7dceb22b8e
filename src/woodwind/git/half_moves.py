"""What a git that failed or died left in a checkout that it was moving from one commit to another.

Git looks at every file before it writes the first, so whatever it has begun to write was clean: as the old commit has
it, and in git. A file that is now as the new commit has it, or the beginning of that, or gone, was git's doing.
"""

import contextlib
import os
from typing import NamedTuple

from woodwind.git.tree import Tree

OLD, NEW, PARTIAL, OTHER = "old", "new", "partial", "other"
_LINK, _SUBMODULE = "120000", "160000"


class Change(NamedTuple):
    """A path in which two commits differ, and which of them its file is like; a blob is "" where there is none."""

    path: str
    old_blob: str
    mode: str
    blob: str
    state: str

    @property
    def entry(self) -> str:
        """What the index has for it in the new commit."""
        return f"{self.mode} {self.blob}\t{self.path}" if self.blob else f"0 {'0' * 40}\t{self.path}"


def changes(tree: Tree, old: str, new: str) -> list[Change]:
    """Every path in which the commits differ."""
    fields = tree.git("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-commit-id", old, new).split("\0")
    found = []
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, mode, old_blob, blob, _ = about.removeprefix(":").split(" ")
        old_blob, blob = (b if set(b) != {"0"} else "" for b in (old_blob, blob))
        found.append(Change(path, old_blob, mode, blob, _state(tree, path, (old_mode, old_blob), (mode, blob), new)))
    return found


def _state(tree: Tree, path: str, before: tuple[str, str], after: tuple[str, str], new: str) -> str:
    full = os.path.join(tree.path, path)
    if _SUBMODULE in (before[0], after[0]):
        return OLD  # a folder of its own, which git does not write
    if not os.path.lexists(full):
        return NEW if not after[1] else OLD if not before[1] else PARTIAL
    if os.path.isdir(full) and not os.path.islink(full):
        return OTHER
    link = os.path.islink(full)
    if link:
        data = os.fsencode(os.readlink(full))
    else:
        with open(full, "rb") as file:
            data = file.read()
    blob = tree.git("hash-object", "--stdin", *(("--no-filters",) if link else ("--path", path)), input=data).strip()
    like = [s for s, (mode, b) in ((OLD, before), (NEW, after)) if b == blob and (mode == _LINK) == link]
    if len(like) == 2:  # only the mode differs
        return NEW if (after[0] == "100755") == os.access(full, os.X_OK) else OLD
    if like:
        return like[0]
    if after[1] and not link and after[0] != _LINK:
        whole = tree.git_bytes("cat-file", "--filters", f"{new}:{path}")
        return PARTIAL if whole.startswith(data) else OTHER
    return OTHER


def put_back(tree: Tree, touched: list[Change]) -> None:
    """Make files that git had begun to write as the old commit, and the index, have them."""
    for change in touched:
        if not change.old_blob:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(tree.path, change.path))
            with contextlib.suppress(OSError):  # the folders that were made for it, as far as nothing is in them
                folder = os.path.dirname(change.path)
                while folder:
                    os.rmdir(os.path.join(tree.path, folder))
                    folder = os.path.dirname(folder)
    paths = "".join(f"{change.path}\0" for change in touched if change.old_blob)
    if paths:
        data = paths.encode("utf-8", "surrogateescape")
        tree.git("checkout-index", "--force", "--index", "-z", "--stdin", input=data)


def index_entries(tree: Tree, paths: list[str]) -> list[str]:
    """What the index has for these paths, in the form in which it can be given back."""
    listed = tree.git("ls-files", "--stage", "-z").split("\0")
    there = {entry.partition("\t")[2]: entry for entry in listed if entry}
    return [there.get(path, f"0 {'0' * 40}\t{path}") for path in paths]


def set_index(tree: Tree, entries: list[str]) -> None:
    """Give the index these entries."""
    text = "".join(f"{entry}\0" for entry in entries)
    if text:
        tree.git("update-index", "-z", "--index-info", input=text.encode("utf-8", "surrogateescape"))


def failed_writing(complaint: str) -> bool:
    """Whether git failed in the middle of writing, and did not refuse before it."""
    return "unable to" in complaint and "overwritten" not in complaint and "uptodate" not in complaint
