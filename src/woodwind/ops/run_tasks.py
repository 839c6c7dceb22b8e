"""What is done about one task of a run: started, collected, landed, paused, answered. Each can be repeated."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from woodwind.agents import registry as agents
from woodwind.base.clock import now, to_ms
from woodwind.base.failpoints import failpoint
from woodwind.git import merging
from woodwind.git.branches import branch_tip
from woodwind.git.call import git
from woodwind.model import naming
from woodwind.model.brief import FILE
from woodwind.model.errors import MissingTool, NotFound, Refused, UsageError, WoodwindError
from woodwind.model.landing import LandRequest
from woodwind.model.run import Decision, Happened, Rule, Run, Task, Verb, What
from woodwind.model.run_texts import DECIDE, mark, message, parent_summary, says_nothing, sections
from woodwind.model.status import Phase
from woodwind.model.text import one_line
from woodwind.model.turn import START_UNDONE, State as TurnState, Turn
from woodwind.model.worker import HEADLESS, Worker
from woodwind.ops.answer import answer
from woodwind.ops.context import Context
from woodwind.ops.create import create
from woodwind.ops.deliver import deliver, sight_of
from woodwind.ops.diff import work_tree
from woodwind.ops.free_names import Request
from woodwind.ops.interrupt import interrupt
from woodwind.ops.journal import recover
from woodwind.ops.land_branch import land_branch
from woodwind.ops.listing import told_question
from woodwind.ops.presence import with_person
from woodwind.ops.resume import resume
from woodwind.ops.run_state import worker_id
from woodwind.ops.ship import ship
from woodwind.ops.terminal import find_pane, is_ours
from woodwind.ops.tickets import fetch, of_ticket
from woodwind.ops.turn_commit import commit_turn
from woodwind.ops.verify import lane_of, last_lines, require_passed, verify
from woodwind.store import landings, runs, turns, workers
from woodwind.store.runs import RunRow
from woodwind.tickets.base import NoTicket

# What only the agent can set right: it is told, and tries again.
AGENTS_OWN = ("conflict", "not_verified", "conflict_markers", "unmerged", "wrong_branch", "nothing_to_land", "critic")
_HOPELESS = ("no_target", "no_verify_command", "not_yours", "denied_too_often", "pull_requests_only")


# What passes: somebody else is at it, it or its terminal has just gone, there is no room or no free name at the moment.
_PASSES = (
    *("asking", "busy", "queued", "running", "exited", "no_terminal"),
    *("name_exists", "folder_exists", "not_writable", "no_ports"),
)

_SETTLING = 3_000


class Doing:
    """One decision in its surroundings."""

    __slots__ = ("ctx", "decision", "row", "run", "spec", "task")

    def __init__(self, ctx: Context, row: RunRow, run: Run, decision: Decision) -> None:
        self.ctx = ctx
        self.row = row
        self.run = run
        self.decision = decision
        self.task: Task = run.tasks[decision.task]
        self.spec: dict[str, Any] = runs.spec(ctx.store, row.id, self.task.id)

    def told(self, what: What, **facts: Any) -> Happened:
        """What happened, as an answer to this decision."""
        return Happened(what, self.task.id, self.task.delivery, **facts)

    def failed(self, error: WoodwindError, *, hopeless: bool = False, output: str = "") -> Happened:
        """The attempt failed for this reason."""
        said = error.message + (f" ({error.hint})" if hopeless and error.hint else "")
        return self.told(What.FAILED, text=said, hopeless=hopeless, output=output)

    @property
    def worker(self) -> Worker:
        """The task's worker; NotFound when it was removed."""
        found = workers.find(self.ctx.store, self.task.worker or worker_id(self.row.id, self.task))
        if found is None or found.phase == Phase.REMOVED:
            name = found.name if found else self.task.id
            raise NotFound(f"the worker of {self.task.id} was removed", code="no_worker", hint=f"ww restore {name}")
        return found


def carry_out(ctx: Context, row: RunRow, run: Run, decision: Decision) -> list[Happened]:
    """Do what was decided about a task; what came of it."""
    doing = Doing(ctx, row, run, decision)
    task = doing.task
    if task.worker and with_person(ctx, [task.worker]):
        return [Happened(What.ATTACHED, task.id)]
    verbs: dict[Verb, Callable[[Doing], Happened]] = {
        Verb.START: start,
        Verb.COLLECT: collect,
        Verb.LAND: land_task,
        Verb.PAUSE: pause_task,
        Verb.ANSWER: answer_task,
    }
    failpoint(f"run.before_{decision.verb}")
    happened = verbs[decision.verb](doing)
    failpoint(f"run.after_{decision.verb}")
    return [happened]


# Starting, and going on.


def start(doing: Doing) -> Happened:
    """Give the task to a worker: a new one, or the one that has it already."""
    ctx, row, task = doing.ctx, doing.row, doing.task
    recover(ctx, row.project)
    known = workers.find(ctx.store, task.worker or worker_id(row.id, task))
    try:
        if known and known.phase in (Phase.CREATING, Phase.LANDING):
            return doing.told(What.LATER, text=f"{known.name} is being worked on by another command")
        if known is None and task.worker:
            return doing.told(What.FAILED, text="its worker is gone", hopeless=True)
        if known and task.tell and (commit := landed_by_hand(doing, known)):
            return doing.told(What.LANDED, commit=commit)
        if known is None:
            made = make_worker(doing, task_request(doing))
            return doing.told(What.STARTED, worker=made.id, turn=last_turn(ctx, made.id))
        if task.tell == "" and task.attempt == 1:  # made before a crash, and nobody wrote it down
            return doing.told(What.STARTED, worker=known.id, turn=last_turn(ctx, known.id))
        return go_on(doing, doing.worker, message(row.id, task, target=row.target))
    except WoodwindError as error:
        return doing.told(What.LATER, text=error.message) if passes(error) else doing.failed(error, hopeless=True)


def passes(error: WoodwindError) -> bool:
    """Whether what kept us from reaching an agent may be over a moment later, rather than a mistake that stays."""
    stays = isinstance(error, (UsageError, MissingTool, NotFound, NoTicket, Refused))
    return not stays or error.code in _PASSES


def make_worker(doing: Doing, request: Request) -> Worker:
    """A new worker with the id that this task, or its lane, always has."""
    ctx, row, task = doing.ctx, doing.row, doing.task
    agent = agents.find(doing.spec["agent"], ctx.loaded_config.config.agents)
    agent.require_program()
    made = create(ctx, row.project, request._replace(id=worker_id(row.id, task)), agent)
    failpoint("run.after_create")
    return made


def free_name(ctx: Context, project: str, wanted: str) -> str:
    """A worker's name that nobody has: the one wanted, or that with a number."""
    taken = workers.taken_names(ctx.store, project)
    base = naming.slug(wanted) or "task"
    return next(name for n in range(1, 10_000) if naming.key(name := naming.numbered(base, n)) not in taken)


def task_request(doing: Doing) -> Request:
    """What is asked of a new worker for a plan's task."""
    ctx, row, task, spec = doing.ctx, doing.row, doing.task, doing.spec
    _check_parents(doing)
    request = Request(
        task=str(spec.get("description", "")),
        name=free_name(ctx, row.project, task.id),
        branch=str(spec.get("branch", "")),
        base=row.target,
        launch=str(row.spec.get("launch", "")),
        model=str(spec.get("model", "")),
        permissions=str(spec.get("permissions", "ask")),
        plan=bool(spec.get("plan_mode")),
        template=str(spec.get("template", "")),
        parents=[_summary(doing, doing.run.tasks[parent]) for parent in task.after],
        extra=sections(str(row.spec.get("goal", ""))),
    )
    reference = str(spec.get("ticket", ""))
    if not reference:
        return request
    ticket = fetch(ctx, reference)
    prompt = request.task
    return of_ticket(request, ticket)._replace(prompt=prompt)


def _check_parents(doing: Doing) -> None:
    """A child starts from its parents' commits: where the branch has lost them, it must not start."""
    common, target = doing.ctx.repo.common, doing.row.target
    tip = branch_tip(common, target)
    if not tip:
        raise NotFound(f"the branch {target} is not there any more", code="no_target")
    for name in doing.task.after:
        parent = doing.run.tasks[name]
        if parent.commit and not merging.is_ancestor(common, parent.commit, tip):
            raise Refused(
                f"{target} does not have the work of {name} any more",
                code="target_moved",
                hint=f"It landed as {parent.commit[:12]}: bring it back, then `ww run resume {doing.row.id}`.",
            )


def _summary(doing: Doing, parent: Task) -> str:
    about = runs.spec(doing.ctx.store, doing.row.id, parent.id)
    title = str(about.get("description", "") or about.get("ticket", ""))
    commits: list[str] = []
    files: list[str] = []
    landed = [one for one in landings.of_worker(doing.ctx.store, parent.worker) if one.state == "done"]
    for one in landed[:1]:
        common = doing.ctx.repo.common
        commits = [c["subject"] for c in merging.commits_between(common, one.old, one.new)]
        names = git("--git-dir", common, "diff", "--name-only", "-z", one.old, one.new, ok=None)
        files = [name for name in names.text.split("\0") if name] if names.code == 0 else []
    return parent_summary(parent.id, title, commits=commits, files=files, words=parent.words)


def last_turn(ctx: Context, worker: str) -> str:
    """The id of the newest turn of a worker, or ""."""
    found = turns.of_worker(ctx.store.db, worker, 1)
    return found[-1].id if found else ""


def was_sent(doing: Doing, worker: Worker) -> Happened | None:
    """What happened where this very message was sent before, and nobody wrote it down; None otherwise."""
    sign = mark(doing.row.id, doing.task)
    sent = [turn for turn in turns.of_worker(doing.ctx.store.db, worker.id, 10) if turn.text.startswith(sign)]
    if not sent or sent[-1].why == START_UNDONE:
        return None
    if sent[-1].state not in (TurnState.SENDING, TurnState.UNKNOWN):
        return doing.told(What.STARTED, worker=worker.id, turn=sent[-1].id)
    if to_ms(now()) - sent[-1].begun_at < _SETTLING:
        # It was cut short; if the agent did get it, it tells so in a moment.
        return doing.told(What.LATER, text="a message to it was cut short")
    return None


def go_on(doing: Doing, worker: Worker, text: str) -> Happened:
    """Tell the task's agent something; one that has exited is started again, in its own conversation if it can."""
    ctx = doing.ctx
    before = was_sent(doing, worker)
    if before:
        return before
    found = find_pane(ctx, worker.id)
    if found and not found[1].dead and is_ours(ctx, worker.id, found[1]):
        if worker.launch == HEADLESS:
            return doing.told(What.LATER, text="it has not exited yet, and takes nothing before")
        turn = deliver(ctx, worker, text)
        failpoint("run.after_deliver")
        return doing.told(What.STARTED, worker=worker.id, turn=turn)
    agent = agents.find(worker.agent, ctx.loaded_config.config.agents)
    last = [turn for turn in turns.of_worker(ctx.store.db, worker.id, 30) if turn.why != START_UNDONE]
    fresh = agent.resume_args is None or no_conversation(last, tells=agent.tells_submits)
    if fresh:
        text += f" The whole task is in {FILE}."
    resume(ctx, worker, message=text, fresh=fresh)
    return doing.told(What.STARTED, worker=worker.id, turn=last_turn(ctx, worker.id))


def no_conversation(last: Sequence[Turn], *, tells: bool) -> bool:
    """Whether there is nothing that an agent could go on with: it died before it took anything, or dies of going on."""
    died = [turn.state is TurnState.FAILED and "exited with" in turn.why for turn in last[-2:]]
    never = tells and not any(turn.prompt_id or turn.state is TurnState.DONE for turn in last)
    return not last or died == [True, True] or never


# What came of it.


def collect(doing: Doing) -> Happened:
    """Commit what the agent left, and see what there is: commits, or the word that there was nothing to do."""
    ctx, row, task = doing.ctx, doing.row, doing.task
    try:
        worker = doing.worker
        commit_turn(ctx, worker.id, one_line(task.words, 400) and task.words)
        failpoint("run.after_commit_turn")
        commits = ahead(ctx, worker, row.target)
        if not commits and (commit := landed_as(ctx, worker, row.target)):
            return doing.told(What.LANDED, commit=commit)
        if commits and doing.run.settings.rule is not Rule.LAND and row.spec.get("verify", True):
            _verify_tip(doing, worker)
    except NotFound as error:
        return doing.failed(error, hopeless=True)
    except WoodwindError as error:
        if error.code in AGENTS_OWN:
            return doing.failed(error, output=output_of(error))
        return doing.told(What.LATER, text=error.message)
    return doing.told(What.COLLECTED, commits=commits, nothing=says_nothing(task.words))


def ahead(ctx: Context, worker: Worker, target: str) -> int:
    """How many commits a worker has that the branch has not."""
    tree = work_tree(ctx, worker)
    tip = branch_tip(ctx.repo.common, target) or worker.worktree.base_commit
    return int(git("--git-dir", ctx.repo.common, "rev-list", "--count", tree.head(), "--not", tip, "--").text)


def _verify_tip(doing: Doing, worker: Worker) -> None:
    ctx = doing.ctx
    tip = work_tree(ctx, worker).head()
    with lane_of(ctx, doing.row.project, tip) as lane:
        verification = verify(ctx, doing.row.project, tip, lane=lane)
    if verification.command:
        require_passed(verification, worker.name)


def output_of(error: WoodwindError) -> str:
    """The end of what a failed verification printed, whose file its hint names."""
    path = error.hint.rpartition(": ")[2]
    return last_lines(path, 60) if error.code == "not_verified" else ""


def land_task(doing: Doing) -> Happened:
    """Land the task's commits on the run's branch; then its worker is put away."""
    ctx, row, task = doing.ctx, doing.row, doing.task
    try:
        recover(ctx, row.project)
        if task.closing and not task.lane:
            return doing.told(What.LANDED, commit=land_branch(ctx, row))
        known = workers.find(ctx.store, task.worker)
        before = landed_as(ctx, known, row.target) if known else ""
        if before:
            return doing.told(What.LANDED, commit=before)
        worker = doing.worker
        # A branch of the run's own is nobody else's: whatever [land] says, it is here that its tasks meet.
        via = "local" if row.mode == "into" else ""
        verified = bool(row.spec.get("verify", True))
        request = LandRequest(target=row.target, verify=verified, commit_dirty=True, via=via)
        landed = ship(ctx, worker, request)
        return doing.told(What.LANDED, commit=landed["to"])
    except NotFound as error:
        return doing.failed(error, hopeless=True)
    except WoodwindError as error:
        if error.code == "already_landed":  # others did the same meanwhile: all of it is there
            return doing.told(What.LANDED, commit=branch_tip(ctx.repo.common, row.target))
        if error.code in AGENTS_OWN and not task.closing:
            return doing.failed(error, output=output_of(error))
        if error.code in (*_HOPELESS, *AGENTS_OWN):
            return doing.failed(error, hopeless=True, output=output_of(error))
        return doing.told(What.LATER, text=error.message, output=error.hint)


def landed_by_hand(doing: Doing, worker: Worker) -> str:
    """What a person landed a task as; "" where nobody did, or its agent is to be told something all the same."""
    wanted = worker.phase != Phase.REMOVED and doing.task.tell not in ("go_on", "retry")
    return "" if wanted else landed_as(doing.ctx, worker, doing.row.target)


def landed_as(ctx: Context, worker: Worker, target: str) -> str:
    """What a worker's last landing on a branch made of it, where nothing came after it; "" otherwise."""
    found = landings.of_worker(ctx.store, worker.id)
    done = [one for one in found if one.state == "done" and one.target == target and one.kind == "land"]
    if not done:
        return ""
    if worker.phase == Phase.REMOVED:
        return done[0].new
    with contextlib.suppress(NotFound):
        if work_tree(ctx, worker).head() != done[0].tip:
            return ""
    return done[0].new


def merged_elsewhere(ctx: Context, worker: Worker, target: str) -> str:
    """The tip of the branch once it has a worker's pull request; "" before, and where none was opened."""
    asked = next((one for one in landings.of_worker(ctx.store, worker.id) if one.kind == "pr"), None)
    if asked is None or worker.phase == Phase.REMOVED:
        return ""
    common, tip = ctx.repo.common, branch_tip(ctx.repo.common, target)
    return tip if tip and merging.is_ancestor(common, asked.tip, tip) else ""


def pause_task(doing: Doing) -> Happened:
    """Interrupt an agent that is out of time; it stays, with all of its work."""
    try:
        how = interrupt(doing.ctx, doing.worker)
    except (Refused, NotFound) as error:
        return doing.told(What.PAUSED, text=f"it took longer than its timeout ({error.message})")
    except WoodwindError as error:
        return doing.told(What.LATER, text=error.message)
    return doing.told(What.PAUSED, text=f"it took longer than its timeout, and is {how}")


def answer_task(doing: Doing) -> Happened:
    """Answer a question in the person's place: no to a permission, and "decide yourself" to all else."""
    try:
        worker = doing.worker
        asked = told_question(sight_of(doing.ctx, worker))
        agent = agents.find(worker.agent, doing.ctx.loaded_config.config.agents)
        if asked:
            reply = "deny" if asked["tool"] and "deny" in agent.answers else DECIDE
            answer(doing.ctx, worker, reply, question=asked["id"])
    except WoodwindError as error:
        if error.code not in ("not_asking", "other_question"):
            what = What.LATER if passes(error) else What.FAILED
            return doing.told(what, text=f"it asks, and could not be answered: {error.message}")
    return doing.told(What.ANSWERED, text=doing.task.question)
