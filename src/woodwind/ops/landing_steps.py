"""The steps of a landing, journalled: merged in a lane, verified there, and only then does its target move."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from woodwind.base.failpoints import failpoint
from woodwind.base.files import Locked, locked
from woodwind.git import lanes, merging, remote, targets
from woodwind.git.branches import branch_tip
from woodwind.git.identity import lock_of
from woodwind.git.lanes import Lane
from woodwind.git.targets import TargetMoved
from woodwind.git.tree import Changes, Tree
from woodwind.model.errors import Refused, WoodwindError
from woodwind.model.landing import MOST_TRIES, LandRequest, dirty_message, listed, merge_message
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.journal import Step
from woodwind.ops.landable import already_in, check_folder, check_markers, nothing_left, taken_out, tip_of_target
from woodwind.ops.verify import lanes_beside, may_go_unverified, require_passed, verify
from woodwind.store import events, landings, workers
from woodwind.store.operations import OperationRow


class Conflict(WoodwindError):
    """The worker and its target changed the same places."""

    code = "conflict"


def move_target(ctx: Context, target: str, old: str, new: str, *, why: str = "landed") -> None:
    """Move a branch from `old` to `new`, the only way that a target moves; TargetMoved when it is elsewhere by now."""
    with locked(lock_of(ctx.repo.common)):
        targets.move(ctx.repo.common, target, old, new, why=why)


def commit_dirty(ctx: Context, worker: Worker, tree: Tree, changes: Changes, request: LandRequest) -> str:
    """Commit what a worker has not, where that was asked for; return the commit, or "" when there was none to make."""
    if not request.commit_dirty or not changes:
        return ""
    ctx.say("committing what is not committed")
    tree.git("add", "--all")
    failpoint("land.in_commit")
    message = dirty_message(worker, request.message)
    tree.git(*merging.identity(tree), "commit", "--quiet", "--no-verify", "--file=-", input=message.encode())
    return tree.head()


def tell(db: sqlite3.Connection, landing: landings.Landing, kind: str, data: Mapping[str, Any]) -> None:
    """Record an event of a landing: of its worker, or of no worker for a run's own branch, which it then names."""
    about = {**data, "run": landing.run, "branch": landing.name} if landing.run else dict(data)
    worker = "" if landing.run else landing.worker
    events.append(db, project=landing.project, worker=worker, kind=kind, data=about)


class Land:
    """The journalled operation of a landing: cut short, it either had moved its target, or nothing has landed."""

    kind = "land"
    finish_from = "move"

    def __init__(self, ctx: Context, args: Mapping[str, Any]) -> None:
        self.ctx = ctx
        self.args = args
        self.lane: Lane | None = None  # none in one that is settled after a crash
        self.row: OperationRow | None = None  # none there either
        self.subject: Worker | None = None
        self.moved = False

    def steps(self) -> list[Step]:
        return [
            Step("commit", self._commit, self._unlock),
            Step("merge", self._merge, self._clear_lane),
            Step("verify", self._verify),
            Step("move", self._move, self._look_whether_it_moved),
        ]

    @property
    def begun(self) -> OperationRow:
        """Its row in the journal."""
        if self.row is None:
            raise WoodwindError(f"the landing {self.args['landing']} was not begun here")
        return self.row

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
        tree, worker = Tree(self.args["path"], self.args["admin"]), self._worker()
        changes = check_folder(worker, tree, self.request)  # its agent may have gone on since it was looked at
        committed = commit_dirty(self.ctx, worker, tree, changes, self.request)
        tip = tree.head()
        check_markers(self.ctx, worker, self.landing.tip, tip)
        self._note(tip=tip, committed=committed)

    def _unlock(self) -> None:
        """What was committed stays on the worker's branch; a lock that a killed git left there is taken away."""
        if self.lane is None:
            targets.clear_locks(
                self.args["common"], self.args["path"], self.args["admin"], self._worker().worktree.branch
            )

    def _merge(self) -> None:
        lane, landing = self._live(), self.landing
        common = self.args["common"]
        onto = self._onto(landing)
        is_in = merging.is_ancestor(common, landing.tip, onto)
        reverted = taken_out(self.ctx, landing.worker, onto)
        if reverted and not is_in and merging.is_ancestor(common, reverted.new, landing.tip):
            # It went on from the commit that took its work back: what it has now is what lands.
            note = (
                f"what was taken back of {landing.name} before stays out unless it has it anew; "
                f"to have it again: git revert {reverted.new[:10]}"
            )
            self.ctx.notes += [note] if note not in self.ctx.notes else []  # a target that moves is merged into again
            reverted = None
        if reverted is None and is_in:
            raise already_in(landing.name, landing.target)
        self.ctx.say(f"merging into {landing.target}")
        subjects = [c["subject"] for c in merging.commits_between(common, onto, landing.tip)]
        merged = self._merged(lane, onto, landing, subjects, reverted)
        if merged.empty and self.request.strategy == "ours":
            raise nothing_left(landing.name, landing.target)
        if merged.empty or (merged.conflicts and merging.is_in_by_patch(common, landing.tip, onto)):
            raise already_in(landing.name, landing.target)
        if merged.conflicts:
            raise self._conflict(landing, merged.conflicts)
        self._note(old=onto, new=merged.commit, commits=len(subjects))

    def _merged(
        self, lane: Lane, onto: str, landing: landings.Landing, subjects: list[str], reverted: landings.Landing | None
    ) -> merging.Merged:
        start = onto
        if reverted:
            message = f"Land {landing.name} again\n\nThis takes back the commit that reverted it, {reverted.new[:10]}."
            again = merging.revert(lane, onto, reverted.old, reverted.new, message=message)
            if again.conflicts:
                raise self._conflict_again(landing, again.conflicts, reverted.new)
            if merging.is_ancestor(self.args["common"], landing.tip, onto):
                return again
            start = again.commit
        message, strategy = self._message(landing, subjects), self.request.strategy
        return merging.merge(lane, start, landing.tip, method=landing.method, strategy=strategy, message=message)

    def _message(self, landing: landings.Landing, subjects: list[str]) -> str:
        """The message of the merge."""
        return merge_message(self._worker(), subjects, method=landing.method, message=self.request.message)

    def _conflict(self, landing: landings.Landing, files: Sequence[str]) -> Conflict:
        """The error for files that both sides have changed."""
        return Conflict(
            f"{landing.name} conflicts with {landing.target} in {listed(files)}",
            hint=f"Nothing has moved. Let its agent settle it: ww merge {landing.name} --leave-conflicts, "
            f"or take one side: --strategy ours|theirs ({landing.target}'s, or the worker's).",
        )

    def _conflict_again(self, landing: landings.Landing, files: Sequence[str], revert: str) -> Conflict:
        """The error where the target has changed what was taken out of it: merging sides cannot settle that."""
        return Conflict(
            f"what was taken back of {landing.name} conflicts with {landing.target} in {listed(files)}",
            hint=f"Nothing has moved. On {self._branch(landing)}: git merge {landing.target}, then, for what is "
            f"missing there, git revert {revert[:10]}; settle and commit it, and land again.",
        )

    def _branch(self, landing: landings.Landing) -> str:
        return self._worker().worktree.branch

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
            require_passed(verification, landing.name)
        else:
            may_go_unverified(self.ctx, landing.project, request)  # there may have been one when it began
            self._note(verified="none")

    def _clear_lane(self) -> None:
        """What a crash left running or locked in the lane goes, unless somebody else has the lane by now."""
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
            old, new = self._whole_move(landing)
            if new and tip == old and targets.complete(common, landing.target, old, new):
                return
        raise Refused(f"{landing.target} had not moved", code="not_moved")

    def _whole_move(self, landing: landings.Landing) -> tuple[str, str]:
        """From where to where the target moves with this landing."""
        return landing.old, landing.new

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
        tell(db, landing, "landing.done", data)

    def abandoned(self, db: sqlite3.Connection) -> None:
        if self.moved:
            self.commit(db)
            self.ctx.notes.append(f"{self.landing.target} had moved all the same: it counts as landed")
            return
        landing = self.landing
        landings.change(db, landing.id, state="failed", why="it was cut short")
        if landing.previous_phase:  # a run's branch has none
            workers.set_phase(db, landing.worker, Phase(landing.previous_phase))
