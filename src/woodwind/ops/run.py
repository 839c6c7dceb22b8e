"""`ww run`: begin a run from a plan, tell how it stands, stop it and let it go on."""

from typing import Any, NamedTuple

from woodwind.base.clock import new_id, now, to_ms
from woodwind.git import branches
from woodwind.git.repo import Refs, base_for
from woodwind.model import naming
from woodwind.model.errors import NotFound, Refused, UsageError, WoodwindError
from woodwind.model.plan import Plan
from woodwind.model.run import FINAL, GOOD, Happened, Rule, Run, Settings, State, Task, What, needs_you
from woodwind.model.status import Phase
from woodwind.model.text import one_line
from woodwind.ops.choose_agents import choose_agents
from woodwind.ops.context import Context
from woodwind.ops.interrupt import interrupt
from woodwind.ops.preflight import preflight, require, require_own_landing, require_permissions
from woodwind.ops.run_state import change, check_may_command, heed_undone, read
from woodwind.store import runs, workers
from woodwind.store.runs import RunRow


class Wishes(NamedTuple):
    """What the command line says on top of the plan."""

    into: str = ""
    max_concurrent: int = 0
    auto_ship: bool = False
    agent: str = ""
    permissions: str = ""
    headless: bool = False
    skip_preflight: bool = False


def begin(ctx: Context, project: str, plan: Plan, wishes: Wishes, *, title: str) -> str:
    """Write a new run down, after its preflight; its id. The daemon does the rest."""
    plan = _with(plan, wishes)
    base = _base_branch(ctx, plan)
    target = plan.branch if plan.mode == "into" else base
    if any(row.mode == "into" and row.target == target for row in runs.listed(ctx.store, project, live=True)):
        raise runs.in_use(target)
    if plan.auto_ship:
        require_own_landing(ctx, "Leave auto_ship out: what is complete then waits for `ww ship`, which opens one.")
    specs = _specs(ctx, project, plan, wishes)
    used = list(dict.fromkeys(spec["agent"] for spec in specs.values()))
    start = target if branches.branch_tip(ctx.repo.common, target) else base
    if not wishes.skip_preflight:
        findings = preflight(ctx, project, used=used, base=start, verified=plan.verify, headless=wishes.headless)
        require(findings)
        ctx.notes += [f"{finding.what}: {finding.detail}" for finding in findings if finding.ok is None]
    run = new_id("r")
    if plan.mode == "into" and start != target:
        branches.make_branch(ctx.repo.common, target, branches.branch_tip(ctx.repo.common, base), run)
    rule = Rule.LAND if plan.mode == "into" or plan.auto_ship else Rule.PERSON
    settings = Settings(
        cap=plan.max_concurrent,
        rule=rule,
        on_question=plan.on_question,
        close_run=plan.mode == "into" and plan.auto_ship,
    )
    at = to_ms(now())
    tasks = {
        task.id: Task(task.id, task.depends_on, timeout=task.timeout, retries=task.retries, since=at)
        for task in plan.tasks
    }
    about: dict[str, Any] = {"goal": plan.goal, "base": base, "verify": plan.verify, "auto_ship": plan.auto_ship}
    about |= {"launch": "headless" if wishes.headless else "", "made_by": ctx.caller}
    title = one_line(plan.goal) or title
    row = RunRow(run, project, "plan", title, plan.mode, target, ctx.cwd, about, "running", "", "", "")
    runs.add(ctx.store, row, Run(settings, tasks), specs)
    return run


def _with(plan: Plan, wishes: Wishes) -> Plan:
    if wishes.into:
        plan = plan._replace(mode="into", branch=naming.check_branch(wishes.into))
    if wishes.max_concurrent:
        plan = plan._replace(max_concurrent=wishes.max_concurrent)
    return plan._replace(auto_ship=True) if wishes.auto_ship else plan


def _base_branch(ctx: Context, plan: Plan) -> str:
    """The branch that the run's work is for: tasks land on it, or the run's own branch is cut from it."""
    branch, commit = base_for(ctx.repo, Refs(ctx.repo), plan.base or ctx.loaded_config.config.new.base)
    if not branch or not branches.branch_tip(ctx.repo.common, branch):
        raise UsageError(
            f"a run needs a local branch as its base, found {branch or commit[:12]}",
            hint="Set `base` in [plan] to a local branch.",
        )
    return branch


def _specs(ctx: Context, project: str, plan: Plan, wishes: Wishes) -> dict[str, dict[str, Any]]:
    """What each task is about, with its agent and permissions decided now."""
    specs: dict[str, dict[str, Any]] = {}
    allowed: dict[str, str] = {}
    usual = ""
    for task in plan.tasks:
        name = task.agent or wishes.agent or plan.agent
        if not name:
            usual = usual or choose_agents(ctx, [])[0].name
            name = usual
        if name not in allowed:
            allowed[name] = require_permissions(ctx, project, name, wishes.permissions)
        specs[task.id] = {
            "description": task.description,
            "ticket": task.ticket,
            "agent": name,
            "model": task.model or plan.model,
            "template": task.template,
            "branch": task.branch,
            "plan_mode": task.plan_mode,
            "permissions": allowed[name],
        }
    return specs


def listed(ctx: Context, project: str) -> list[dict[str, Any]]:
    """The runs of the project, or of all for "", newest first, with how many tasks are where."""
    return [_head(ctx, row) for row in runs.listed(ctx.store, project)]


def _head(ctx: Context, row: RunRow) -> dict[str, Any]:
    counts = runs.counts(ctx.store, row.id)
    return {
        "id": row.id,
        "kind": row.kind,
        "title": row.title,
        "state": row.state,
        "why": row.why,
        "mode": row.mode,
        "target": row.target,
        "project": row.project,
        "tasks": sum(counts.values()),
        "done": sum(counts.get(state, 0) for state in GOOD),
        "needs_you": runs.count_needing(ctx.store, row.id),
        "counts": counts,
        "created_at": row.created_at,
        "ended_at": row.ended_at,
    }


def status(ctx: Context, row: RunRow) -> dict[str, Any]:
    """How a run and each of its tasks stand."""
    known = read(ctx.store, row.id)
    specs = runs.specs(ctx.store, row.id)
    held = known.run.breaker
    entries = []
    for task in known.run.tasks.values():
        worker = workers.find(ctx.store, task.worker) if task.worker else None
        about = specs.get(task.id, {})
        entries.append(
            {
                "id": task.id,
                "title": _title(task, about),
                "state": task.state.value,
                "needs_you": needs_you(task, known.run.settings.on_question),
                "why": task.why,
                "question": task.question.partition(" ")[2],
                "attached": task.attached,
                "attempt": task.attempt,
                "after": list(task.after),
                "epic": task.group,
                "agent": about.get("agent", ""),
                "worker": worker.name if worker else "",
                "worker_id": task.worker,
                "branch": worker.worktree.branch if worker else "",
                "commit": task.commit,
                "last_words": task.words,
                "output": task.output,
            }
        )
    trackers = {group.id: group.why for group in known.run.groups.values() if group.why}
    breaker = {"open": held.opened > 0, "until": held.open_until, "why": held.why}
    return _head(ctx, known.row) | {"breaker": breaker, "trackers": trackers, "tasks": entries}


def _title(task: Task, about: dict[str, Any]) -> str:
    if task.closing:
        return "the run's own last landing"
    return one_line(str(about.get("title") or about.get("description") or about.get("ticket") or task.id))


def stop(ctx: Context, row: RunRow, *, why: str = "you stopped it", hold: bool = False) -> dict[str, Any]:
    """Stop a run: nothing new begins, its agents are interrupted, and everything is kept."""
    check_may_command(ctx, row)
    if row.state not in runs.LIVE:
        raise Refused(f"the run {row.id} is {row.state} already", code="not_running")
    known, _ = change(ctx.store, row.id, [Happened(What.HOLD if hold else What.STOP, text=why)])
    paused = [] if hold else halt(ctx, known.run)
    return {"id": row.id, "state": known.run.state, "paused": paused}


def halt(ctx: Context, run: Run) -> list[str]:
    """Interrupt the agents of a run that was stopped; the names of those that were at work."""
    paused: list[str] = []
    for task in run.tasks.values():
        if task.state not in (State.WORKING, State.STARTING, State.PAUSING) or not task.worker:
            continue
        worker = workers.find(ctx.store, task.worker)
        # A loop's worker that has landed a ticket goes on with the next.
        if worker is None or worker.phase not in (Phase.RUNNING, Phase.LANDED):
            continue
        try:
            interrupt(ctx, worker)
            paused.append(worker.name)
        except WoodwindError as error:
            ctx.notes.append(f"{worker.name} was not interrupted: {error.message}")
    return paused


def resume(ctx: Context, row: RunRow, *, message: str = "") -> dict[str, Any]:
    """Let a run go on: with what was cut short, and once more with what had failed."""
    check_may_command(ctx, row)
    if not branches.branch_tip(ctx.repo.common, row.target):
        hint = f"Make it again, for example: git branch {row.target} COMMIT"
        raise NotFound(f"the branch {row.target} is not there any more", code="no_target", hint=hint)
    others = runs.listed(ctx.store, row.project, live=True)
    if row.mode == "into" and any(o.id != row.id and o.mode == "into" and o.target == row.target for o in others):
        raise runs.in_use(row.target)
    heed_undone(ctx.store, row.id)
    before = read(ctx.store, row.id).run
    again = (State.FAILED, State.TIMED_OUT, State.BLOCKED)
    if row.state == "running" and not message and not any(task.state in again for task in before.tasks.values()):
        raise Refused(f"the run {row.id} is running already", code="running")
    left = [task for task in before.tasks.values() if task.state not in GOOD and task.state is not State.DROPPED]
    if row.state == "finished" and not left and not before.groups:
        raise Refused(f"the run {row.id} is finished, and nothing is left of it", code="not_running")
    known, _ = change(ctx.store, row.id, [Happened(What.RESUME, text=message)])
    on = [task.id for task in known.run.tasks.values() if task.state not in FINAL]
    return {"id": row.id, "state": known.run.state, "tasks": on}


def report(ctx: Context, row: RunRow) -> dict[str, Any]:
    """What became of a run: what landed, what needs a person, and what was not begun."""
    whole = status(ctx, row)
    by_state: dict[str, list[dict[str, Any]]] = {}
    for entry in whole["tasks"]:
        by_state.setdefault(entry["state"], []).append(entry)
    good = [entry for state in GOOD for entry in by_state.get(state, [])]
    return {
        **{
            key: whole[key]
            for key in ("id", "title", "kind", "state", "why", "mode", "target", "created_at", "ended_at")
        },
        "landed": [{key: e[key] for key in ("id", "title", "commit", "last_words")} for e in good],
        "needs_you": [
            {key: e[key] for key in ("id", "title", "state", "why", "question", "worker", "output")}
            for e in whole["tasks"]
            if e["needs_you"]
        ],
        "blocked": [{key: e[key] for key in ("id", "title", "why")} for e in by_state.get("blocked", [])],
        "dropped": [{key: e[key] for key in ("id", "title", "why")} for e in by_state.get("dropped", [])],
        "open": [e["id"] for e in whole["tasks"] if State(e["state"]) not in FINAL],
    }
