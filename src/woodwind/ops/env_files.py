"""`.env` files of the main checkout, copied into a new worktree: only plain, ignored files of the repository itself."""

import contextlib
import os
import stat

from woodwind.base.files import is_inside
from woodwind.git.tree import Tree
from woodwind.model.env_file import is_env_file, rewrite

MOST_BYTES = 1 << 20


def copy_env_files(main: str, tree: Tree, folders: list[str]) -> list[str]:
    """Copy what git ignores in the worktree, paths rewritten; return a remark on each that was not."""
    wanted = [os.path.join(folder, name) for folder in folders for name in _names(main, folder) if is_env_file(name)]
    wanted = [path for path in wanted if not os.path.lexists(os.path.join(tree.path, path))]
    # A folder of such a name is a virtual environment, or whatever else: no settings that could be missed.
    wanted = [path for path in wanted if not os.path.isdir(os.path.join(main, path))]
    if not wanted:
        return []
    asked = "".join(f"{path}\0" for path in wanted).encode("utf-8", "surrogateescape")
    ignored = set(tree.git("check-ignore", "-z", "--stdin", input=asked, ok=(0, 1)).split("\0"))
    remarks = []
    for path in wanted:
        if path not in ignored:
            # Copied, it would show as untracked, and an agent that commits everything would commit the secret.
            remarks.append(f"{path} was not copied: git does not ignore it")
            continue
        problem = _copy(main, tree.path, path)
        if problem:
            remarks.append(f"{path} was not copied: {problem}")
    return remarks


def _names(main: str, folder: str) -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(main, folder)))
    except OSError:
        return []  # a folder that this checkout has not


def _copy(main: str, top: str, path: str) -> str:
    """Copy one file; return why it was not, or ""."""
    root = os.path.realpath(main)
    source = os.path.realpath(os.path.join(main, path))
    if not is_inside(source, root) or is_inside(source, os.path.join(root, ".git")):
        return "it leads out of the repository"
    folder = os.path.dirname(os.path.join(top, path))
    if not os.path.isdir(folder) or not is_inside(os.path.realpath(folder), os.path.realpath(top)):
        return "the worktree has no such folder"
    try:
        # Neither does a pipe make us wait, nor is a link followed that was put there a moment ago.
        fd = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        return error.strerror or "it cannot be opened"
    info = os.fstat(fd)
    if not stat.S_ISREG(info.st_mode):
        os.close(fd)
        return "it is not a plain file"
    with open(fd, "rb") as file:
        data = file.read(MOST_BYTES + 1) if info.st_size <= MOST_BYTES else b""
    if info.st_size > MOST_BYTES or len(data) > MOST_BYTES:
        return f"it is larger than {MOST_BYTES >> 20} MB"
    for old in {main, root}:
        data = rewrite(data, old, top)
    return _write(os.path.join(top, path), data, stat.S_IMODE(info.st_mode) & 0o700)


def _write(target: str, data: bytes, mode: int) -> str:
    try:
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode | 0o600)
    except FileExistsError:
        return ""  # somebody was quicker, and it stays as it is
    except OSError as error:
        return error.strerror or "it cannot be written"
    try:
        with open(fd, "wb") as file:
            file.write(data)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(target)  # half a file of settings is worse than none
        raise
    return ""
