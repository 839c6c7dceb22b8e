"""`ww forecast`: which workers collide with each other and with their target, as their files are right now."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from woodwind.base import paths
from woodwind.base.files import locked
from woodwind.git import worktrees
from woodwind.git.footprint import RefFiles, footprint, stamp
from woodwind.git.forecasting import CommitFacts, TrialMerges
from woodwind.model.errors import NotFound
from woodwind.model.forecast import Histories, Trial, swapped
from woodwind.model.status import Phase
from woodwind.model.worker import Worker
from woodwind.ops.context import Context
from woodwind.store import events, forecasts, landings, workers
from woodwind.store.forecasts import Collision, SnapshotRow

_LIVE = (Phase.RUNNING, Phase.PAUSED, Phase.LANDING, Phase.LANDED)


class Pair(NamedTuple):
    """Two sides that are compared: a worker, and an older one or (`other` is "") its target branch."""

    worker: str
    other: str
    target: str


class Side(NamedTuple):
    """What one side of a comparison has: its commit in the user's repository, the tree, and a commit of that tree."""

    head: str
    tree: str
    snapshot: str


def trial_merges(ctx: Context, project: str) -> TrialMerges:
    """The private repository in which the project's workers are merged on trial."""
    return TrialMerges(os.path.join(paths.state_dir(), "forecasts", project), ctx.repo.common)


def refresh(ctx: Context, project: str) -> list[Pair]:
    """Bring the project's forecast up to date; the pairs that could not be compared.

    Where nothing changed since the last time, no process is started.
    """
    with locked(paths.lock_file(f"forecast.{project}")):
        return _Refresh(ctx, project).run()


def refresh_some(ctx: Context, project: str, workers: Collection[str] | None, most: int) -> set[str]:
    """Look at these workers (None: all) and take at most so many snapshots; the workers of whom one is still to take.

    All others are taken as they were last seen.
    """
    with locked(paths.lock_file(f"forecast.{project}")):
        work = _Refresh(ctx, project, only=workers, most=most)
        work.run()
        return work.left


def snapshot_now(ctx: Context, worker: Worker) -> str:
    """A commit of all that a worker has right now, in the private repository."""
    with locked(paths.lock_file(f"forecast.{worker.project}")):
        return _Refresh(ctx, worker.project, only=[worker.id]).snapshot(worker)


class _Refresh:
    def __init__(
        self, ctx: Context, project: str, *, only: Collection[str] | None = None, most: int | None = None
    ) -> None:
        self.only = only
        self.most = most
        self.left: set[str] = set()  # the workers of whom no snapshot could be taken because of `most`
        self.ctx = ctx
        self.project = project
        self.refs = RefFiles(ctx.repo.common)
        self.merges = trial_merges(ctx, project)
        self.admins = worktrees.admins_of_workers(ctx.repo.common) if only is None else None
        self.targets_of: dict[str, str] = {}
        self.known = forecasts.snapshots(ctx.store, project)
        self.workers = [w for w in workers.of_project(ctx.store, project) if w.phase in _LIVE]

    def run(self) -> list[Pair]:
        looked = [(w, self._look(w)) for w in self.workers]
        present = self._as_many([(w, row) for w, row in looked if row])
        changed = {w.id for w, row in present if row != self.known.get(w.id)}
        seen = {w.id for w, _ in present}
        gone = [c for c in forecasts.collisions(self.ctx.store, self.project) if not {c.worker, c.other} - {""} <= seen]
        if not changed and not gone:
            return []
        if changed and self.merges.is_too_large():
            self.merges.clear()
            present = [(w, row._replace(tree="")) for w, row in present]
            changed = seen
        rows, facts = self._take([w for w, row in present if w.id in changed], {w.id: row for w, row in present})
        sides, pairs = self._sides(present, changed, rows, facts)
        found, unknown = self._compare(pairs, sides)
        self._keep(rows, found, gone)
        return unknown

    def _as_many(self, present: list[tuple[Worker, SnapshotRow]]) -> list[tuple[Worker, SnapshotRow]]:
        """The same with at most `most` that need a snapshot: of the others, what was known, or nothing yet."""
        stale = [w.id for w, row in present if not row.tree or not self._same_files(row)]
        later = self.left = set(stale[self.most :]) if self.most is not None else set()
        known = [(w, self.known.get(w.id) if w.id in later else row) for w, row in present]
        return [(w, row) for w, row in known if row and (row.tree or w.id not in later)]

    def snapshot(self, worker: Worker) -> str:
        row = self._look(worker)
        if row is None:
            raise NotFound(f"the folder of {worker.name} is gone: {worker.worktree.path}", code="no_folder")
        taken, _ = self._take([worker], {worker.id: row})
        return taken[worker.id].snapshot

    def _look(self, worker: Worker) -> SnapshotRow | None:
        """What the worker has now, its tree as it was known; None when its folder is gone, or it was never seen."""
        known = self.known.get(worker.id)
        if self.only is not None and worker.id not in self.only:
            return known._replace(target=self._target(worker)) if known and known.tree else None
        admin, path = self._place(worker)
        if not admin:
            return None
        before = known or SnapshotRow(worker.id, "", "", (), "", "", "", "")
        head, target = self.refs.head(admin), self._target(worker)
        seed = stamp(os.path.join(admin, "index"))
        mark = footprint(path, admin, head, frozenset(before.ignored))
        if (mark, seed, head) == (before.mark, before.seed, before.head):
            return before._replace(target=target)
        return before._replace(mark=mark, seed=seed, head=head, target=target)

    def _target(self, worker: Worker) -> str:
        """The commit that the worker's target branch is at; read once, because most have the same."""
        base = worker.worktree.base_branch
        if base and base not in self.targets_of:
            self.targets_of[base] = self.refs.branch(base)
        return self.targets_of.get(base, "")

    def _place(self, worker: Worker) -> tuple[str, str]:
        if self.admins is None:
            admin = worktrees.admin_of_worker(self.ctx.repo.common, worker.id)
        else:
            admin = self.admins.get(worker.id, "")
        path = worker.worktree.path if worker.in_place else worktrees.path_of(admin) if admin else ""
        return (admin, path) if path and os.path.isdir(path) and worktrees.is_at(admin, path) else ("", "")

    def _take(
        self, changed: Sequence[Worker], looked: Mapping[str, SnapshotRow]
    ) -> tuple[dict[str, SnapshotRow], dict[str, CommitFacts]]:
        """Snapshots of the workers that changed, and what is to be known about heads and targets."""
        if not changed:
            return {}, {}
        self.merges.prepare()
        stale = [w for w in changed if not looked[w.id].tree or not self._same_files(looked[w.id])]
        heads, targets = {looked[w.id].head for w in stale}, {row.target for row in looked.values()}
        facts = self.merges.facts(sorted((heads | targets) - {""}))
        taken = {w.id: looked[w.id] for w in changed}
        taken |= {w.id: self._snapshot(w, looked[w.id], facts.get(looked[w.id].head)) for w in stale}
        return taken, facts

    def _same_files(self, row: SnapshotRow) -> bool:
        before = self.known.get(row.worker)
        return before is not None and row._replace(target=before.target) == before

    def _snapshot(self, worker: Worker, row: SnapshotRow, head: CommitFacts | None) -> SnapshotRow:
        admin, path = self._place(worker)
        before = self.known.get(worker.id)
        if not before or before.seed != row.seed or not row.tree:
            self.merges.seed(worker.id, admin)
        got = self.merges.snapshot(worker.id, path, head)
        # The folders that need no look may be others now; a change since the first look shows at the next one.
        mark = row.mark if got.ignored == row.ignored else footprint(path, admin, row.head, frozenset(got.ignored))
        return row._replace(mark=mark, ignored=got.ignored, tree=got.tree, snapshot=got.commit)

    def _sides(
        self,
        present: Sequence[tuple[Worker, SnapshotRow]],
        changed: Collection[str],
        rows: Mapping[str, SnapshotRow],
        facts: Mapping[str, CommitFacts],
    ) -> tuple[dict[str, Side], list[Pair]]:
        """Every side by worker or target commit, and each pair in which one has changed, the younger worker first."""
        current = [(w, rows.get(w.id, row)) for w, row in present]
        sides = {w.id: Side(row.head, row.tree, row.snapshot) for w, row in current}
        sides |= {row.target: Side(f.commit, f.tree, f.commit) for _, row in current if (f := facts.get(row.target))}
        place = {w.id: n for n, (w, _) in enumerate(current)}
        anew = [(w, row) for w, row in current if w.id in changed]
        pairs = [Pair(w.id, "", w.worktree.base_branch) for w, row in anew if row.target in sides]
        for n, (younger, _) in enumerate(current):
            olders = current[:n] if younger.id in changed else [(w, row) for w, row in anew if place[w.id] < n]
            pairs += [Pair(younger.id, older.id, "") for older, _ in olders]
        self.targets = {w.id: row.target for w, row in current}
        self.through = {w.id for w, row in current if w.phase == Phase.LANDED and row.snapshot == self._landed(w)}
        return sides, pairs

    def _landed(self, worker: Worker) -> str:
        """What a worker that was kept after its landing had then: with nothing since, it collides with nobody."""
        done = [one for one in landings.of_worker(self.ctx.store, worker.id) if one.state == "done"]
        return next((one.tip for one in done if one.kind == "land"), "")

    def _compare(
        self, pairs: Sequence[Pair], sides: Mapping[str, Side]
    ) -> tuple[dict[Pair, list[dict[str, Any]]], list[Pair]]:
        """What collides in each pair, and the pairs that git could not merge even on trial."""
        if not pairs:
            return {}, []
        both = {p: (sides[p.worker], sides[p.other or self.targets[p.worker]]) for p in pairs}
        bases = self._bases({(one.head, other.head) for one, other in both.values()})
        keys = {pair: (bases[one.head, other.head], one.tree, other.tree) for pair, (one, other) in both.items()}
        # One that has nothing of its own since the two parted cannot collide.
        idle: dict[Pair, list[dict[str, Any]]] = {
            p: []
            for p, (one, other) in both.items()
            if keys[p][0] in (one.snapshot, other.snapshot) or {p.worker, p.other} & self.through
        }
        pairs = [pair for pair in pairs if pair not in idle]
        keys = {pair: keys[pair] for pair in pairs}
        found = forecasts.known_merges(self.ctx.store, self.project, list(dict.fromkeys(keys.values())))
        missing = {keys[p]: Trial(both[p][0].snapshot, both[p][1].snapshot) for p in pairs if keys[p] not in found}
        answers = self.merges.merge(list(missing.values()))
        new = {
            key: [c.data() for c in answer] for key, answer in zip(missing, answers, strict=True) if answer is not None
        }
        if new:
            with self.ctx.store.transaction() as db:
                forecasts.keep_merges(db, self.project, new)
        found |= new
        known = {p: found[keys[p]] for p in pairs if keys[p] in found}
        return idle | known, [p for p in pairs if p not in known]

    def _bases(self, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Where the histories of each two commits parted; git is asked only about those that are new."""
        found = forecasts.known_bases(self.ctx.store, self.project, pairs)
        missing = [pair for pair in pairs if pair not in found]
        if missing:
            histories = Histories(*self.merges.graph([commit for pair in missing for commit in pair if commit]))
            new = {pair: " ".join(histories.bases(*pair)) for pair in missing}
            with self.ctx.store.transaction() as db:
                forecasts.keep_bases(db, self.project, new)
            found |= new
        return found

    def _keep(
        self, rows: Mapping[str, SnapshotRow], found: Mapping[Pair, list[dict[str, Any]]], gone: Sequence[Collision]
    ) -> None:
        """Write it all down at once, with an event for each collision that is new or over."""
        before = {(c.worker, c.other, c.target): c for c in forecasts.collisions(self.ctx.store, self.project)}
        with self.ctx.store.transaction() as db:
            forecasts.keep_snapshots(db, rows.values())
            over = [Pair(c.worker, c.other, c.target) for c in gone] + [p for p, files in found.items() if not files]
            for pair in over:
                if forecasts.drop_collision(db, *pair):
                    self._tell(db, pair, "forecast.cleared", {})
            for pair, files in found.items():
                if not files:
                    continue
                forecasts.put_collision(db, self.project, *pair, files)
                if tuple(pair) not in before:
                    self._tell(db, pair, "forecast.appeared", {"files": [f["path"] for f in files]})

    def _tell(self, db: Any, pair: Pair, kind: str, data: dict[str, Any]) -> None:
        names = {w.id: w.name for w in self.workers}
        told = {"with": names.get(pair.other, pair.other) if pair.other else pair.target, "other": pair.other, **data}
        events.append(db, project=self.project, worker=pair.worker, kind=kind, data=told)


def forecast(ctx: Context, project: str, worker: Worker | None = None) -> dict[str, Any]:
    """Every collision of the project, or of one worker, from files that were looked at just now."""
    unknown = refresh(ctx, project)
    names = {w.id: w.name for w in workers.of_project(ctx.store, project)}
    entries = []
    for c in forecasts.collisions(ctx.store, project):
        if c.worker not in names or (worker and worker.id not in (c.worker, c.other)):
            continue
        mine_first = not worker or worker.id == c.worker
        one, other = (c.worker, c.other) if mine_first else (c.other, c.worker)
        entries.append(
            {
                "name": names[one],
                "id": one,
                "with": names.get(other, other) if other else c.target,
                "with_id": other,
                "target": c.target,
                "files": c.files if mine_first else swapped(c.files),
                "since": c.appeared_at,
                "told": c.told,
            }
        )
    return {
        "workers": len(names),
        "collisions": entries,
        "unknown": [{"name": names.get(p.worker, ""), "with": names.get(p.other, "") or p.target} for p in unknown],
    }
