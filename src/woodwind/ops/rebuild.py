"""The store made anew from what git keeps: each worker's own record in its worktree's git directory."""

import contextlib
import os
import sqlite3

from woodwind.base import paths
from woodwind.base.clock import new_id, now
from woodwind.base.files import Locked, locked
from woodwind.base.processes import start_time
from woodwind.git import identity
from woodwind.git.saved import saved_records
from woodwind.git.worktrees import admin_dirs, path_of, read_record, write_record
from woodwind.model.errors import WoodwindError
from woodwind.model.status import Phase
from woodwind.model.typed import Any
from woodwind.model.worker import RECORD_VERSION, Worker
from woodwind.muxes import registry as muxes
from woodwind.ops.context import Context
from woodwind.ops.journal import worker_lock
from woodwind.store import events, operations, projects, removals, terminals, workers
from woodwind.store.db import Damaged, Store, open_store, set_aside

TRASH_FOLDER = ".woodwind-trash"


def rebuilt_store(ctx: Context, problem: str) -> Store:
    """A new store in place of a damaged or lost one, with all workers that git knows of."""
    with locked(paths.lock_file("rebuild")):
        if os.path.exists(paths.database()) and os.path.getsize(paths.database()):
            try:
                return open_store()  # somebody else has rebuilt it while we waited
            except Damaged:
                pass
        aside = set_aside(paths.database())
        store = open_store()
        found = 0
        for project, git_dir in projects.remembered().items():
            if _is_at(project, git_dir):
                projects.remember(store, project, git_dir, os.path.basename(os.path.dirname(git_dir)))
                found += adopt(ctx, store, project, git_dir)
    kept = f"what was there is in {aside}, and " if aside else ""
    ctx.notes.append(f"{problem}; {kept}it was rebuilt from git: {found} workers found")
    return store


def _is_at(project: str, git_dir: str) -> bool:
    try:
        return os.path.isdir(git_dir) and identity.read_id(git_dir) == project
    except WoodwindError:
        return False


def adopt(ctx: Context, store: Store, project: str, common: str) -> int:
    """Take workers that git knows and the store does not into the store; return how many."""
    found = sum(_adopt_worktree(store, project, admin) for admin in [common, *admin_dirs(common)])
    for record in saved_records(common):
        if record.get("project") == project and not workers.find(store, str(record.get("id"))):
            found += _insert(store, record, Phase.REMOVED, trash="", purged=True)
    if found:
        _adopt_terminals(ctx, store)
    return found


def _adopt_worktree(store: Store, project: str, admin: str) -> bool:
    record = read_record(admin)
    if record is None or record.get("project") != project or workers.find(store, str(record.get("id"))):
        return False
    path = path_of(admin)
    if _is_parked(path):
        return _insert(store, record, Phase.REMOVED, trash=path)
    return _insert(store, record, Phase.RUNNING)


def _is_parked(path: str) -> bool:
    return os.path.basename(os.path.dirname(path)) == TRASH_FOLDER


def _insert(store: Store, record: dict[str, Any], phase: Phase, *, trash: str = "", purged: bool = False) -> bool:
    """Take one worker into the store; False when its record cannot be read, which stays where it is."""
    for name in (record.get("name"), f"{record.get('name')}-{record.get('id')}"):
        try:
            worker = Worker.from_record({**record, "name": name}, phase=phase)
            with store.transaction() as db:
                workers.insert(db, worker)
                if phase == Phase.REMOVED:
                    removal = new_id("r")
                    removals.add(db, id=removal, worker=worker.id, path=worker.worktree.path, trash=trash, at=now())
                    if purged:
                        removals.set_purged(db, removal)
                        workers.set_purged(db, worker.id, purged=True)
                kind, data = "worker.adopted", {"path": worker.worktree.path}
                events.append(db, project=worker.project, worker=worker.id, kind=kind, data=data)
            return True
        except (KeyError, TypeError, ValueError):
            return False
        except sqlite3.IntegrityError:
            continue  # its name is taken, or somebody else has just adopted it
    return False


def reconcile(ctx: Context, store: Store, project: str, common: str) -> None:
    """Set right what the store says about workers where git, which is the truth, says otherwise.

    The newest rows of a store are lost with its -wal file, without a trace.
    """
    adopted = 0
    for admin in admin_dirs(common):
        record, path = _readable(read_record(admin)), path_of(admin)
        try:
            worker = workers.find(store, str(record.get("id"))) if record else _holder(store, project, path)
        except workers.DamagedRow:
            assert record
            workers.mend(store, _as_recorded(record, path))
            continue
        if worker is None:
            adopted += _adopt_worktree(store, project, admin)
        elif worker.project == project and (record is None or _differs(store, worker, path)):
            with contextlib.suppress(Locked), worker_lock(worker.id, wait=False):
                if record is None:
                    write_record(admin, worker.record())
                elif not operations.running(store, project, worker.id) and path_of(admin) == path:
                    _set_right(store, worker.id, path)
    if adopted:
        _adopt_terminals(ctx, store)


def _as_recorded(record: dict[str, Any], path: str) -> Worker:
    return Worker.from_record(record, phase=Phase.REMOVED if _is_parked(path) else Phase.RUNNING)


def _readable(record: dict[str, Any] | None) -> dict[str, Any] | None:
    """The record, or None when it is damaged; one of a newer version is not ours to judge."""
    try:
        if record and not record["version"] > RECORD_VERSION:
            Worker.from_record(record, phase=Phase.RUNNING)
    except (KeyError, TypeError, ValueError):
        return None
    return record


def _holder(store: Store, project: str, path: str) -> Worker | None:
    """The worker whose worktree is at `path`, where its own record is damaged."""
    for worker in workers.of_project(store, project):
        if os.path.realpath(worker.worktree.path) == os.path.realpath(path):
            return worker
    for worker in workers.of_project(store, project, removed=True):
        removal = removals.current(store, worker.id)
        if removal and removal.trash and os.path.realpath(removal.trash) == os.path.realpath(path):
            return worker
    return None


def _differs(store: Store, worker: Worker, path: str) -> bool:
    return os.path.isdir(path) and (_is_parked(path) != (worker.phase == Phase.REMOVED))


def _set_right(store: Store, worker_id: str, path: str) -> None:
    worker = workers.find(store, worker_id)
    if worker is None or not _differs(store, worker, path):
        return
    removal = removals.current(store, worker.id)
    with store.transaction() as db:
        if _is_parked(path):
            workers.set_phase(db, worker.id, Phase.REMOVED)
            if removal is None:
                at = worker.worktree.path
                removals.add(db, id=new_id("r"), worker=worker.id, path=at, trash=path, at=now())
        else:
            workers.set_phase(db, worker.id, Phase.PAUSED)
            workers.set_purged(db, worker.id, purged=False)
            if removal:
                removals.set_restored(db, removal.id)
        events.append(db, project=worker.project, worker=worker.id, kind="worker.adopted", data={"path": path})


def _adopt_terminals(ctx: Context, store: Store) -> None:
    """Recognise the terminals that still run by their tags: on our own server, the caller's, and the headless ones."""
    own = muxes.own_socket(ctx.loaded_config.config.tmux.socket)
    for server in {own, muxes.Surroundings(ctx.environ).socket, muxes.headless().server} - {""}:
        for pane in muxes.at(server).panes():
            if workers.find(store, pane.worker) and not terminals.find(store, pane.worker):
                with store.transaction() as db:
                    terminals.save(db, pane.worker, terminals.Terminal(server, pane.pid, start_time(pane.pid), []))
