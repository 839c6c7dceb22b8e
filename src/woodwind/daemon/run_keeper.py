"""The keeper of runs: looks at each, lets the scheduler decide, and has its decisions carried out in threads."""

import contextlib
import threading
import time
from collections.abc import Mapping

from woodwind.model.decisions import due, next_time
from woodwind.model.errors import WoodwindError
from woodwind.model.run import Decision, Happened, State, Verb, What
from woodwind.ops.context import Context
from woodwind.ops.observe import observe
from woodwind.ops.run import halt
from woodwind.ops.run_state import Known, change, place_of, read
from woodwind.ops.run_step import perform
from woodwind.ops.run_watch import look
from woodwind.store import runs

# So many of a run's decisions are carried out at once: git and tmux have their own queues.
_MOST_LANDING = 2
_MOST = 6
_WHILE_FLYING = 0.2
_WHILE_HELD = 1.0
# A run that waits for its agents is looked at now and then, though their events wake it at once.
_BACKSTOP = 5.0


class RunKeeper:
    """Drives all runs that are under way. It knows nothing that is not in the store."""

    name = "runs"

    def __init__(self) -> None:
        self._known: dict[str, Known] = {}
        self._flying: set[tuple[str, Decision]] = set()
        self._guard = threading.Lock()
        self._observed = 0.0

    def busy(self, ctx: Context) -> bool:
        return bool(self._flying) or bool(runs.listed(ctx.store, live=True))

    def tick(self, ctx: Context) -> float | None:
        live = runs.listed(ctx.store, live=True)
        with self._guard:
            for gone in set(self._known) - {row.id for row in live}:
                del self._known[gone]
        waits = [self._advance(ctx, row.id) for row in live]
        if self._flying:
            waits.append(_WHILE_FLYING)
        return min((wait for wait in waits if wait is not None), default=None)

    def _advance(self, ctx: Context, run: str) -> float | None:
        known = read(ctx.store, run, self._known.get(run))
        self._observe(ctx, known)
        with place_of(known.row, ctx.environ, ctx.store) as there:
            heard = look(there, known.row, known.run)
        known, decisions = change(ctx.store, run, heard, known=known, seen=True)
        self._remember(known)
        for decision in self._room_for(run, decisions):
            thread = threading.Thread(target=self._drive, args=(run, decision, ctx.environ), daemon=True)
            thread.start()
        return self._wait(known)

    def _remember(self, known: Known) -> None:
        """A run of many tasks is read whole only where somebody else has changed it."""
        with self._guard:
            before = self._known.get(known.row.id)
            if before is None or before.row.revision < known.row.revision:
                self._known[known.row.id] = known

    def _observe(self, ctx: Context, known: Known) -> None:
        """What the daemon's watches may have missed is looked at again, now and then."""
        if time.monotonic() - self._observed < _BACKSTOP:
            return
        self._observed = time.monotonic()
        waiting = [task.worker for task in known.run.tasks.values() if task.state is State.WORKING]
        if waiting:
            observe(ctx, waiting)

    def _wait(self, known: Known) -> float | None:
        now = time.time() * 1000
        then = next_time(known.run, int(now))
        if any(task.attached for task in known.run.tasks.values()):
            return _WHILE_HELD
        return max(0.02, min(_BACKSTOP, (then - now) / 1000)) if then else _BACKSTOP

    def _room_for(self, run: str, decisions: list[Decision]) -> list[Decision]:
        """Those of the decisions that are not being carried out yet, as many as there is room for."""
        chosen = []
        with self._guard:
            mine = [decision for owner, decision in self._flying if owner == run]
            landing = sum(decision.verb is Verb.LAND for decision in mine)
            others = len(mine) - landing
            for decision in decisions:
                if (run, decision) in self._flying:
                    continue
                if decision.verb is Verb.LAND:
                    if landing >= _MOST_LANDING:
                        continue
                    landing += 1
                elif decision.verb is not Verb.PAUSE:
                    if others >= _MOST:
                        continue
                    others += 1
                self._flying.add((run, decision))
                chosen.append(decision)
        return chosen

    def _drive(self, run: str, decision: Decision, environ: Mapping[str, str]) -> None:
        """Carry a decision out, and what follows for the same task at once."""
        while True:
            after = None
            try:
                after = self._once(run, decision, environ)
            finally:
                with self._guard:
                    self._flying.discard((run, decision))
                    if after and (run, after) not in self._flying and after.verb is not Verb.LAND:
                        self._flying.add((run, after))
                    else:
                        after = None
            if after is None:
                return
            decision = after

    def _once(self, run: str, decision: Decision, environ: Mapping[str, str]) -> Decision | None:
        anywhere = Context("/", environ)
        with contextlib.closing(anywhere):
            known = read(anywhere.store, run, self._known.get(run))
            if decision not in due(known.run, int(time.time() * 1000)):
                return None  # stopped meanwhile, or settled otherwise
            try:
                with place_of(known.row, environ) as ctx:
                    heard, specs = perform(ctx, known.row, known.run, decision)
            except WoodwindError as error:
                heard, specs = [_put_off(decision, error.message)], {}
            except Exception as error:  # noqa: BLE001 - a bug in one task must not end the run: it is put off, and told
                heard, specs = [_put_off(decision, f"{type(error).__name__}: {error}")], {}
            after, decisions = change(anywhere.store, run, heard, known=self._known.get(run), specs=specs)
            self._remember(after)
            if after.run.state == "stopped":
                with contextlib.suppress(WoodwindError), place_of(after.row, environ) as ctx:
                    halt(ctx, after.run)  # what was begun while it was being stopped
        return next((other for other in decisions if decision.task and other.task == decision.task), None)


def _put_off(decision: Decision, why: str) -> Happened:
    return Happened(What.LATER, decision.task, decision.delivery, group=decision.group, text=why)
