"""Runs and their tasks: rows <-> model. Written after every step, and only what has changed."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from woodwind.base.clock import from_ms, now, to_ms
from woodwind.model.errors import NotFound, Refused
from woodwind.model.run import ACTIVE, NEED_YOU, Breaker, Group, Rule, Run, Settings, State, Task, needs_you
from woodwind.model.text import one_line
from woodwind.store import events
from woodwind.store.db import Store

Record = TypeVar("Record", Task, Group, Breaker, Settings)
_HEAD = "id, project, kind, title, mode, target, folder, spec, state, why, created_at, ended_at, revision"
LIVE = ("running", "paused")


class RunRow(NamedTuple):
    """What a run is about; how it stands is the model's Run."""

    id: str
    project: str
    kind: str  # plan or loop
    title: str
    mode: str  # ship or into; for a loop ticket, epic or never
    target: str  # the branch that its tasks are cut from and land on
    folder: str  # where it was started
    spec: dict[str, Any]
    state: str
    why: str
    created_at: str
    ended_at: str
    revision: int = 0  # grows with every change


def _pack(record: Record) -> str:
    """The fields that are not at their defaults."""
    defaults = type(record)._field_defaults
    return json.dumps({k: v for k, v in record._asdict().items() if k not in defaults or v != defaults[k]})


def _task(text: str) -> Task:
    fields = json.loads(text)
    fields["after"] = tuple(fields.get("after", ()))
    fields["state"] = State(fields.get("state", State.WAITING))
    return Task(**fields)


def _settings(text: str) -> Settings:
    fields = json.loads(text)
    return Settings(**{**fields, "rule": Rule(fields.get("rule", Rule.LAND))})


def _breaker(text: str) -> Breaker:
    fields = json.loads(text)
    return Breaker(**{**fields, "errors": tuple(fields.get("errors", ()))})


def add(store: Store, row: RunRow, run: Run, specs: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a new run down; Refused when another one has its branch."""
    try:
        with store.transaction() as db:
            db.execute(
                f"INSERT INTO run ({_HEAD}, settings, breaker, groups) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (
                    *(row.id, row.project, row.kind, row.title, row.mode, row.target, row.folder),
                    *(json.dumps(row.spec), run.state, run.why, to_ms(now()), 0, 0),
                    *(_pack(run.settings), _pack(run.breaker), _groups_text(run.groups)),
                ),
            )
            _write_tasks(db, row.id, {}, run.tasks)
            _write_specs(db, row.id, specs)
            data = {"run": row.id, "title": row.title, "target": row.target, "tasks": len(run.tasks)}
            events.append(db, project=row.project, worker="", kind="run.started", data=data)
    except sqlite3.IntegrityError as error:
        raise in_use(row.target) from error


def in_use(target: str) -> Refused:
    """The error for a second run into one branch."""
    return Refused(
        f"another run lands its tasks on {target} already",
        code="branch_in_run",
        hint="`ww runs` lists the runs. Stop that one, wait for it, or choose another branch.",
    )


def _groups_text(groups: Mapping[str, Group]) -> str:
    return json.dumps([json.loads(_pack(group)) for group in groups.values()])


def _write_tasks(db: sqlite3.Connection, run: str, before: Mapping[str, Task], after: Mapping[str, Task]) -> None:
    changed = [(n, task) for n, task in enumerate(after.values()) if before.get(task.id) is not task]
    db.executemany(
        "INSERT INTO run_task (run, id, position, spec, state, worker, data) VALUES (?, ?, ?, '{}', ?, ?, ?) "
        "ON CONFLICT (run, id) DO UPDATE SET state = excluded.state, worker = excluded.worker, data = excluded.data",
        [(run, task.id, n, task.state, task.worker, _pack(task)) for n, task in changed],
    )


def _write_specs(db: sqlite3.Connection, run: str, specs: Mapping[str, Mapping[str, Any]]) -> None:
    rows = [(json.dumps(dict(spec)), run, task) for task, spec in specs.items()]
    db.executemany("UPDATE run_task SET spec = ? WHERE run = ? AND id = ?", rows)


def save(
    store: Store,
    row: RunRow,
    before: Run,
    after: Run,
    specs: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Write down what one step changed, with the events that tell of it."""
    if before == after and not specs:
        return
    with store.transaction() as db:
        ended = to_ms(now()) if after.state not in LIVE else 0
        db.execute(
            "UPDATE run SET state = ?, why = ?, breaker = ?, groups = ?, ended_at = ?, settings = ?, "
            "revision = revision + 1 WHERE id = ?",
            (
                *(after.state, after.why, _pack(after.breaker), _groups_text(after.groups)),
                *(ended, _pack(after.settings), row.id),
            ),
        )
        _write_tasks(db, row.id, before.tasks, after.tasks)
        _write_specs(db, row.id, specs or {})
        _tell(db, row, before, after)


_TOLD = {
    State.LANDED: "task.landed",
    State.DONE: "task.landed",
    State.NOTHING: "task.landed",
    State.FAILED: "task.failed",
    State.TIMED_OUT: "task.failed",
    State.BLOCKED: "task.failed",
    State.READY: "task.ready",
    State.HELD: "task.held",
    State.DROPPED: "task.dropped",
}


def _tell(db: sqlite3.Connection, row: RunRow, before: Run, after: Run) -> None:
    for task in after.tasks.values():
        old = before.tasks.get(task.id)
        if old is task or (old and old.state is task.state and old.attempt == task.attempt):
            continue
        kind = _TOLD.get(task.state, "")
        if task.state is State.WORKING and (old is None or not old.turn):
            kind = "task.started"
        elif task.state is State.STARTING and task.tell == "retry":
            kind = "task.retried"
        if kind:
            about: dict[str, Any] = {"run": row.id, "task": task.id, "state": task.state.value}
            about |= {"attempt": task.attempt, "why": one_line(task.why, 400), "commit": task.commit}
            events.append(db, project=row.project, worker=task.worker, kind=kind, data=about)
    if after.state != before.state:
        kind = {"finished": "run.finished", "stopped": "run.stopped", "paused": "run.paused"}.get(
            after.state, "run.resumed"
        )
        counts: dict[str, int] = {}
        for task in after.tasks.values():
            counts[task.state.value] = counts.get(task.state.value, 0) + 1
        data: dict[str, Any] = {"run": row.id, "title": row.title, "why": after.why, "tasks": counts}
        events.append(db, project=row.project, worker="", kind=kind, data=data)


def load(store: Store, run: str) -> tuple[RunRow, Run]:
    """A run and how it stands; NotFound when there is none with this id."""
    found = store.db.execute(f"SELECT {_HEAD}, settings, breaker, groups FROM run WHERE id = ?", (run,)).fetchone()
    if found is None:
        raise NotFound(f"there is no run {one_line(run, 40)!r}", code="no_run", hint="`ww runs` lists them.")
    *head, settings, breaker, groups = found
    rows = store.db.execute("SELECT data FROM run_task WHERE run = ? ORDER BY position", (run,))
    tasks = [_task(data) for (data,) in rows]
    known = [Group(**fields) for fields in json.loads(groups)]
    row = _row(head)
    stands = Run(
        _settings(settings),
        {task.id: task for task in tasks},
        {group.id: group for group in known},
        _breaker(breaker),
        row.state,
        row.why,
    )
    return row, stands


def _row(head: list[Any]) -> RunRow:
    id, project, kind, title, mode, target, folder, spec, state, why, created, ended, revision = head
    times = from_ms(created).isoformat(), from_ms(ended).isoformat() if ended else ""
    about = (id, project, kind, title, mode, target, folder, json.loads(spec), state, why)
    return RunRow(*about, *times, revision)


def revision(store: Store, run: str) -> int:
    """A number that grows with every change of a run; -1 when there is no such run."""
    found = store.db.execute("SELECT revision FROM run WHERE id = ?", (run,)).fetchone()
    return int(found[0]) if found else -1


def listed(store: Store, project: str = "", *, live: bool = False) -> list[RunRow]:
    """The runs of a project, or of all, newest first."""
    wanted = "AND state IN ('running', 'paused')" if live else ""
    sql = f"SELECT {_HEAD} FROM run WHERE (? = '' OR project = ?) {wanted} ORDER BY created_at DESC, id"
    return [_row(list(found)) for found in store.db.execute(sql, (project, project))]


def counts(store: Store, run: str) -> dict[str, int]:
    """How many tasks of a run are in each state."""
    sql = "SELECT state, count(*) FROM run_task WHERE run = ? GROUP BY state ORDER BY min(position)"
    return dict(store.db.execute(sql, (run,)))


def count_needing(store: Store, run: str) -> int:
    """How many tasks of a run need a person, those that ask included."""
    states = sorted(ACTIVE | NEED_YOU)
    marks = ", ".join("?" for _ in states)
    sql = f"SELECT t.data, r.settings FROM run_task t JOIN run r ON r.id = run WHERE run = ? AND t.state IN ({marks})"
    rows = store.db.execute(sql, (run, *states))
    return sum(needs_you(_task(data), _settings(settings).on_question) for data, settings in rows)


def specs(store: Store, run: str) -> dict[str, dict[str, Any]]:
    """What each task of a run is about."""
    sql = "SELECT id, spec FROM run_task WHERE run = ? ORDER BY position"
    return {task: json.loads(spec) for task, spec in store.db.execute(sql, (run,))}


def spec(store: Store, run: str, task: str) -> dict[str, Any]:
    """What a task is about."""
    found = store.db.execute("SELECT spec FROM run_task WHERE run = ? AND id = ?", (run, task)).fetchone()
    return dict(json.loads(found[0])) if found else {}


def set_spec(store: Store, run: str, spec: Mapping[str, Any]) -> None:
    """Change what a run is about, such as its further words."""
    with store.transaction() as db:
        db.execute("UPDATE run SET spec = ?, revision = revision + 1 WHERE id = ?", (json.dumps(dict(spec)), run))


def claim(store: Store, run: str, task: str) -> bool:
    """Write down that a ticket is about to be claimed; False when that was written before."""
    with store.transaction() as db:
        sql = "UPDATE run_task SET claimed = 1 WHERE run = ? AND id = ? AND claimed = 0"
        return db.execute(sql, (run, task)).rowcount == 1


def of_worker(store: Store, worker: str) -> tuple[str, str] | None:
    """The run and task that a worker is busy with, of those that are under way."""
    found = store.db.execute(
        "SELECT t.run, t.id FROM run_task t JOIN run r ON r.id = t.run "
        "WHERE t.worker = ? AND r.state IN ('running', 'paused') ORDER BY t.position DESC LIMIT 1",
        (worker,),
    ).fetchone()
    return (found[0], found[1]) if found else None


def hook_cursor(store: Store) -> int:
    """How far the lifecycle hooks have come; -1 when there were none yet."""
    found = store.db.execute("SELECT seq FROM hook_cursor").fetchone()
    return int(found[0]) if found else -1


def set_hook_cursor(store: Store, seq: int) -> None:
    """Write down how far the lifecycle hooks have come."""
    with store.transaction() as db:
        sql = "INSERT INTO hook_cursor (only, seq) VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET seq = excluded.seq"
        db.execute(sql, (seq,))
