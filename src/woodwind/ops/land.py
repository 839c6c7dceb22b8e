"""Landing one worker: merged in a lane, verified there, and only then does its target move."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from woodwind.base.failpoints import failpoint
from woodwind.base.files import Locked, locked
from woodwind.git import lanes, merging, remote, targets
from woodwind.git.branches import branch_tip
from woodwind.git.identity import lock_of
from woodwind.git.lanes import Lane
from woodwind.git.targets import TargetMoved
from woodwind.git.tree import Tree
from woodwind.model.errors import Refused, WoodwindError
from woodwind.model.landing import MOST_TRIES, LandRequest, dirty_message, listed, merge_message
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.critic import judge, told
from woodwind.ops.journal import Step, carry_out, worker_lock
from woodwind.ops.landable import Landable, already_in, look, taken_out, tip_of_target
from woodwind.ops.verify import landing_config, lane_of, lanes_beside, require_passed, verify
from woodwind.store import events, landings, operations, workers


def move_target(ctx: Context, target: str, old: str, new: str, *, why: str = "landed") -> None:
    """Move a branch from `old` to `new`, the only way that a target moves; TargetMoved when it is elsewhere by now."""
    with locked(lock_of(ctx.repo.common)):
        targets.move(ctx.repo.common, target, old, new, why=why)


def land(ctx: Context, worker: Worker, request: LandRequest) -> dict[str, Any]:
    """Land a worker's commits; return what moved. The worker itself is kept as it is."""
    with worker_lock(worker.id):
        current = workers.find(ctx.store, worker.id)
        if current is None or current.phase in (Phase.REMOVED, Phase.CREATING, Phase.LANDING):
            raise Refused(f"{worker.name} cannot land now: it is {current.phase if current else 'gone'}", code="busy")
        facts = look(ctx, current, request)
        if facts.via == "pr":  # what others are to look at first must not be pushed to their branch
            raise Refused(
                f"{facts.target} takes pull requests only, as [land] says",
                code="pull_requests_only",
                hint=f"ww pr {worker.name}",
            )
        # What lands once more after an undo is nothing new, which the critic would take for nothing at all.
        again = not facts.changes and merging.is_ancestor(ctx.repo.common, facts.tip, facts.onto)
        verb = "ship" if request.commit_dirty else "merge"
        warnings = judge(ctx, current, verb, target=facts.target, force=again)
        ctx.notes += [f"{current.name}: {told(finding)}" for finding in warnings]
        may_go_unverified(ctx, worker.project, request)
        with lane_of(ctx, worker.project, facts.tip) as lane:
            return _land(ctx, current, request, facts, lane)


def _land(ctx: Context, worker: Worker, request: LandRequest, facts: Landable, lane: Lane) -> dict[str, Any]:
    landing = landings.begun(
        worker.id,
        project=worker.project,
        name=worker.name,
        target=facts.target,
        via=facts.via,
        remote=facts.remote,
        method=facts.method,
        tip=facts.tip,
        previous_phase=worker.phase,
    )
    args = {
        "landing": landing.id,
        "worker": worker.id,
        "project": worker.project,
        "common": ctx.repo.common,
        "path": facts.tree.path,
        "admin": facts.tree.admin,
        "request": list(request),
    }
    with ctx.store.transaction() as db:
        landings.add(db, landing)
        workers.set_phase(db, worker.id, Phase.LANDING)
        row = operations.begin(db, project=worker.project, worker=worker.id, kind=Land.kind, args=args)
    operation = Land(ctx, args)
    operation.lane, operation.subject = lane, worker
    try:
        carry_out(ctx, operation, row)
    except (WoodwindError, OSError) as error:
        tell_failure(ctx, landing, error)
        raise
    done = landings.find(ctx.store, landing.id)
    assert done
    return {
        "id": done.id,
        "name": worker.name,
        "target": done.target,
        "via": done.via,
        "method": done.method,
        "from": done.old,
        "to": done.new,
        "commits": done.commits,
        "verified": done.verified,
        "command": done.command,
        "output": done.output,
        "committed": operation.committed,
    }


def tell_failure(ctx: Context, landing: landings.Landing, error: WoodwindError | OSError) -> None:
    """Record why a landing came to nothing."""
    why = error.message if isinstance(error, WoodwindError) else str(error)
    now = landings.find(ctx.store, landing.id)
    if now is None or now.state == "done":
        return  # it failed at something after its target had moved
    with ctx.store.transaction() as db:
        landings.change(db, landing.id, why=why)
        data = {"landing": landing.id, "target": landing.target, "why": why}
        events.append(db, project=landing.project, worker=landing.worker, kind="landing.failed", data=data)


def may_go_unverified(ctx: Context, project: str, request: LandRequest) -> None:
    """Make sure that somebody wants a landing without verification, where there is no command; asked once."""
    if not request.verify or landing_config(ctx).verify.command:
        return
    answered = landings.unverified_allowed(ctx.store, project)
    if answered is None and ctx.confirm:
        question = "This project has no [verify] command, so nothing tests what lands. Land without, from now on?"
        answered = ctx.confirm(question)
        if answered:
            landings.allow_unverified(ctx.store, project, allowed=True)
    if not answered:
        raise Refused(
            "nothing would test what lands: this project has no [verify] command",
            code="no_verify_command",
            hint='Set `command` in [verify] of woodwind.toml, such as "make test"; or say --no-verify.',
        )


def commit_dirty(ctx: Context, worker: Worker, tree: Tree, request: LandRequest) -> str:
    """Commit what a worker has not, where that was asked for; return the commit, or "" when there was none to make."""
    if not request.commit_dirty or not tree.changes():
        return ""
    ctx.say("committing what is not committed")
    tree.git("add", "--all")
    failpoint("land.in_commit")
    message = dirty_message(worker, request.message)
    tree.git(*merging.identity(tree), "commit", "--quiet", "--no-verify", "--file=-", input=message.encode())
    return tree.head()


class Conflict(WoodwindError):
    """The worker and its target changed the same places."""

    code = "conflict"


class Land:
    """The journalled operation of a landing: cut short, it either had moved its target, or nothing has landed."""

    kind = "land"
    finish_from = "move"

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.args = args
        self.lane: Lane | None = None  # none in one that is settled after a crash
        self.subject: Worker | None = None
        self.committed = ""
        self.moved = False

    def steps(self) -> list[Step]:
        return [
            Step("commit", self._commit, self._unlock),
            Step("merge", self._merge),
            Step("verify", self._verify, self._end_verification),
            Step("move", self._move, self._look_whether_it_moved),
        ]

    @property
    def request(self) -> LandRequest:
        """What was asked for."""
        return LandRequest(*self.args["request"])

    @property
    def landing(self) -> landings.Landing:
        """The landing's row as it is now."""
        found = landings.find(self.ctx.store, self.args["landing"])
        if found is None:
            raise WoodwindError(f"the landing {self.args['landing']} is not in the store")
        return found

    def _note(self, **values: str | int) -> None:
        with self.ctx.store.transaction() as db:
            landings.change(db, self.args["landing"], **values)

    def _worker(self) -> Worker:
        worker = self.subject or workers.find(self.ctx.store, self.args["worker"])
        if worker is None:
            raise WoodwindError(f"worker {self.args['worker']} is not in the store")
        return worker

    def _commit(self) -> None:
        """Commit what the worker has not, where that was asked for; from here on its tip is fixed."""
        tree = Tree(self.args["path"], self.args["admin"])
        self.committed = commit_dirty(self.ctx, self._worker(), tree, self.request)
        self._note(tip=tree.head())

    def _unlock(self) -> None:
        """What was committed stays on the worker's branch; a lock that a killed git left there is taken away."""
        if self.lane is None:
            targets.clear_locks(
                self.args["common"], self.args["path"], self.args["admin"], self._worker().worktree.branch
            )

    def _merge(self) -> None:
        lane, landing, worker = self._live(), self.landing, self._worker()
        common = self.args["common"]
        onto = self._onto(landing)
        reverted = taken_out(self.ctx, worker, onto)
        if reverted is None and merging.is_ancestor(common, landing.tip, onto):
            raise already_in(worker, landing.target)
        self.ctx.say(f"merging into {landing.target}")
        subjects = [c["subject"] for c in merging.commits_between(common, onto, landing.tip)]
        merged = self._merged(lane, worker, onto, landing, subjects, reverted)
        if merged.empty or (merged.conflicts and merging.is_in_by_patch(common, landing.tip, onto)):
            raise already_in(worker, landing.target)
        if merged.conflicts:
            raise Conflict(
                f"{worker.name} conflicts with {landing.target} in {listed(merged.conflicts)}",
                hint=f"Nothing has moved. Let its agent settle it: ww merge {worker.name} --leave-conflicts, "
                f"or take one side: --strategy ours|theirs ({landing.target}'s, or the worker's).",
            )
        self._note(old=onto, new=merged.commit, commits=len(subjects))

    def _merged(
        self,
        lane: Lane,
        worker: Worker,
        onto: str,
        landing: landings.Landing,
        subjects: list[str],
        reverted: landings.Landing | None,
    ) -> merging.Merged:
        start = onto
        if reverted:
            message = f"Land {worker.name} again\n\nThis takes back the commit that reverted it, {reverted.new[:10]}."
            again = merging.revert(lane, onto, reverted.old, reverted.new, message=message)
            if again.conflicts or merging.is_ancestor(self.args["common"], landing.tip, onto):
                return again
            start = again.commit
        message = merge_message(worker, subjects, method=landing.method, message=self.request.message)
        strategy = self.request.strategy
        return merging.merge(lane, start, landing.tip, method=landing.method, strategy=strategy, message=message)

    def _onto(self, landing: landings.Landing) -> str:
        return tip_of_target(self.ctx, landing.via, landing.remote, landing.target)

    def _verify(self) -> None:
        landing, request = self.landing, self.request
        if landing.via == "local":  # known now, it need not be found out after a long verification
            targets.check_way(self.args["common"], landing.target, landing.old, landing.new)
        if not request.verify:
            self._note(verified="skipped")
            return
        verification = verify(self.ctx, landing.project, landing.new, lane=self._live())
        self._note(
            verified="reused" if verification.reused else "passed" if verification.passed else "",
            command=verification.command,
            output=verification.output_path,
        )
        if verification.command:
            require_passed(verification, self._worker().name)
        else:
            self._note(verified="none")

    def _end_verification(self) -> None:
        """What still runs in the lane after a crash is ended, unless somebody else has the lane by now."""
        if self.lane is None:
            try:
                beside = lanes_beside(self.ctx)
                with lanes.taken(self.args["common"], self.args["project"], beside, "HEAD", wait=False):
                    pass
            except Locked:
                pass

    def _move(self) -> None:
        if self.lane is None:
            self._settle_move()
            return
        for left in reversed(range(MOST_TRIES)):
            landing = self.landing
            try:
                self._move_once(landing)
                self._follow_remote(landing)
                return
            except TargetMoved as moved:
                if not left:
                    raise Refused(
                        f"{landing.target} moved {MOST_TRIES} times while {landing.name} was being verified",
                        code="target_moved",
                        hint="Nothing of it has landed. Try again when it is quieter.",
                    ) from moved
                self.ctx.say(f"{landing.target} has moved: merging and verifying again")
                self._merge()
                self._verify()

    def _move_once(self, landing: landings.Landing) -> None:
        if landing.via == "local":
            move_target(self.ctx, landing.target, landing.old, landing.new, why=f"landed {landing.name}")
        else:
            remote.push(self._live(), landing.remote, landing.target, landing.new)

    def _follow_remote(self, landing: landings.Landing) -> None:
        """After a push, the local branch of the same name goes along where that is safe."""
        local = branch_tip(self.args["common"], landing.target)
        if landing.via == "local" or not local or local == landing.new:
            return
        try:
            move_target(self.ctx, landing.target, local, landing.new, why=f"landed {landing.name}")
        except WoodwindError as error:
            self.ctx.notes.append(f"your own {landing.target} stays where it is: {error.message}")

    def _look_whether_it_moved(self) -> None:
        """What failed or was cut short may have moved the target all the same; a remote has to be asked."""
        landing = self.landing
        if landing.new:
            local = landing.via == "local"
            common = self.args["common"]
            tip = (
                branch_tip(common, landing.target) if local else remote.fetched(common, landing.remote, landing.target)
            )
            self.moved = bool(tip) and self._has_moved(landing, tip)
            if self.moved:
                self._follow_remote(landing)

    def _settle_move(self) -> None:
        """After a crash: what has moved is finished, what was being written is completed, anything else is undone."""
        landing, common = self.landing, self.args["common"]
        if landing.via != "local":
            there = remote.fetched(common, landing.remote, landing.target)  # it may have arrived: the remote knows
            if landing.new and there and self._has_moved(landing, there):
                self._follow_remote(landing)
                return
            raise Refused(f"{landing.remote}/{landing.target} had not moved", code="not_moved")
        with locked(lock_of(common)):
            place = targets.the_checkout(common, landing.target)
            targets.clear_locks(common, *(place or ("", "")), landing.target)
            tip = branch_tip(common, landing.target)
            if landing.new and tip and self._has_moved(landing, tip):
                return
            if landing.new and tip == landing.old and targets.complete(common, landing.target, tip, landing.new):
                return
        raise Refused(f"{landing.target} had not moved", code="not_moved")

    def _has_moved(self, landing: landings.Landing, tip: str) -> bool:
        return merging.is_ancestor(self.args["common"], landing.new, tip)

    def _live(self) -> Lane:
        if self.lane is None:
            raise Refused("it was cut short before anything had moved", code="cut_short")
        return self.lane

    def commit(self, db: sqlite3.Connection) -> None:
        landing = self.landing
        landings.change(db, landing.id, state="done", why="")
        workers.set_phase(db, landing.worker, Phase.LANDED)
        data = {
            "landing": landing.id,
            "target": landing.target,
            "from": landing.old,
            "to": landing.new,
            "commits": landing.commits,
            "verified": landing.verified in ("passed", "reused"),
        }
        events.append(db, project=landing.project, worker=landing.worker, kind="landing.done", data=data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        if self.moved:
            self.commit(db)
            self.ctx.notes.append(f"{self.landing.target} had moved all the same: it counts as landed")
            return
        landing = self.landing
        landings.change(db, landing.id, state="failed", why="it was cut short")
        workers.set_phase(db, landing.worker, Phase(landing.previous_phase))


def leave_conflicts(ctx: Context, worker: Worker, request: LandRequest) -> list[str]:
    """Merge the target into the worker's own worktree and leave the conflicts there; return the files."""
    with worker_lock(worker.id):
        facts = look(ctx, worker, request)
        who = merging.identity(facts.tree)
        facts.tree.git(*who, "merge", "--no-edit", "--no-autostash", "--no-stat", facts.onto, ok=(0, 1))
        return sorted(facts.tree.changes().unmerged)
