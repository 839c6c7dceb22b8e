"""All that the control plane shows, in one look: workers with their work, and what happened lately."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from woodwind.git import worktrees
from woodwind.git.branches import branch_tip
from woodwind.git.footprint import RefFiles
from woodwind.git.tree import Tree
from woodwind.model.errors import WoodwindError
from woodwind.model.landing_order import Candidate, best_order
from woodwind.model.sections import Entry, Notice, seconds
from woodwind.model.status import Phase, Status
from woodwind.model.worker import SHELL
from woodwind.ops.context import Context
from woodwind.ops.lately import lately
from woodwind.ops.listing import list_some, list_workers
from woodwind.ops.run_headlines import headlines
from woodwind.store import forecasts, landing_queues, landings, projects, readings, workers

# For so many workers one question each is faster than one for all.
_FEW = 20


class Overview(NamedTuple):
    """What there is to show."""

    workers: Sequence[Entry]
    notices: Sequence[Notice]
    order: Sequence[str]  # the ids of workers with work, in the order in which they had best land
    project: str  # the name of the one that is shown; "" for all
    notes: Sequence[str]
    runs: Sequence[str] = ()  # those that are under way, in a few words each


# Events that change nothing but their own worker's row. After any other one, everything is looked at.
OF_ONE_WORKER = frozenset(
    (
        "status.changed",
        "turn.submitted",
        "turn.done",
        "turn.failed",
        "turn.interrupted",
        "turn.committed",
        "question.answered",
        "worker.paused",
        "worker.resumed",
    )
)


class Looker:
    """Looks again and again, and counts a worker's work anew only after something happened to it."""

    def __init__(self, *, everywhere: bool) -> None:
        self._everywhere = everywhere
        self._work: dict[str, tuple[Any, Mapping[str, Any]]] = {}
        self._last: Overview | None = None

    @property
    def shown(self) -> list[str]:
        """The ids of the workers that the last look was about."""
        return [entry["id"] for entry in self._last.workers] if self._last else []

    def look(self, ctx: Context) -> Overview:
        """What there is to show now."""
        outcome = list_workers(ctx, everywhere=self._everywhere)
        found = self._told(ctx, outcome.data)
        known = {entry["id"] for entry in found}
        self._work = {worker: work for worker, work in self._work.items() if worker in known}
        project = "" if self._everywhere else ctx.known_project
        told = lately(ctx, project) if self._everywhere or project else []
        name = "" if self._everywhere else ctx.repo.name
        self._last = Overview(found, told, _order_of_all(ctx, found), name, tuple(outcome.notes), self._headlines(ctx))
        return self._last

    def look_at(self, ctx: Context, workers: Collection[str]) -> Overview:
        """The same where nothing happened but to these workers: what is shown of all others is kept as it was."""
        last = self._last
        if last is None or last.notes:  # a note may be about any of them
            return self.look(ctx)
        anew = {entry["id"]: entry for entry in list_some(ctx, sorted(workers), everywhere=self._everywhere)}
        shown = {entry["id"] for entry in last.workers}
        if ctx.notes or anew.keys() != shown.intersection(workers):
            ctx.notes.clear()
            return self.look(ctx)
        before = {entry["id"]: entry.get("work") for entry in last.workers}
        told = {entry["id"]: entry for entry in self._told(ctx, list(anew.values()))}
        found = [told.get(entry["id"], entry) for entry in last.workers]
        is_same_work = all(before[worker] == entry.get("work") for worker, entry in told.items())
        order = last.order if is_same_work else _order_of_all(ctx, found)
        self._last = last._replace(workers=found, order=order, runs=self._headlines(ctx))
        return self._last

    def _headlines(self, ctx: Context) -> list[str]:
        project = "" if self._everywhere else ctx.known_project
        return headlines(ctx.store, project) if self._everywhere or project else []

    def _told(self, ctx: Context, entries: Sequence[Entry]) -> list[Entry]:
        """The entries with what only the control plane shows: tools, work, and what came of landing it."""
        tools = readings.last_tools(ctx.store) if any(e["status"] == Status.WORKING for e in entries) else {}
        few = [entry["id"] for entry in entries] if len(entries) <= _FEW else []
        tried = {project: _Tried(ctx, project, few) for project in {entry["project"] for entry in entries}}
        return [tried[e["project"]].told(self._with_work(ctx, _with_tool(e, tools))) for e in entries]

    def _with_work(self, ctx: Context, entry: Entry) -> Entry:
        at_rest = entry["status"] in (Status.READY, Status.EXITED, Status.ASKING) or entry["agent"] == SHELL
        if not at_rest or entry["phase"] in (Phase.CREATING, Phase.QUEUED):
            return entry
        stamp = (entry["status"], entry["phase"], str(entry.get("turn")), entry.get("since"), _head_stamp(entry))
        known = self._work.get(entry["id"])
        if known is None or known[0] != stamp:
            known = self._work[entry["id"]] = (stamp, work_of(ctx, entry["id"]))
        return {**entry, "work": known[1]}


class _Tried:
    """What came of the last attempt to land each worker of a project, or a few of them."""

    def __init__(self, ctx: Context, project: str, few: Sequence[str]) -> None:
        self._dropped = {entry.worker: entry.why for entry in landing_queues.dropped(ctx.store, project)}
        self._last: dict[str, landings.Landing] = {}
        some = [landing for worker in few for landing in landings.of_worker(ctx.store, worker)]
        for landing in some if few else landings.of_project(ctx.store, project):
            self._last.setdefault(landing.worker, landing)

    def told(self, entry: Entry) -> Entry:
        """The worker with why it did not land, where that still holds, and whether its commits were verified."""
        more: dict[str, Any] = {}
        if why := self._dropped.get(entry["id"]):
            more["dropped"] = why
        last = self._last.get(entry["id"])
        begun = seconds((entry.get("turn") or {}).get("begun_at", ""))
        if last and last.state == "failed" and last.why and last.at.timestamp() > begun and not why:
            more["conflict"] = last.why
        work = entry.get("work") or {}
        if work.get("commits"):
            same = last is not None and last.tip == work.get("head") and last.verified in ("passed", "reused")
            more["verified"] = "verified" if same else "not verified yet"
        return {**entry, **more}


def _order_of_all(ctx: Context, entries: Sequence[Entry]) -> list[str]:
    projects_shown = dict.fromkeys(entry["project"] for entry in entries)
    return [worker for project in projects_shown for worker in _order(ctx, project, entries)]


def _order(ctx: Context, project: str, entries: Sequence[Entry]) -> list[str]:
    """The workers of a project that have work, in the order of `ww queue`, from what is known without looking again."""
    mine = [entry for entry in entries if entry["project"] == project and entry.get("work")]
    candidates = [
        Candidate(e["id"], e["name"], n, e["work"].get("added", 0) + e["work"].get("removed", 0), 1)
        for n, e in enumerate(mine)
    ]
    found = forecasts.collisions(ctx.store, project)
    places = best_order(
        candidates, [(c.worker, c.other) for c in found if c.other], {c.worker for c in found if not c.other}
    )
    return [place.candidate.id for place in places]


def _with_tool(entry: Entry, tools: Mapping[str, tuple[int, str]]) -> Entry:
    """A worker that is at work, with what it last used in its turn."""
    at, tool = tools.get(entry["id"], (0, ""))
    begun = seconds((entry.get("turn") or {}).get("begun_at", ""))
    if entry["status"] != Status.WORKING or not tool or at / 1000 < begun:
        return entry
    return {**entry, "doing": f"uses {tool}"}


def _head_stamp(entry: Entry) -> int:
    """When the worker's git directory last saw a commit or a change of its index: one call, no process."""
    try:
        with open(os.path.join(entry["path"], ".git"), encoding="utf-8") as file:
            admin = file.read().removeprefix("gitdir:").strip()
        return os.stat(os.path.join(admin, "index")).st_mtime_ns
    except OSError:
        return 0


def work_of(ctx: Context, worker_id: str) -> Mapping[str, Any]:
    """How much a worker has made: commits, lines, uncommitted files; nothing where its folder is gone."""
    worker = workers.find(ctx.store, worker_id)
    known = projects.find(ctx.store, worker.project) if worker else None
    common = known[0] if known else ""
    admin = worktrees.admin_of_worker(common, worker.id) if worker and common else ""
    if not worker or not admin or not os.path.isdir(worker.worktree.path):
        return {}
    tree, base = Tree(worker.worktree.path, admin), worker.worktree
    refs = RefFiles(common)
    try:
        head = refs.head(admin) or tree.head()
        onto = base.base_commit
        if base.base_branch:
            onto = refs.commit(f"refs/heads/{base.base_branch}") or branch_tip(common, base.base_branch) or onto
        last = next((one for one in landings.of_worker(ctx.store, worker.id) if one.kind == "land"), None)
        if last and last.state == "undone":  # git counts as merged what was reverted; it is work again
            onto = last.old
        changes = tree.changes()
        # A process is a tenth of the time in which an event has to be painted: only what can tell something is asked.
        commits = int(tree.git("rev-list", "--count", f"{onto}..{head}", "--")) if head != onto else 0
        added = removed = 0
        if commits or changes.tracked:
            added, removed = _lines(tree.git("diff", "--shortstat", "--no-ext-diff", tree.merge_base(onto), "--"))
    except WoodwindError:
        return {}  # a worktree that git cannot read now: its row says so by other means
    dirty = len(changes.tracked) + len(changes.untracked)
    return {"commits": commits, "added": added, "removed": removed, "dirty": dirty, "head": head}


def _lines(shortstat: str) -> tuple[int, int]:
    """(added, removed) from ` 2 files changed, 3 insertions(+), 1 deletion(-)`."""
    found = {"insertion": 0, "deletion": 0}
    for part in shortstat.split(","):
        number, _, word = part.strip().partition(" ")
        for kind in found:
            if word.startswith(kind):
                found[kind] = int(number)
    return found["insertion"], found["deletion"]
