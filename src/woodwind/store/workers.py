"""Workers: rows <-> model."""

import sqlite3

from woodwind.base.clock import from_ms, to_ms
from woodwind.model import naming
from woodwind.model.errors import WoodwindError
from woodwind.model.status import Phase
from woodwind.model.typed import Any
from woodwind.model.worker import Worker, Worktree
from woodwind.store.db import Store

_SELECT = (
    "SELECT w.id, w.project, w.name, w.title, w.task, w.kind, w.agent, w.model, w.permissions, "
    "w.launch, w.folder, w.plan, w.in_place, w.automated, w.made_by, "
    "w.agent_session, w.phase, w.created_at, t.path, t.branch, t.base_branch, t.base_commit, "
    "w.origin, w.url, w.untrusted "
    "FROM worker w LEFT JOIN worktree t ON t.worker = w.id AND t.position = 0 "
)


class DamagedRow(WoodwindError):
    """A worker's row that is there and cannot be read."""

    code = "row_damaged"


def _worker(row: tuple[Any, ...]) -> Worker:
    if row[17] is None:
        raise ValueError("it has no worktree")
    id, project, name, title, task, kind, agent, model, permissions, launch, folder = row[:11]
    plan, in_place, automated, made_by, agent_session, phase, created = row[11:18]
    return Worker(
        id=id,
        project=project,
        name=name,
        title=title,
        task=task,
        kind=kind,
        agent=agent,
        model=model,
        permissions=permissions,
        launch=launch,
        folder=folder,
        plan=bool(plan),
        in_place=bool(in_place),
        automated=bool(automated),
        made_by=made_by,
        agent_session=agent_session,
        phase=Phase(phase),
        created_at=from_ms(created),
        worktree=Worktree(*row[18:22]),
        origin=row[22],
        url=row[23],
        untrusted=bool(row[24]),
    )


def find(store: Store, worker: str) -> Worker | None:
    """The worker with this id; DamagedRow when there is one that cannot be read."""
    row = store.db.execute(_SELECT + "WHERE w.id = ?", (worker,)).fetchone()
    try:
        return _worker(row) if row else None
    except (ValueError, OverflowError) as damage:
        raise DamagedRow(
            f"the row of {row[2]} in the store is damaged: {damage}",
            hint=f"Its work is safe. Move {store.path} away, and the next command rebuilds it from git.",
        ) from damage


def name_of(store: Store, worker: str) -> str:
    """The name of the worker with this id, also of one that was removed; "" for none."""
    row = store.db.execute("SELECT name FROM worker WHERE id = ?", (worker,)).fetchone()
    return row[0] if row else ""


def mend(store: Store, worker: Worker) -> None:
    """Write the row of a worker again whose own record told what it was."""
    with store.transaction() as db:
        sql = "UPDATE worker SET phase = ?, created_at = ? WHERE id = ?"
        db.execute(sql, (worker.phase, to_ms(worker.created_at), worker.id))
        _insert_worktree(db, worker)


def of_project(store: Store, project: str, *, removed: bool = False) -> list[Worker]:
    """The project's workers in order of creation: the live ones, or those in the trash."""
    rows = store.db.execute(
        _SELECT + "WHERE w.project = ? AND w.purged = 0 AND (w.phase = 'removed') = ? ORDER BY w.created_at, w.id",
        (project, removed),
    )
    return [worker for worker in map(_whole, rows) if worker]


def _whole(row: tuple[Any, ...]) -> Worker | None:
    try:
        return _worker(row)
    except (ValueError, OverflowError):
        return None  # one damaged row must not make the others unreachable; `damaged` tells of it


def damaged(store: Store, project: str) -> list[str]:
    """The names of the project's workers whose rows cannot be read."""
    rows = store.db.execute(_SELECT + "WHERE w.project = ?", (project,))
    return [row[2] for row in rows if _whole(row) is None]


def queued(store: Store) -> list[Worker]:
    """The workers that wait for room, over all projects, in the order in which they were made."""
    rows = store.db.execute(_SELECT + "WHERE w.phase = 'queued' ORDER BY w.created_at, w.id")
    return [worker for worker in map(_whole, rows) if worker]


def count_creating(store: Store) -> int:
    """How many workers are being made right now, over all projects."""
    return int(store.db.execute("SELECT count(*) FROM worker WHERE phase = 'creating'").fetchone()[0])


def folders(store: Store, project: str) -> dict[str, str]:
    """Where the worktree of each worker is by id: in its place, or in the trash."""
    return dict(
        store.db.execute(
            "SELECT w.id, CASE w.phase WHEN 'removed' THEN coalesce(r.trash, '') ELSE t.path END FROM worker w "
            "JOIN worktree t ON t.worker = w.id AND t.position = 0 "
            "LEFT JOIN removal r ON r.worker = w.id AND r.restored_at IS NULL AND r.purged_at IS NULL "
            "WHERE w.project = ? AND w.purged = 0",
            (project,),
        )
    )


def insert(db: sqlite3.Connection, worker: Worker) -> None:
    """Add a worker inside a transaction; IntegrityError when its name is taken."""
    columns = {
        "id": worker.id,
        "project": worker.project,
        "name": worker.name,
        "name_key": naming.key(worker.name),
        "title": worker.title,
        "task": worker.task,
        "kind": worker.kind,
        "agent": worker.agent,
        "model": worker.model,
        "permissions": worker.permissions,
        "launch": worker.launch,
        "folder": worker.folder,
        "plan": worker.plan,
        "in_place": worker.in_place,
        "automated": worker.automated,
        "made_by": worker.made_by,
        "agent_session": worker.agent_session,
        "phase": worker.phase,
        "created_at": to_ms(worker.created_at),
        "origin": worker.origin,
        "url": worker.url,
        "untrusted": worker.untrusted,
    }
    values = ", ".join(f":{name}" for name in columns)
    db.execute(f"INSERT INTO worker ({', '.join(columns)}) VALUES ({values})", columns)
    _insert_worktree(db, worker)


def _insert_worktree(db: sqlite3.Connection, worker: Worker) -> None:
    tree = worker.worktree
    db.execute(
        "INSERT OR REPLACE INTO worktree VALUES (?, 0, ?, ?, ?, ?)",
        (worker.id, tree.path, tree.branch, tree.base_branch, tree.base_commit),
    )


def delete(db: sqlite3.Connection, worker: str) -> None:
    """Forget a worker that never came to be, inside a transaction."""
    db.execute("DELETE FROM worker WHERE id = ?", (worker,))


def set_phase(db: sqlite3.Connection, worker: str, phase: Phase) -> None:
    """Move a worker to another phase, inside a transaction."""
    db.execute("UPDATE worker SET phase = ? WHERE id = ?", (phase, worker))


def set_purged(db: sqlite3.Connection, worker: str, *, purged: bool) -> None:
    """Free a worker's name, or take it again, inside a transaction."""
    db.execute("UPDATE worker SET purged = ? WHERE id = ?", (purged, worker))


def set_base_commit(db: sqlite3.Connection, worker: str, commit: str) -> None:
    """Record that a worker's branch now begins at another commit, inside a transaction."""
    db.execute("UPDATE worktree SET base_commit = ? WHERE worker = ? AND position = 0", (commit, worker))


def set_agent_session(db: sqlite3.Connection, worker: str, session: str) -> None:
    """Record the id of the agent's own conversation, inside a transaction."""
    db.execute("UPDATE worker SET agent_session = ? WHERE id = ?", (session, worker))


def learn_agent_session(db: sqlite3.Connection, worker: str, session: str) -> None:
    """Record the id that the agent itself gives its conversation, where it is another, inside a transaction."""
    db.execute("UPDATE worker SET agent_session = ? WHERE id = ? AND agent_session <> ?", (session, worker, session))


def set_launch(store: Store, worker: str, launch: str) -> None:
    """Record that a worker's terminal is now a session or a window."""
    with store.transaction() as db:
        db.execute("UPDATE worker SET launch = ? WHERE id = ?", (launch, worker))


def taken_names(store: Store, project: str) -> set[str]:
    """The keys of all names in use, those in the trash included."""
    return {r[0] for r in store.db.execute("SELECT name_key FROM worker WHERE project = ? AND purged = 0", (project,))}


def taken_places(store: Store, project: str) -> tuple[set[str], set[str]]:
    """The branches and the paths that workers hold or would come back to."""
    rows = store.db.execute(
        "SELECT t.branch, t.path FROM worktree t JOIN worker w ON w.id = t.worker WHERE w.project = ? AND w.purged = 0",
        (project,),
    ).fetchall()
    return {naming.key(r[0]) for r in rows}, {naming.key(r[1]) for r in rows}
