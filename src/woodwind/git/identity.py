"""A repository's id: a small file in its common git directory, so that its path may change."""

import os

from woodwind.base.clock import new_id
from woodwind.base.files import locked, write_atomic
from woodwind.model.errors import WoodwindError

RECORD = "woodwind.json"  # in the git directory of a worker's worktree


def folder_of(common: str) -> str:
    """Our folder in the common git directory."""
    return os.path.join(common, "woodwind")


def lock_of(common: str) -> str:
    """The lock for whatever changes refs or worktrees of the repository."""
    return os.path.join(folder_of(common), "lock")


def read_id(common: str) -> str:
    """The project's id, or "" when the repository has not been used yet."""
    try:
        with open(os.path.join(folder_of(common), "id"), "rb") as file:
            return file.read().decode("ascii").strip()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise WoodwindError(f"the project's id in {folder_of(common)} cannot be read: {error}") from error


def record_count(common: str) -> int:
    """How many worktrees of the repository hold the record of a worker: one look each, cheap enough for `ww ls`."""
    folder = os.path.join(common, "worktrees")
    try:
        return sum(os.path.exists(os.path.join(folder, name, RECORD)) for name in os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return 0


def ensure_id(common: str) -> str:
    """The project's id, made at first use."""
    found = read_id(common)
    if found:
        return found
    with locked(lock_of(common)):
        found = read_id(common)
        if not found:
            found = new_id("p")
            write_atomic(os.path.join(folder_of(common), "id"), found.encode() + b"\n", mode=0o644)
    return found
