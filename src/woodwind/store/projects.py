"""Projects: the repositories that have been seen, by id."""

import contextlib
import os
import sqlite3

from woodwind.base import paths
from woodwind.base.clock import now, to_ms
from woodwind.base.files import make_private_dir, write_atomic
from woodwind.store.db import Store


def find(store: Store, project: str) -> tuple[str, str] | None:
    """(git directory, name) of a known project."""
    row = store.db.execute("SELECT git_dir, name FROM project WHERE id = ?", (project,)).fetchone()
    return (row[0], row[1]) if row else None


def names(store: Store) -> dict[str, str]:
    """The name of every known project, by id."""
    return dict(store.db.execute("SELECT id, name FROM project"))


def remember(store: Store, project: str, git_dir: str, name: str) -> None:
    """Record where a project is; also in a small file, from which a lost store finds it again."""
    folder = os.path.join(paths.state_dir(), "projects")
    make_private_dir(folder)
    write_atomic(os.path.join(folder, project), git_dir.encode("utf-8", "surrogateescape"))
    with store.transaction() as db:
        db.execute(
            "INSERT INTO project (id, git_dir, name, seen_at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (id) DO UPDATE SET "
            "git_dir = excluded.git_dir, name = excluded.name, seen_at = excluded.seen_at",
            (project, git_dir, name, to_ms(now())),
        )


def remembered() -> dict[str, str]:
    """The git directory of every project that was ever remembered, by id, from the small files."""
    folder = os.path.join(paths.state_dir(), "projects")
    found = {}
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for name in os.listdir(folder):
            # Whatever else got in there is no project.
            with contextlib.suppress(OSError), open(os.path.join(folder, name), "rb") as file:
                found[name] = file.read(1 << 16).decode("utf-8", "surrogateescape")
    return {name: path for name, path in found.items() if not name.endswith(".tmp") and os.path.isabs(path)}


def permissions(store: Store, project: str) -> str:
    """What the user once said that agents may do in this project, or ""."""
    row = store.db.execute("SELECT permissions FROM project WHERE id = ?", (project,)).fetchone()
    return row[0] if row else ""


def set_permissions(store: Store, project: str, permissions: str) -> None:
    """Remember the user's answer for the project."""
    with store.transaction() as db:
        db.execute("UPDATE project SET permissions = ? WHERE id = ?", (permissions, project))


def last_worker(store: Store, project: str) -> str:
    """The id of the worker that was named last, or ""."""
    row = store.db.execute("SELECT last_worker FROM project WHERE id = ?", (project,)).fetchone()
    return row[0] if row else ""


def set_last_worker(store: Store, project: str, worker: str) -> None:
    """Remember which worker `-` means."""
    if last_worker(store, project) != worker:
        with store.transaction() as db:
            name_last(db, project, worker)


def name_last(db: sqlite3.Connection, project: str, worker: str) -> None:
    """The same, inside a transaction."""
    db.execute("UPDATE project SET last_worker = ? WHERE id = ?", (worker, project))
