"""Forecasts: snapshots of workers, trial merges that need not be made again, and what collides now."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from woodwind.base.clock import days_ago, from_ms, now, to_ms
from woodwind.store.db import Store

_KEPT_DAYS = 14


class SnapshotRow(NamedTuple):
    """A worker's tree as it was last seen. `target` is the commit that its target branch was at."""

    worker: str
    mark: str
    seed: str
    ignored: tuple[str, ...]
    head: str
    tree: str
    snapshot: str
    target: str


class Collision(NamedTuple):
    """Two sides that cannot be merged: a worker and an older one, or a worker and its target branch."""

    worker: str
    other: str
    target: str
    files: list[dict[str, Any]]
    appeared_at: str
    told: bool


def snapshots(store: Store, project: str) -> dict[str, SnapshotRow]:
    """The last snapshot of each worker of a project."""
    rows = store.db.execute(
        "SELECT s.worker, s.mark, s.seed, s.ignored, s.head, s.tree, s.snapshot, s.target "
        "FROM forecast_snapshot s JOIN worker w ON w.id = s.worker WHERE w.project = ?",
        (project,),
    )
    return {r[0]: SnapshotRow(r[0], r[1], r[2], tuple(json.loads(r[3])), *r[4:]) for r in rows}


def keep_snapshots(db: sqlite3.Connection, rows: Iterable[SnapshotRow]) -> None:
    """Replace the snapshots of these workers, inside a transaction."""
    at = to_ms(now())
    db.executemany(
        "INSERT OR REPLACE INTO forecast_snapshot VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(r.worker, r.mark, r.seed, json.dumps(r.ignored), r.head, r.tree, r.snapshot, r.target, at) for r in rows],
    )


def known_merges(
    store: Store, project: str, keys: Sequence[tuple[str, str, str]]
) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """What is known about trial merges by (merge bases, tree, tree)."""
    found = {}
    sql = "SELECT conflicts FROM forecast_merge WHERE project = ? AND bases = ? AND one = ? AND other = ?"
    for key in keys:
        row = store.db.execute(sql, (project, *key)).fetchone()
        if row:
            found[key] = json.loads(row[0])
    return found


def keep_merges(
    db: sqlite3.Connection, project: str, merges: Mapping[tuple[str, str, str], Sequence[Mapping[str, Any]]]
) -> None:
    """Add trial merges, inside a transaction; old ones are forgotten."""
    at = to_ms(now())
    db.executemany(
        "INSERT OR REPLACE INTO forecast_merge VALUES (?, ?, ?, ?, ?, ?)",
        [(project, *key, json.dumps(files), at) for key, files in merges.items()],
    )
    db.execute("DELETE FROM forecast_merge WHERE project = ? AND at < ?", (project, to_ms(days_ago(_KEPT_DAYS))))


def known_bases(store: Store, project: str, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """The merge bases that are known, by the two commits."""
    sql = "SELECT bases FROM forecast_base WHERE project = ? AND one = ? AND other = ?"
    found = {pair: store.db.execute(sql, (project, *pair)).fetchone() for pair in pairs}
    return {pair: row[0] for pair, row in found.items() if row}


def keep_bases(db: sqlite3.Connection, project: str, bases: Mapping[tuple[str, str], str]) -> None:
    """Add merge bases, inside a transaction; old ones are forgotten."""
    at = to_ms(now())
    rows = [(project, *pair, found, at) for pair, found in bases.items()]
    db.executemany("INSERT OR REPLACE INTO forecast_base VALUES (?, ?, ?, ?, ?)", rows)
    db.execute("DELETE FROM forecast_base WHERE project = ? AND at < ?", (project, to_ms(days_ago(_KEPT_DAYS))))


def collisions(store: Store, project: str) -> list[Collision]:
    """What collides now among the live workers of a project, oldest first."""
    rows = store.db.execute(
        "SELECT c.worker, c.other, c.target, c.files, c.appeared_at, c.told_at IS NOT NULL FROM collision c "
        "JOIN worker w ON w.id = c.worker LEFT JOIN worker o ON o.id = c.other "
        "WHERE c.project = ? AND w.phase <> 'removed' AND (c.other = '' OR o.phase <> 'removed') "
        "ORDER BY c.appeared_at, w.created_at, c.worker, c.other",
        (project,),
    )
    return [Collision(r[0], r[1], r[2], json.loads(r[3]), from_ms(r[4]).isoformat(), bool(r[5])) for r in rows]


def put_collision(
    db: sqlite3.Connection, project: str, worker: str, other: str, target: str, files: Sequence[Mapping[str, Any]]
) -> None:
    """Add a collision, or tell its files anew, inside a transaction; when it appeared is kept."""
    db.execute(
        "INSERT INTO collision VALUES (?, ?, ?, ?, ?, ?, NULL) ON CONFLICT (worker, other, target) "
        "DO UPDATE SET files = excluded.files",
        (worker, other, target, project, json.dumps(files), to_ms(now())),
    )


def drop_collision(db: sqlite3.Connection, worker: str, other: str, target: str) -> bool:
    """Take a collision away, inside a transaction; whether there was one."""
    sql = "DELETE FROM collision WHERE worker = ? AND other = ? AND target = ?"
    return db.execute(sql, (worker, other, target)).rowcount > 0


def set_told(db: sqlite3.Connection, worker: str, others: Iterable[str], *, told: bool) -> None:
    """Remember whether a worker was told of its collisions with these, inside a transaction."""
    sql = "UPDATE collision SET told_at = ? WHERE worker = ? AND other = ?"
    db.executemany(sql, [(to_ms(now()) if told else None, worker, other) for other in others])


def live_projects(store: Store) -> dict[str, str]:
    """The git directory of each project that has a worker whose files may change."""
    phases = "('running', 'paused', 'landing', 'landed')"
    sql = f"SELECT DISTINCT p.id, p.git_dir FROM project p JOIN worker w ON w.project = p.id WHERE w.phase IN {phases}"
    return dict(store.db.execute(sql).fetchall())
