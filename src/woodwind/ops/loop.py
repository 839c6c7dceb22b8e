"""`ww loop`: workers that take ticket after ticket of their epics, until the tracker has none left."""

import os
from typing import Any, NamedTuple

from woodwind.base.clock import from_ms, new_id
from woodwind.git import branches
from woodwind.git.repo import Refs, base_for
from woodwind.model.errors import NotFound, Refused, UsageError, WoodwindError
from woodwind.model.run import FINAL, Group, Happened, Rule, Run, Settings, What
from woodwind.model.status import Phase
from woodwind.model.text import one_line
from woodwind.model.worker import Worker
from woodwind.ops.choose_agents import choose_agents
from woodwind.ops.context import Context
from woodwind.ops.interrupt import end_program
from woodwind.ops.preflight import preflight, require, require_own_landing, require_permissions
from woodwind.ops.remove import remove
from woodwind.ops.run import stop
from woodwind.ops.run_state import change, check_may_command, read, worker_id
from woodwind.ops.tickets import source_of
from woodwind.store import events, runs, workers
from woodwind.store.runs import RunRow
from woodwind.tickets.base import Source

LANDS = ("ticket", "epic", "never")


class LoopWishes(NamedTuple):
    """What a loop is asked for."""

    epics: tuple[str, ...]
    source: str
    agent: str = ""
    model: str = ""
    models: tuple[tuple[str, str], ...] = ()
    timeout: int = 1800
    retries: int = 1
    template: str = ""
    prompt: str = ""
    parallel: int = 1
    land: str = "ticket"
    push: bool = False
    base: str = ""
    permissions: str = ""
    verify: bool = True
    headless: bool = False
    on_question: str = "wait"
    skip_preflight: bool = False


def begin(ctx: Context, project: str, wishes: LoopWishes) -> str:
    """Write a new loop down, after its preflight; its id. The daemon does the rest."""
    source = source_of(ctx, wishes.source)
    names = {epic: _name(source, epic) for epic in wishes.epics}
    unknown = [epic for epic, _ in wishes.models if epic not in names]
    if unknown:
        raise UsageError(f"--epic-model names {unknown[0]!r}, which is not among the epics")
    agent = wishes.agent or choose_agents(ctx, [])[0].name
    permissions = require_permissions(ctx, project, agent, wishes.permissions)
    base, _ = base_for(ctx.repo, Refs(ctx.repo), wishes.base or ctx.loaded_config.config.new.base)
    if not base or not branches.branch_tip(ctx.repo.common, base):
        raise UsageError("a loop needs a local branch as its base", hint="Say --base BRANCH.")
    _check_free(ctx, project, wishes.epics)
    if wishes.land != "never":
        require_own_landing(ctx, "Say --land never: the work stays on its branches, and `ww pr` asks for each.")
    if not wishes.skip_preflight:
        verified = wishes.verify and wishes.land != "never"
        found = preflight(ctx, project, used=[agent], base=base, verified=verified, headless=wishes.headless)
        require(found)
        ctx.notes += [f"{finding.what}: {finding.detail}" for finding in found if finding.ok is None]
    settings = Settings(
        cap=len(wishes.epics) * wishes.parallel,
        rule=Rule.LAND if wishes.land == "ticket" else Rule.NEVER,
        on_question=wishes.on_question,
        tracked=True,
        close_groups=wishes.land == "epic",
    )
    about: dict[str, Any] = {"source": wishes.source, "agent": agent, "model": wishes.model, "names": names}
    about |= {"models": dict(wishes.models), "timeout": wishes.timeout, "retries": wishes.retries}
    about |= {"template": wishes.template, "prompt": wishes.prompt, "permissions": permissions, "push": wishes.push}
    about |= {"verify": wishes.verify, "launch": "headless" if wishes.headless else "", "parallel": wishes.parallel}
    about["made_by"] = ctx.caller
    groups = {epic: Group(epic, wishes.parallel) for epic in wishes.epics}
    title = ", ".join(one_line(name, 60) for name in names.values())
    run = new_id("r")
    row = RunRow(run, project, "loop", title, wishes.land, base, ctx.cwd, about, "running", "", "", "")
    runs.add(ctx.store, row, Run(settings, {}, groups), {})
    return run


def _name(source: Source, epic: str) -> str:
    """What an epic is called; an error when the tracker cannot be asked, or knows of no such epic."""
    source.ready(epic)
    try:
        return one_line(source.fetch(epic).title, 100)
    except WoodwindError:
        return epic  # a label, a milestone, a query or a heading has no ticket of its own


def _check_free(ctx: Context, project: str, epics: tuple[str, ...]) -> None:
    for row in runs.listed(ctx.store, project, live=True):
        taken = set(read(ctx.store, row.id).run.groups) & set(epics) if row.kind == "loop" else set()
        if taken:
            raise Refused(
                f"the loop {row.id} is at work on {', '.join(sorted(taken))} already",
                code="epic_in_loop",
                hint=f"Stop it first: ww loop stop {row.id}",
            )


def add(ctx: Context, row: RunRow, epics: tuple[str, ...], parallel: int) -> dict[str, Any]:
    """Give a loop further epics, or those that it has more workers."""
    check_may_command(ctx, row)
    source = source_of(ctx, str(row.spec["source"]))
    names = {epic: _name(source, epic) for epic in epics}
    known = read(ctx.store, row.id).run.groups
    _check_free(ctx, row.project, tuple(epic for epic in epics if epic not in known))
    spec = {**row.spec, "names": {**row.spec["names"], **names}}
    runs.set_spec(ctx.store, row.id, spec)
    lanes = parallel or int(row.spec["parallel"])
    after, _ = change(ctx.store, row.id, [Happened(What.WIDENED, group=epic, lanes=lanes) for epic in epics])
    return {"id": row.id, "state": after.run.state, "epics": list(after.run.groups)}


def close_ticket(ctx: Context, words: str = "") -> dict[str, Any]:
    """Close the ticket that the calling worker is at, in its tracker."""
    found = _at_ticket(ctx, ctx.caller) if ctx.caller else None
    if not found:
        raise NotFound(
            "only the agent of a loop's worker closes its ticket like this",
            code="no_ticket",
            hint="In a tracker's own program or page, anybody can.",
        )
    known = read(ctx.store, found[0])
    ticket = str(runs.spec(ctx.store, *found).get("ticket", ""))
    if known.row.kind != "loop" or not ticket:
        raise NotFound("this worker has no ticket of a loop", code="no_ticket")
    source_of(ctx, str(known.row.spec["source"])).close(ticket, words)
    return {"id": known.row.id, "ticket": ticket, "closed": True}


def _at_ticket(ctx: Context, worker: str) -> tuple[str, str] | None:
    """The run and task that a loop's worker is at, also where it was quicker than whoever writes that down."""
    for row in runs.listed(ctx.store, live=True):
        tasks = read(ctx.store, row.id).run.tasks.values() if row.kind == "loop" else ()
        mine = [task for task in tasks if task.lane and worker_id(row.id, task) == worker and task.state not in FINAL]
        if mine:
            return row.id, mine[-1].id
    return runs.of_worker(ctx.store, worker)


def teardown(ctx: Context, row: RunRow, *, keep_worktrees: bool, force: bool) -> dict[str, Any]:
    """End a loop and its workers: their worktrees are parked, or kept with their terminals closed."""
    check_may_command(ctx, row)
    if row.state in runs.LIVE:
        stop(ctx, row, why="it was torn down")
    run = read(ctx.store, row.id).run
    ids = dict.fromkeys(task.worker for task in run.tasks.values() if task.worker)
    found = [workers.find(ctx.store, worker) for worker in ids]
    mine = [worker for worker in found if worker and worker.phase != Phase.REMOVED]
    if keep_worktrees:
        for worker in mine:
            _close_terminal(ctx, worker)
        return {"id": row.id, "removed": [], "kept": [worker.name for worker in mine]}
    removed, kept = [], []
    for worker in mine:
        try:
            remove(ctx, worker, force=force)
            removed.append(worker.name)
        except WoodwindError as error:
            kept.append(worker.name)
            ctx.notes.append(f"{worker.name} was kept: {error.message}")
    return {"id": row.id, "removed": removed, "kept": kept}


def _close_terminal(ctx: Context, worker: Worker) -> None:
    end_program(ctx, worker)
    with ctx.store.transaction() as db:
        workers.set_phase(db, worker.id, Phase.PAUSED)


def log(ctx: Context, row: RunRow, limit: int) -> list[dict[str, Any]]:
    """The last things that happened in a loop or run, oldest first."""
    found: list[dict[str, Any]] = []
    seq = 0
    while rows := events.since(ctx.store, seq, project=row.project, limit=5000):
        seq = rows[-1].seq
        mine = [event for event in rows if event.data.get("run") == row.id]
        found += [{"at": from_ms(e.at).isoformat(), "kind": e.kind, "data": e.data} for e in mine]
    return found[-limit:]


def read_prompt(path: str) -> str:
    """A prompt template from a file."""
    try:
        with open(os.path.expanduser(path), encoding="utf-8", errors="replace") as file:
            return file.read(200_000)
    except OSError as error:
        raise NotFound(f"the prompt template {path} cannot be read: {error.strerror}") from error
