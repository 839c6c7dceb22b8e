"""The store made anew from what git keeps: each worker's own record in its worktree's git directory."""

import os

from woodwind.base import paths
from woodwind.base.clock import new_id, now
from woodwind.base.processes import start_time
from woodwind.git import identity
from woodwind.git.worktrees import admin_dirs, path_of, read_record
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.muxes import registry as muxes
from woodwind.ops.context import Context
from woodwind.store import events, projects, removals, terminals, workers
from woodwind.store.db import Store, open_store, set_aside

TRASH_FOLDER = ".woodwind-trash"


def rebuilt_store(ctx: Context, problem: str) -> Store:
    """A new store in place of a damaged or lost one, with all workers that git knows of."""
    aside = set_aside(paths.database())
    store = open_store()
    found = 0
    for project, git_dir in projects.remembered().items():
        if os.path.isdir(git_dir) and identity.read_id(git_dir) == project:
            projects.remember(store, project, git_dir, os.path.basename(os.path.dirname(git_dir)))
            found += adopt(ctx, store, project, git_dir)
    kept = f"what was there is in {aside}, and " if aside else ""
    ctx.notes.append(f"{problem}; {kept}it was rebuilt from git: {found} workers found")
    return store


def adopt(ctx: Context, store: Store, project: str, common: str) -> int:
    """Take workers that git knows and the store does not into the store; return how many."""
    known = {w.id for removed in (False, True) for w in workers.of_project(store, project, removed=removed)}
    found = 0
    for admin in admin_dirs(common):
        record = read_record(admin)
        if record is None or record.get("project") != project or record.get("id") in known:
            continue
        path = path_of(admin)
        parked = os.path.basename(os.path.dirname(path)) == TRASH_FOLDER
        try:
            worker = Worker.from_record(record, phase=Phase.REMOVED if parked else Phase.RUNNING)
        except (KeyError, TypeError, ValueError):
            continue  # a record that cannot be read stays where it is; the worktree is not touched
        with store.transaction() as db:
            workers.insert(db, worker)
            if parked:
                removals.add(db, id=new_id("r"), worker=worker.id, path=worker.worktree.path, trash=path, at=now())
            events.append(db, project=project, worker=worker.id, kind="worker.adopted", data={"path": path})
        found += 1
    if found:
        _adopt_terminals(ctx, store)
    return found


def _adopt_terminals(ctx: Context, store: Store) -> None:
    """Recognise the terminals that still run by their tags, on our own server and the caller's."""
    own = muxes.own_socket(ctx.loaded_config.config.tmux.socket)
    for server in {own, muxes.Surroundings(ctx.environ).socket} - {""}:
        for pane in muxes.at(server).panes():
            if workers.find(store, pane.worker) and not terminals.find(store, pane.worker):
                with store.transaction() as db:
                    terminals.save(db, pane.worker, terminals.Terminal(server, pane.pid, start_time(pane.pid), []))
