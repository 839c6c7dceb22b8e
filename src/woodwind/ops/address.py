"""How a worker is named: by name, id, branch, path or unique prefix; left out inside its worktree; `-` for the last."""

import os

from woodwind.git.worktrees import read_record
from woodwind.model import naming
from woodwind.model.errors import NotFound, Refused, UsageError, WoodwindError
from woodwind.model.status import Phase, Status
from woodwind.model.text import one_line
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.listing import list_workers
from woodwind.store import projects, workers


def find_worker(ctx: Context, project: str, name: str, *, exact: bool = False, removed: bool = False) -> Worker:
    """The one worker that `name` means; verbs that destroy or land ask for it `exact`."""
    everyone = workers.of_project(ctx.store, project, removed=removed)
    if name == "":
        return _here(ctx, everyone)
    if name == "-":
        name = projects.last_worker(ctx.store, project)
        if not name:
            raise NotFound("no worker was named before, so there is no last one", code="no_worker")
    found = [w for w in everyone if _is_named(ctx, w, name)]
    if not found and not exact:
        key = naming.key(name)
        found = [w for w in everyone if naming.key(w.name).startswith(key) or (len(name) > 3 and w.id.startswith(name))]
    if len(found) == 1:
        projects.set_last_worker(ctx.store, project, found[0].id)
        return found[0]
    if found:
        raise UsageError(
            f"{name!r} is the beginning of several workers: {', '.join(w.name for w in found)}",
            hint="Write one of them out.",
        )
    if naming.key(name) in map(naming.key, workers.damaged(ctx.store, project)):
        raise WoodwindError(
            f"the row of {name} in the store is damaged",
            code="row_damaged",
            hint=f"Its work is safe. Move {ctx.store.path} away, and the next command rebuilds it from git.",
        )
    raise _nobody(name, everyone, exact=exact, removed=removed)


def find_workers(
    ctx: Context, project: str, names: list[str], *, exact: bool = False, removed: bool = False
) -> list[Worker]:
    """The workers that `names` mean, each once; all of them are found before anything is done to one."""
    found = [find_worker(ctx, project, name, exact=exact, removed=removed) for name in names or [""]]
    return list({w.id: w for w in found}.values())


def workers_in(ctx: Context, statuses: set[Status], phases: set[Phase] | None = None) -> list[Worker]:
    """The workers of the current project that have one of these statuses, or are in one of these phases."""
    chosen = [w["id"] for w in list_workers(ctx).data if w["status"] in statuses or w["phase"] in (phases or ())]
    return [worker for worker in (workers.find(ctx.store, i) for i in chosen) if worker]


def _is_named(ctx: Context, worker: Worker, name: str) -> bool:
    if naming.key(worker.name) == naming.key(name) or worker.id == name or worker.worktree.branch == name:
        return True
    return "/" in name and os.path.realpath(os.path.join(ctx.cwd, name)) == os.path.realpath(worker.worktree.path)


def _here(ctx: Context, everyone: list[Worker]) -> Worker:
    record = read_record(ctx.repo.git_dir)
    for worker in everyone:
        if record and record.get("id") == worker.id:
            return worker
    raise UsageError("which worker? This folder is not the worktree of one", hint="Name it: `ww ls` lists them.")


def _nobody(name: str, everyone: list[Worker], *, exact: bool, removed: bool) -> NotFound:
    where = "in the trash of this project" if removed else "in this project"
    begins = [w.name for w in everyone if naming.key(w.name).startswith(naming.key(name))]
    import difflib  # 2 ms, for a mistake only

    near = begins or difflib.get_close_matches(name, [w.name for w in everyone], 3, 0.5)
    hint = "`ww trash ls` lists what was removed." if removed else "`ww ls` lists the workers."
    if near:
        hint = f"Did you mean {' or '.join(near)}?" + (
            " The name must be written out here." if exact and begins else ""
        )
    return NotFound(f"there is no worker {one_line(name, 80)!r} {where}", code="no_worker", hint=hint)


def check_may_touch(ctx: Context, worker: Worker) -> None:
    """Refuse when the caller is an agent and the worker is neither itself nor one that it made."""
    if ctx.caller and ctx.caller not in (worker.id, worker.made_by):
        raise Refused(
            f"worker {ctx.caller} may remove or land only itself and the workers that it made, not {worker.name}",
            code="not_yours",
            hint="Ask the person who runs Woodwind.",
        )
