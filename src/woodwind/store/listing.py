"""The rows of `ww ls`, as light as they can be: this is the command that is called most."""

from collections.abc import Sequence

from woodwind.model.typed import NamedTuple
from woodwind.store.db import Store


class Listed(NamedTuple):
    """One worker with its terminal, as stored; an entry that is missing or damaged is empty."""

    id: str
    project: str
    name: str
    title: str
    agent: str
    permissions: str
    phase: str
    launch: str
    created_ms: int
    branch: str
    path: str
    server: str
    pid: int
    pid_start: str
    origin: str
    url: str
    nonce: str
    started_ms: int


def rows(store: Store, project: str = "", workers: Sequence[str] = ()) -> list[Listed]:
    """The live workers of a project, or of all, in order of creation; only these, where some are named."""
    only = f"AND w.id IN ({', '.join('?' * len(workers))}) " if workers else ""
    found = store.db.execute(
        "SELECT w.id, w.project, w.name, w.title, w.agent, w.permissions, w.phase, w.launch, w.created_at, "
        "coalesce(t.branch, ''), coalesce(t.path, ''), coalesce(p.server, ''), coalesce(p.pid, 0), "
        "coalesce(p.pid_start, ''), w.origin, w.url, coalesce(p.nonce, ''), coalesce(p.started_at, 0) FROM worker w "
        "LEFT JOIN worktree t ON t.worker = w.id AND t.position = 0 LEFT JOIN terminal p ON p.worker = w.id "
        f"WHERE w.phase <> 'removed' AND (? = '' OR w.project = ?) {only}ORDER BY w.project, w.created_at, w.id",
        (project, project, *workers),
    )
    return [Listed(*row) for row in found]


def held(store: Store, project: str) -> int:
    """How many workers of a project have a worktree, those in the trash included."""
    sql = "SELECT count(*) FROM worker WHERE project = ? AND purged = 0"
    return int(store.db.execute(sql, (project,)).fetchone()[0])


def collisions(store: Store, project: str = "") -> dict[str, list[str]]:
    """Whom each worker collides with, by the last forecast: names of workers, or of its target branch."""
    found: dict[str, list[str]] = {}
    for worker, other, name, other_name in store.db.execute(
        "SELECT c.worker, c.other, w.name, coalesce(o.name, c.target) FROM collision c "
        "JOIN worker w ON w.id = c.worker LEFT JOIN worker o ON o.id = c.other "
        "WHERE (? = '' OR c.project = ?) AND w.phase <> 'removed' AND coalesce(o.phase, '') <> 'removed' "
        "ORDER BY c.appeared_at",
        (project, project),
    ):
        found.setdefault(worker, []).append(other_name)
        if other:
            found.setdefault(other, []).append(name)
    return found


def dropped(store: Store, project: str = "") -> dict[str, str]:
    """Why each worker that fell out of the last landing queue it was in did so."""
    rows = store.db.execute(
        "SELECT e.worker, e.why FROM landing_queue_entry e JOIN worker w ON w.id = e.worker "
        "WHERE e.state = 'dropped' AND (? = '' OR w.project = ?) AND w.phase IN ('running', 'paused', 'queued') "
        "AND NOT EXISTS (SELECT 1 FROM landing_queue_entry l WHERE l.worker = e.worker AND l.at > e.at)",
        (project, project),
    )
    return dict(rows.fetchall())
