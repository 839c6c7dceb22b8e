"""Readings: the evidence about agents, as it came in."""

import sqlite3
from collections.abc import Sequence

from woodwind.model.reading import Reading, Seen, Tells
from woodwind.model.typed import NamedTuple
from woodwind.store.db import Store

# What is older says nothing about now; turns keep what came of it.
KEPT = 60
# Of those, so many of the newest decide what an agent is doing: with all of them `ww ls` took 1.7 times as long.
_NEWEST = 8
_IS_OPEN_PROMPT = (
    "(r.tells = 'submitted' AND EXISTS (SELECT 1 FROM turn u WHERE u.worker = r.worker AND u.prompt_id = r.prompt_id "
    "AND u.state IN ('sending', 'running')))"
)
_TELLS: dict[str, Tells] = {tells.value: tells for tells in Tells}  # a third of the cost of Tells(…)
_COLUMNS = "boot, up, seq, nonce, tells, at, source, prompt_id, session, text, question, tool, of_subagent"


def insert(db: sqlite3.Connection, worker: str, seen: Seen, file: str = "") -> Seen | None:
    """Add a reading inside a transaction; None when its file was taken already. A question gets an id."""
    r = seen.reading
    if r.tells is Tells.WORKING and _goes_on(db, worker, seen, file):
        return seen
    done = db.execute(
        "INSERT OR IGNORE INTO reading (worker, file, boot, up, nonce, tells, at, source, prompt_id, session, text, "
        "question, tool, of_subagent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (worker, file, seen.boot, seen.up, seen.nonce, r.tells, r.at, r.source, r.prompt_id, r.session, r.text,
         r.question, r.tool, r.of_subagent),
    )  # fmt: skip
    if not done.rowcount:
        return None
    seq = int(done.lastrowid or 0)
    if r.tells is Tells.ASKING and not r.question:
        r = r._replace(question=f"q{seq}")
        db.execute("UPDATE reading SET question = ? WHERE seq = ?", (r.question, seq))
    return seen._replace(reading=r, seq=seq)


def _goes_on(db: sqlite3.Connection, worker: str, seen: Seen, file: str) -> bool:
    """Whether the last reading told of the same work, which then has only become younger: one row is enough."""
    r = seen.reading
    done = db.execute(
        "UPDATE reading SET up = ?, at = ?, tool = ?, file = ? WHERE seq = "
        "(SELECT max(seq) FROM reading WHERE worker = ? AND source = ?) "
        "AND tells = 'working' AND boot = ? AND nonce = ? AND prompt_id = ? AND of_subagent = ? AND up <= ?",
        (seen.up, r.at, r.tool, file, worker, r.source, seen.boot, seen.nonce, r.prompt_id, r.of_subagent, seen.up),
    )
    return done.rowcount > 0


def prune(db: sqlite3.Connection, worker: str) -> None:
    """Forget all but the newest readings of a worker and its open prompts, inside a transaction."""
    db.execute(
        "DELETE FROM reading AS r WHERE worker = ? AND seq <= "
        "(SELECT seq FROM reading WHERE worker = ? ORDER BY seq DESC LIMIT 1 OFFSET ?) "
        f"AND NOT {_IS_OPEN_PROMPT}",
        (worker, worker, KEPT),
    )


class Known(NamedTuple):
    """What was seen of an agent since its last start: its own events in order, and its terminal's last words."""

    events: tuple[Seen, ...] = ()
    title: Seen | None = None
    screen: Seen | None = None


def of_starts(store: Store, boot: str, workers: Sequence[str] = ()) -> dict[str, Known]:
    """What tells about each worker's current start, or about these; what is from before a reboot says nothing now.

    These are the newest readings and, of those before them, the prompts that are open and the terminal's last words.
    """
    only = f" AND t.worker IN ({', '.join('?' * len(workers))})" if workers else ""
    # Only what a verdict needs, because each text costs `ww ls` time: prompts and last words are in their turns.
    columns = (
        "r.worker, r.up, r.seq, r.tells, r.at, r.source, r.prompt_id, "
        "iif(r.tells IN ('submitted', 'done'), NULL, r.text), r.question, r.tool, r.of_subagent"
    )
    # CROSS tells SQLite to begin with the terminals: from the readings it would search for each one how old it is.
    of_start = "FROM terminal t CROSS JOIN reading r ON r.worker = t.worker AND r.nonce = t.nonce AND r.boot = ?"
    older = f"(SELECT seq FROM reading WHERE worker = t.worker ORDER BY seq DESC LIMIT 1 OFFSET {_NEWEST})"
    last = "r.seq = (SELECT max(seq) FROM reading WHERE worker = r.worker AND source = r.source)"
    rows = store.db.execute(
        f"SELECT {columns} {of_start} WHERE r.seq > coalesce({older}, 0){only} UNION ALL "
        f"SELECT {columns} {of_start} WHERE r.seq <= coalesce({older}, 0){only} "
        f"AND ((r.source IN ('title', 'screen') AND {last}) OR {_IS_OPEN_PROMPT}) "
        "ORDER BY 2, 3",
        (boot, *workers, boot, *workers),
    )
    found: dict[str, list[Seen]] = {}
    for worker, up, seq, tells, at, source, prompt_id, text, question, tool, of_subagent in rows:
        seen = _seen(boot, up, seq, "", tells, at, source, prompt_id, "", text or "", question, tool, of_subagent)
        if seen:
            found.setdefault(worker, []).append(seen)
    return {name: _known(all_of_it) for name, all_of_it in found.items()}


def _known(readings: list[Seen]) -> Known:
    last = {seen.reading.source: seen for seen in sorted(readings, key=lambda seen: seen.seq)}
    events = tuple(seen for seen in readings if seen.reading.source not in ("title", "screen"))
    return Known(events, last.get("title"), last.get("screen"))


def last_tools(store: Store) -> dict[str, tuple[int, str]]:
    """When each worker last told of its work, and what it used then: (milliseconds since 1970, tool)."""
    sql = "SELECT worker, at, tool, max(seq) FROM reading WHERE tells = 'working' AND tool != '' GROUP BY worker"
    return {worker: (at, tool) for worker, at, tool, _ in store.db.execute(sql)}


def recent(store: Store, worker: str) -> list[Seen]:
    """The readings of a worker that are still kept, oldest first, whatever start they are from."""
    sql = f"SELECT {_COLUMNS} FROM reading WHERE worker = ? ORDER BY seq"
    return [seen for row in store.db.execute(sql, (worker,)) if (seen := _seen(*row))]


def touch(db: sqlite3.Connection, seen: Seen, up: int) -> None:
    """Record, inside a transaction, that a screen was looked at again and told the same."""
    db.execute("UPDATE reading SET up = ? WHERE seq = ?", (up, seen.seq))


def _seen(
    boot: str, up: int, seq: int, nonce: str, tells: str, at: int, source: str, prompt_id: str, session: str, text: str,
    question: str, tool: str, of_subagent: int,
) -> Seen | None:  # fmt: skip
    told = _TELLS.get(tells)
    if told is None:
        return None  # written by a later version, or damaged: no evidence
    reading = Reading(told, at, source, prompt_id, session, text, question, tool, bool(of_subagent))
    return Seen(reading, boot, up, seq, nonce)
