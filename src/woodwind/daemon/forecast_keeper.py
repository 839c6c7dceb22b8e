"""Keeps forecasts fresh while agents work, and tells agents between their turns what concerns them."""

import os
import time

from woodwind.model.errors import WoodwindError
from woodwind.ops.context import Context
from woodwind.ops.forecast import refresh_some
from woodwind.ops.foretell import tell
from woodwind.ops.tell_dropped import tell_dropped
from woodwind.store import events, forecasts

# Our own events would keep us awake for ever.
_OURS = "forecast."
# A look may take this part of the time, after an event and without one; and so many seconds pass at least.
_SHARE_AFTER_EVENT, _LEAST_AFTER_EVENT = 1 / 100, 3.0
_SHARE_UNASKED, _LEAST_UNASKED = 1 / 1000, 60.0
# Per look: many workers to whom something happened, or who are seen for the first time, must not keep the machine busy.
_WORKERS, _SNAPSHOTS = 25, 8


class ForecastKeeper:
    """Looks at the projects whose workers may have changed something."""

    name = "forecast"

    def __init__(self) -> None:
        self._seq = -1
        self._due: dict[str, float] = {}
        self._soonest: dict[str, float] = {}
        self._changed: dict[str, dict[str, None]] = {}  # by project, those who have waited longest first

    def tick(self, ctx: Context) -> float | None:
        """Look at the projects that are due."""
        places = forecasts.live_projects(ctx.store)
        self._due = {project: self._due.get(project, 0.0) for project in places}
        self._hear(ctx)
        for project, git_dir in places.items():
            now, soonest = time.monotonic(), self._soonest.get(project, 0.0)
            if self._due[project] <= now:
                self._changed.pop(project, None)
                self._look(ctx, project, git_dir, None)
            elif self._changed.get(project) and soonest <= now:
                self._look(ctx, project, git_dir, self._some(project))
        waits = [self._soonest.get(p, 0.0) if self._changed.get(p) else due for p, due in self._due.items()]
        return max(0.1, min(waits) - time.monotonic()) if waits else None

    def busy(self, ctx: Context) -> bool:
        """Never: whoever asks for a forecast gets one without the daemon too."""
        return False

    def _hear(self, ctx: Context) -> None:
        """Note the workers to whom something happened since the last time."""
        if self._seq < 0:
            self._seq = events.newest(ctx.store)
            return
        found = events.since(ctx.store, self._seq)
        self._seq = found[-1].seq if found else min(self._seq, events.newest(ctx.store))
        for row in found:
            if row.worker and not row.kind.startswith(_OURS):
                self._changed.setdefault(row.project, {})[row.worker] = None

    def _some(self, project: str) -> set[str]:
        """Those who have waited longest, as many as a look may be about; they wait no longer."""
        waiting = self._changed[project]
        some = list(waiting)[:_WORKERS]
        for worker in some:
            del waiting[worker]
        return set(some)

    def _look(self, ctx: Context, project: str, git_dir: str, some: set[str] | None) -> None:
        """Look at some workers of a project, or at all of them."""
        began = time.monotonic()
        there = Context(os.path.dirname(git_dir) if os.path.basename(git_dir) == ".git" else git_dir, ctx.environ)
        there.store = ctx.store
        left: set[str] = set()
        try:
            left = refresh_some(there, project, some, _SNAPSHOTS)
            tell_dropped(there, project)
            tell(there, project)
        except WoodwindError:
            pass  # a repository that is gone or locked: the next look may find it well
        now = time.monotonic()
        self._soonest[project] = now + max(_LEAST_AFTER_EVENT, (now - began) / _SHARE_AFTER_EVENT)
        if some is None:
            self._due[project] = now + max(_LEAST_UNASKED, (now - began) / _SHARE_UNASKED)
        self._changed.setdefault(project, {}).update(dict.fromkeys(sorted(left)))
