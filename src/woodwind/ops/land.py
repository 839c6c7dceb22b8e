"""Landing one worker: merged in a lane, verified there, and only then does its target move."""

from typing import Any

from woodwind.git import merging
from woodwind.git.lanes import in_use
from woodwind.git.targets import Checkout, check_nothing_in_the_way
from woodwind.model.errors import Refused
from woodwind.model.landing import LandRequest
from woodwind.model.worker import Worker
from woodwind.ops.begin_landing import begin_worker, carry_through, free_to_land
from woodwind.ops.context import Context
from woodwind.ops.critic import judge, told
from woodwind.ops.journal import worker_lock
from woodwind.ops.landable import Landable, look, taken_out
from woodwind.ops.landing_steps import Land
from woodwind.ops.verify import lane_of, may_go_unverified
from woodwind.store import landings


def land(ctx: Context, worker: Worker, request: LandRequest) -> dict[str, Any]:
    """Land a worker's commits; return what moved. The worker itself is kept as it is."""
    with worker_lock(worker.id):
        current = free_to_land(ctx, worker)
        facts = _looked_at(ctx, current, request)
        may_go_unverified(ctx, worker.project, request)
        waits = in_use(worker.project)
        with lane_of(ctx, worker.project, facts.tip) as lane:
            if waits:  # its agent may have gone on meanwhile
                facts = _looked_at(ctx, current, request)
            operation = begin_worker(ctx, Land, current, facts, request)
            done = carry_through(ctx, operation, lane)
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
        "committed": done.committed,
    }


def _looked_at(ctx: Context, worker: Worker, request: LandRequest) -> Landable:
    """What a landing starts from, where neither its state nor the critic is against it."""
    facts = look(ctx, worker, request)
    if facts.via == "pr":  # what others are to look at first must not be pushed to their branch
        raise Refused(
            f"{facts.target} takes pull requests only, as [land] says",
            code="pull_requests_only",
            hint=f"ww pr {worker.name}",
        )
    # What lands once more after an undo is nothing new, which the critic would take for nothing at all.
    again = not facts.changes and merging.is_ancestor(ctx.repo.common, facts.tip, facts.onto)
    verb = "ship" if request.commit_dirty else "merge"
    warnings = [f"{worker.name}: {told(f)}" for f in judge(ctx, worker, verb, target=facts.target, force=again)]
    ctx.notes += [warning for warning in warnings if warning not in ctx.notes]
    return facts


def leave_conflicts(ctx: Context, worker: Worker, request: LandRequest) -> list[str]:
    """Merge the target into the worker's own worktree and leave the conflicts there; return the files."""
    with worker_lock(worker.id):
        facts = look(ctx, worker, request)
        who = merging.identity(facts.tree)
        message = f"Merge {facts.target} into {worker.worktree.branch}"
        words = ("merge", "--no-edit", "--no-autostash", "--no-stat", f"--message={message}", facts.onto)
        place = Checkout(facts.tree.path, facts.tree.admin)
        merged = facts.tree.git("merge-tree", "--write-tree", facts.tip, facts.onto, ok=(0, 1)).split(maxsplit=1)[0]
        check_nothing_in_the_way(place, worker.worktree.branch, facts.tip, merged)
        facts.tree.git(*who, *words, ok=(0, 1))
        found = facts.tree.changes()
        reverted = taken_out(ctx, worker.id, facts.onto)
        undone = landings.find(ctx.store, reverted.undoes) if reverted else None
        # Where git counts its work as merged, that merge has taken it out of the folder: it comes back by this.
        if reverted and undone and not found and merging.is_ancestor(ctx.repo.common, undone.tip, facts.onto):
            check_nothing_in_the_way(place, worker.worktree.branch, reverted.new, reverted.old)
            facts.tree.git(*who, "revert", "--no-edit", reverted.new, ok=(0, 1))
            found = facts.tree.changes()
        return sorted(found.unmerged)
