"""What is done about one ticket of a loop: fed, claimed, briefed, collected when the tracker says closed, landed."""

import os
import time
from collections.abc import Mapping
from typing import Any

from woodwind.agents import registry as agents
from woodwind.base.failpoints import failpoint
from woodwind.base.files import write_atomic
from woodwind.git.branches import branch_tip
from woodwind.git.call import git
from woodwind.model.brief import FILE, build
from woodwind.model.decisions import free_lanes
from woodwind.model.errors import NotFound, WoodwindError
from woodwind.model.landing import LandRequest
from woodwind.model.run import GOOD, Decision, Happened, Run, State, Task, Verb, What
from woodwind.model.run_texts import message, sections
from woodwind.model.status import Phase
from woodwind.model.text import one_line
from woodwind.model.ticket import Ticket, tidy
from woodwind.model.worker import Worker
from woodwind.ops.brief import facts_for
from woodwind.ops.context import Context
from woodwind.ops.diff import work_tree
from woodwind.ops.free_names import Request
from woodwind.ops.journal import recover
from woodwind.ops.land import land
from woodwind.ops.presence import with_person
from woodwind.ops.run_state import worker_id
from woodwind.ops.run_tasks import (
    AGENTS_OWN,
    Doing,
    ahead,
    answer_task,
    free_name,
    go_on,
    landed_as,
    last_turn,
    make_worker,
    output_of,
    passes,
    pause_task,
    was_sent,
)
from woodwind.ops.terminal import find_pane, is_ours
from woodwind.ops.tickets import of_ticket, source_of
from woodwind.ops.turn_commit import commit_turn
from woodwind.store import runs, workers
from woodwind.store.runs import RunRow
from woodwind.tickets.base import NoTicket

_MOST_REOPENED = 3
# How long an agent may take to clear its conversation before it gets the next ticket.
_AFTER_CLEAR = 0.5

Outcome = tuple[list[Happened], Mapping[str, Mapping[str, Any]]]


def carry_out(ctx: Context, row: RunRow, run: Run, decision: Decision) -> Outcome:
    """Do what was decided about a ticket or an epic; what came of it, and what new tasks are about."""
    if decision.verb is Verb.FEED:
        return feed(ctx, row, run, decision.group)
    doing = Doing(ctx, row, run, decision)
    if doing.task.worker and with_person(ctx, [doing.task.worker]):
        return [Happened(What.ATTACHED, doing.task.id)], {}
    verbs = {
        Verb.START: start,
        Verb.COLLECT: collect,
        Verb.LAND: land_ticket,
        Verb.PAUSE: pause_task,
        Verb.ANSWER: answer_task,
    }
    failpoint(f"loop.before_{decision.verb}")
    happened = verbs[decision.verb](doing)
    failpoint(f"loop.after_{decision.verb}")
    return [happened], {}


def feed(ctx: Context, row: RunRow, run: Run, epic: str) -> Outcome:
    """As many of an epic's next tickets as it has free workers."""
    try:
        ready = source_of(ctx, str(row.spec["source"])).ready(epic)
    except NoTicket as error:
        return [Happened(What.ADDED, group=epic, text=error.message)], {}
    except WoodwindError as error:
        return [Happened(What.LATER, group=epic, text=error.message)], {}
    places = len(free_lanes(run, run.groups[epic]))
    specs: dict[str, dict[str, Any]] = {}
    tasks: list[Task] = []
    for ticket in ready:
        name = task_name(run, one_line(ticket.id, 200))
        if not name or len(tasks) >= places:
            continue
        about = row.spec
        tasks.append(Task(name, group=epic, timeout=about["timeout"], retries=about["retries"]))
        model = about["models"].get(epic) or about["model"]
        specs[name] = {"ticket": one_line(ticket.id, 200), "title": one_line(ticket.title), "epic": epic}
        specs[name] |= {"agent": about["agent"], "model": model, "permissions": about["permissions"]}
    return [Happened(What.ADDED, group=epic, tasks=tuple(tasks))], specs


def task_name(run: Run, ticket: str) -> str:
    """What a ticket that is ready is called as a task: one that was closed and is open again gets a number.

    "" for one that the loop has already, or that was opened again too often to go on with.
    """
    again = 1
    name = ticket
    while name in run.tasks:
        if run.tasks[name].state not in GOOD and run.tasks[name].state is not State.DROPPED:
            return ""
        again += 1
        name = f"{ticket}~{again}"
    return name if again <= _MOST_REOPENED else ""


def start(doing: Doing) -> Happened:
    """Claim the ticket, then give it to its lane's worker, whose conversation is cleared first."""
    ctx, row, task = doing.ctx, doing.row, doing.task
    recover(ctx, row.project)
    known = workers.find(ctx.store, worker_id(row.id, task))
    if known and known.phase in (Phase.CREATING, Phase.LANDING):
        return doing.told(What.LATER, text=f"{known.name} is being worked on by another command")
    try:
        if known and (sent := was_sent(doing, known)):
            return sent
        if task.tell:
            return go_on(doing, doing.worker, message(row.id, task, target=row.target))
        if known and known.phase == Phase.REMOVED:
            return doing.told(What.FAILED, text=f"the worker {known.name} was removed", hopeless=True)
        if known and _made_for(doing.run, known, task):
            # Before a crash, and nobody wrote it down. Its agent may have closed the ticket by now.
            return doing.told(What.STARTED, worker=known.id, turn=last_turn(ctx, known.id))
        ticket = _claimed(doing)
        if isinstance(ticket, Happened):
            return ticket
        request = _request(doing, ticket)
        if known is None:
            made = make_worker(doing, request)
            return doing.told(What.STARTED, worker=made.id, turn=last_turn(ctx, made.id))
        return _next_ticket(doing, known, request)
    except WoodwindError as error:
        return doing.told(What.LATER, text=error.message) if passes(error) else doing.failed(error, hopeless=True)


def _made_for(run: Run, worker: Worker, task: Task) -> bool:
    """Whether a lane's worker was made with this very ticket: no other of the loop's tasks ever had it."""
    return not any(other.worker == worker.id for other in run.tasks.values() if other.id != task.id)


def _claimed(doing: Doing) -> Ticket | Happened:
    """The ticket, claimed for us; or what happened to it instead."""
    ctx, row, task = doing.ctx, doing.row, doing.task
    source = source_of(ctx, str(row.spec["source"]))
    try:
        ticket = tidy(source.fetch(str(doing.spec["ticket"])))
        if ticket.state == "closed":
            return doing.told(What.DROPPED, text="someone else closed the ticket")
        mine = not runs.claim(ctx.store, row.id, task.id)
        failpoint("loop.after_claim_note")
        if ticket.state == "claimed":
            return ticket if mine else doing.told(What.DROPPED, text="someone else has claimed the ticket")
        source.claim(str(doing.spec["ticket"]))
        failpoint("loop.after_claim")
    except NoTicket:
        return doing.told(What.DROPPED, text="the ticket is not there any more")
    except WoodwindError as error:
        if error.code == "source_cannot":
            return ticket
        return doing.told(What.LATER, text=error.message, patient=True)
    return ticket


def _request(doing: Doing, ticket: Ticket) -> Request:
    ctx, row, task, spec = doing.ctx, doing.row, doing.task, doing.spec
    about = row.spec
    close = f"When the ticket is done and committed, close it: `ww loop close` (or in {ticket.name.split()[0]} itself)."
    epic = str(about["names"].get(task.group, task.group))
    request = Request(
        task=ticket.title,
        name=free_name(ctx, row.project, task.lane.replace("#", "-") if not task.lane.endswith("#1") else task.group),
        base=row.target,
        launch=str(about.get("launch", "")),
        model=str(spec.get("model", "")),
        permissions=str(spec.get("permissions", "ask")),
        template=str(about.get("template", "")),
        prompt=str(about.get("prompt", "")).replace("{epic_id}", task.group).replace("{epic_name}", epic),
        words=(("epic_id", task.group), ("epic_name", epic)),
        naming=f"{task.group} {task.lane.rpartition('#')[2]}",
        extra=[*sections("", tracked=True), ("Closing the ticket", close)],
    )
    return of_ticket(request, ticket)


def _next_ticket(doing: Doing, worker: Worker, request: Request) -> Happened:
    """The next ticket for a worker that has done others: a clean conversation, the newest base, a new brief."""
    ctx, row = doing.ctx, doing.row
    tree = work_tree(ctx, worker)
    if not tree.changes():
        git(
            *tree.words(), "merge", "--ff-only", "--no-overwrite-ignore", "--quiet", f"refs/heads/{row.target}", ok=None
        )
    _clear(ctx, worker)
    base = worker.worktree.base_branch or worker.worktree.base_commit
    facts = facts_for(ctx, request, branch=worker.worktree.branch, base=base, folder=tree.path)
    write_atomic(os.path.join(tree.path, FILE), build(facts).encode("utf-8", "replace"), mode=0o644)
    failpoint("loop.after_brief")
    text = f"Read {FILE}, which is about another ticket now, and do what it describes."
    return go_on(doing, worker, message(row.id, doing.task, target=row.target, brief=text))


def _clear(ctx: Context, worker: Worker) -> None:
    """Type the agent's own command that forgets the conversation; an agent that has exited has none."""
    found = find_pane(ctx, worker.id)
    agent = agents.find(worker.agent, ctx.loaded_config.config.agents)
    if not found or found[1].dead or not is_ours(ctx, worker.id, found[1]) or not agent.clear:
        return
    mux, pane = found
    mux.paste(pane, agent.clear)
    time.sleep(_AFTER_CLEAR)
    mux.press(pane, "Enter")
    time.sleep(_AFTER_CLEAR)


def collect(doing: Doing) -> Happened:
    """Commit what the agent left, and ask the tracker whether the ticket is closed."""
    ctx, row, task = doing.ctx, doing.row, doing.task
    try:
        worker = doing.worker
        commit_turn(ctx, worker.id, task.words)
        commits = ahead(ctx, worker, row.target)
    except NotFound as error:
        return doing.failed(error, hopeless=True)
    except WoodwindError as error:
        if error.code in AGENTS_OWN:
            return doing.failed(error)
        return doing.told(What.LATER, text=error.message)
    try:
        ticket = source_of(ctx, str(row.spec["source"])).fetch(str(doing.spec["ticket"]))
    except NoTicket:
        return doing.told(What.DROPPED, text="the ticket was deleted while it was worked on")
    except WoodwindError as error:
        return doing.told(What.LATER, text=error.message, patient=True)
    why = "" if ticket.state == "closed" else "the tracker says that the ticket is still open"
    return doing.told(What.COLLECTED, commits=commits, closed=ticket.state == "closed", text=why)


def land_ticket(doing: Doing) -> Happened:
    """Land what the lane's worker has, which is kept for the next ticket."""
    ctx, row, task = doing.ctx, doing.row, doing.task
    try:
        recover(ctx, row.project)
        worker = doing.worker
        commit = landed_as(ctx, worker, row.target)
        if not commit:
            verified = bool(row.spec.get("verify", True))
            # Merged, whatever is configured: the worker goes on from its own commits.
            title = doing.spec.get("title") and f"{doing.spec['title']} ({doing.spec['ticket']})"
            request = LandRequest(row.target, "merge", message=title or "", verify=verified, commit_dirty=True)
            commit = land(ctx, worker, request)["to"]
        failpoint("loop.after_landing")
        if row.spec.get("push"):
            _push(ctx, row.target)
        return doing.told(What.LANDED, commit=commit)
    except NotFound as error:
        return doing.failed(error, hopeless=True)
    except WoodwindError as error:
        if error.code == "already_landed":
            return doing.told(What.LANDED, commit=branch_tip(ctx.repo.common, row.target))
        if error.code in AGENTS_OWN:
            return doing.failed(error, hopeless=task.closing, output=output_of(error))
        if error.code in ("no_target", "no_verify_command", "pull_requests_only"):
            return doing.failed(error, hopeless=True)
        return doing.told(What.LATER, text=error.message, patient=error.code == "push_failed")


def _push(ctx: Context, branch: str) -> None:
    common = ctx.repo.common
    remote = git("--git-dir", common, "config", f"branch.{branch}.remote", ok=(0, 1)).text.strip() or "origin"
    done = git("--git-dir", common, "push", "--quiet", remote, f"refs/heads/{branch}:refs/heads/{branch}", ok=None)
    if done.code:
        raise WoodwindError(f"{branch} could not be pushed to {remote}: {done.complaint}", code="push_failed")
