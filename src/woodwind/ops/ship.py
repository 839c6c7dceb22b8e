"""`ww ship`: a worker's work lands, and only then its agent is stopped and its worktree parked."""

from typing import Any

from woodwind.model.errors import NotFound, Refused
from woodwind.model.landing import LandRequest
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.ops.diff import work_tree
from woodwind.ops.land import land
from woodwind.ops.pr import PullRequest, pull_request
from woodwind.ops.remove import Findings, remove
from woodwind.ops.verify import landing_config
from woodwind.store import landings, removals, workers


def merge(ctx: Context, worker: Worker, request: LandRequest) -> dict[str, Any]:
    """Land a worker the way that [land] says, and keep it: in its target, or as a pull request."""
    if (request.via or landing_config(ctx).land.via) != "pr":
        return {**land(ctx, worker, request), "removed": False, "trash": "", "url": ""}
    wanted = PullRequest(target=request.target, title=request.message, commit_dirty=request.commit_dirty)
    opened = pull_request(ctx, worker, wanted)
    asked = {"id": "", "name": worker.name, "target": opened["target"], "via": "pr", "method": "", "from": ""}
    asked |= {"to": opened["tip"], "commits": 0, "verified": "", "command": "", "output": "", "committed": ""}
    return {**asked, "removed": False, "trash": "", "url": opened["url"]}


def ship(ctx: Context, worker: Worker, request: LandRequest) -> dict[str, Any]:
    """Land a worker and put it away; one that went on working meanwhile is kept, and so is one with a pull request."""
    try:
        landed = merge(ctx, worker, request)
        if landed["via"] == "pr":
            return landed
    except Refused as refusal:
        last = next((one for one in landings.of_worker(ctx.store, worker.id) if one.state == "done"), None)
        if refusal.code != "already_landed" or last is None:
            raise
        # It landed before, by `ww merge` or a ship that was cut short: what is left is to put it away.
        landed = {"id": last.id, "name": worker.name, "target": last.target, "to": last.new, "verified": last.verified}
        landed |= {"via": last.via, "method": last.method, "from": last.old, "commits": 0, "committed": ""}
        landed |= {"command": last.command, "output": last.output, "url": ""}
    return {**landed, **put_away(ctx, worker, landed["id"])}


def put_away(ctx: Context, worker: Worker, landing: str) -> dict[str, Any]:
    """Park a worker whose work has landed, unless there is more in it by now or somebody is at work in it."""
    current = workers.find(ctx.store, worker.id)
    if current is None or current.phase == Phase.REMOVED:
        return {"removed": True, "trash": ""}
    reason = _reason_to_stay(ctx, current, landing)
    if reason:
        ctx.notes.append(f"{worker.name} landed and was kept: {reason}. When it is done: ww ship {worker.name}")
        return {"removed": False, "trash": ""}
    trash = remove(ctx, current, force=True)["trash"]
    removal = removals.current(ctx.store, worker.id)
    with ctx.store.transaction() as db:
        landings.change(db, landing, removal=removal.id if removal else "")
    return {"removed": True, "trash": trash}


def _reason_to_stay(ctx: Context, worker: Worker, landing: str) -> str:
    row = landings.find(ctx.store, landing)
    try:
        tree = work_tree(ctx, worker)
    except NotFound:
        return ""  # its folder is gone; its branch and what git knows of it are kept all the same
    if row and tree.head() != row.tip:
        return "it has made commits since"
    if tree.changes():
        return "it has changed files since"
    at_work = [reason for reason in Findings(ctx, worker).reasons if reason.endswith("is at work in it")]
    return at_work[0] if at_work else ""
