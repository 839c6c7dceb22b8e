"""`ww queue`: who is ready to land, in the best order, and who is not, and why."""

from collections.abc import Sequence
from typing import Any

from woodwind.git import branches
from woodwind.model.errors import WoodwindError
from woodwind.model.landing_order import Candidate, Place, best_order, readiness
from woodwind.model.worker import HEADLESS, SHELL, Worker
from woodwind.ops.context import Context
from woodwind.ops.diff import work_tree
from woodwind.ops.forecast import refresh, trial_merges
from woodwind.ops.landable import taken_out
from woodwind.ops.listing import list_workers
from woodwind.store import forecasts, landing_queues, landings, workers


class Choice:
    """The workers of a project, sorted into those that can land and those that cannot."""

    def __init__(self, ctx: Context, project: str, named: Sequence[Worker] = ()) -> None:
        self.ctx = ctx
        self.project = project
        refresh(ctx, project)
        self.snapshots = forecasts.snapshots(ctx.store, project)
        self.fell_out = {e.worker: e for e in landing_queues.dropped(ctx.store, project)}
        self.waiting: list[dict[str, str]] = []
        self.workers: dict[str, Worker] = {}
        candidates: list[Candidate] = []
        wanted = {w.id for w in named}
        for age, entry in enumerate(list_workers(ctx).data):
            worker = workers.find(ctx.store, entry["id"])
            if worker is None or (wanted and worker.id not in wanted):
                continue
            found = self._look(worker, entry, age, is_named=bool(wanted))
            if found:
                self.workers[worker.id] = worker
                candidates.append(found)
        self.places = self._order(candidates)

    def _look(self, worker: Worker, entry: dict[str, Any], age: int, *, is_named: bool) -> Candidate | None:
        """The worker as a candidate; None, with the reason on record, when it is not ready.

        One that was named is tried in any case: what stands in its way is then told.
        """
        try:
            files, lines = self._work(worker)
        except WoodwindError as error:
            if is_named:
                return Candidate(worker.id, worker.name, age, 0, 0)
            self.waiting.append({"name": worker.name, "id": worker.id, "why": error.message})
            return None
        turn = entry.get("turn") or {}
        why = readiness(
            phase=entry["phase"],
            status=entry["status"],
            turn=turn.get("state", ""),
            is_shell=worker.agent == SHELL,
            headless=worker.launch == HEADLESS,
            exit_ok=turn.get("state") == "done" or entry["detail"] == "with status 0",
            in_place=worker.in_place,
            work=bool(files),
        )
        if not files and why and self._was_taken_back(worker):
            why = f"what it did was taken back by a commit; to land it again: ww merge {worker.name}"
        if not why and self._is_as_it_fell_out(worker):
            why = "it fell out of the last queue and has not changed since; name it to try again"
        if why and not is_named:
            self.waiting.append({"name": worker.name, "id": worker.id, "why": why})
            return None
        return Candidate(worker.id, worker.name, age, lines, files)

    def _is_as_it_fell_out(self, worker: Worker) -> bool:
        entry = self.fell_out.get(worker.id)
        landing = landings.find(self.ctx.store, entry.landing) if entry else None
        snapshot = self.snapshots.get(worker.id)
        return bool(landing and snapshot and landing.tip == snapshot.head == snapshot.snapshot)

    def _was_taken_back(self, worker: Worker) -> bool:
        tip = branches.branch_tip(self.ctx.repo.common, worker.worktree.base_branch)
        return bool(tip) and taken_out(self.ctx, worker.id, tip) is not None

    def _work(self, worker: Worker) -> tuple[int, int]:
        """How many files and lines the worker would change in its target, by what it has right now."""
        snapshot = self.snapshots.get(worker.id)
        tree, place = work_tree(self.ctx, worker), worker.worktree
        tip = branches.branch_tip(self.ctx.repo.common, place.base_branch) if place.base_branch else ""
        base = tree.git("merge-base", tip or place.base_commit, "HEAD", ok=(0, 1)).strip() or place.base_commit
        trial = trial_merges(self.ctx, self.project)
        after = snapshot.snapshot if snapshot else tree.head()
        rows = trial.git("diff", "--numstat", "-z", "--no-renames", base, after, "--").text.split("\0")
        counts = [row.split("\t")[:2] for row in rows if "\t" in row]
        return len(counts), sum(int(n) for two in counts for n in two if n.isdecimal())

    def _order(self, candidates: Sequence[Candidate]) -> list[Place]:
        found = forecasts.collisions(self.ctx.store, self.project)
        pairs = [(c.worker, c.other) for c in found if c.other]
        return best_order(candidates, pairs, {c.worker for c in found if not c.other})

    @property
    def in_order(self) -> list[Worker]:
        """The workers in the order in which they should land."""
        return [self.workers[place.candidate.id] for place in self.places]

    def left_over(self) -> list[Worker]:
        """Those that wait in a queue that was cut short, and would not be chosen anew."""
        queues = landing_queues.unfinished(self.ctx.store, self.project)
        entries = [e for queue in queues for e in landing_queues.entries(self.ctx.store, queue.id)]
        ids = [e.worker for e in entries if e.state == landing_queues.WAITING and e.worker not in self.workers]
        return [worker for id in ids if (worker := workers.find(self.ctx.store, id))]


def show_queue(ctx: Context, project: str) -> dict[str, Any]:
    """Who would land in which order and why, who is not ready, who fell out, and whether a queue was cut short."""
    choice = Choice(ctx, project)
    ready = [
        {
            "name": place.candidate.name,
            "id": place.candidate.id,
            "target": choice.workers[place.candidate.id].worktree.base_branch,
            "files": place.candidate.files,
            "lines": place.candidate.size,
            "reason": place.reason,
            "will_merge": place.foreseen,
        }
        for place in choice.places
    ]
    names = {w.id: w.name for w in workers.of_project(ctx.store, project)}
    unfinished = [
        {
            "queue": queue.id,
            "target": queue.target,
            "entries": [
                {"name": names.get(e.worker, e.worker), "state": e.state}
                for e in landing_queues.entries(ctx.store, queue.id)
            ],
        }
        for queue in landing_queues.unfinished(ctx.store, project)
    ]
    dropped = [
        {"name": names.get(e.worker, e.worker), "id": e.worker, "queue": e.queue, "why": e.why, "output": e.output,
         "told": e.told}
        for e in landing_queues.dropped(ctx.store, project)
    ]  # fmt: skip
    return {"ready": ready, "waiting": choice.waiting, "dropped": dropped, "unfinished": unfinished}
