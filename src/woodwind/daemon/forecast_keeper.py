"""Keeps forecasts fresh while agents work: after what they tell, and now and then by a look at their files."""

import os
import time

from woodwind.model.errors import WoodwindError
from woodwind.ops.context import Context
from woodwind.ops.forecast import refresh
from woodwind.ops.foretell import tell
from woodwind.store import events, forecasts

# Our own events would keep us awake for ever.
_OURS = "forecast."
# A look may take this part of the time, after an event and without one; and so many seconds pass at least.
_SHARE_AFTER_EVENT, _LEAST_AFTER_EVENT = 1 / 20, 3.0
_SHARE_UNASKED, _LEAST_UNASKED = 1 / 500, 60.0


class ForecastKeeper:
    """Looks at the projects whose workers may have changed something."""

    name = "forecast"

    def __init__(self) -> None:
        self._seq = -1
        self._due: dict[str, float] = {}
        self._soonest: dict[str, float] = {}

    def tick(self, ctx: Context) -> float | None:
        """Look at the projects that are due."""
        places = forecasts.live_projects(ctx.store)
        self._due = {project: self._due.get(project, 0.0) for project in places}
        for project in self._news(ctx) & set(places):
            self._due[project] = min(self._due[project], self._soonest.get(project, 0.0))
        for project, git_dir in places.items():
            if self._due[project] <= time.monotonic():
                self._look(ctx, project, git_dir)
        return max(0.1, min(self._due.values()) - time.monotonic()) if self._due else None

    def busy(self, ctx: Context) -> bool:
        """Never: whoever asks for a forecast gets one without the daemon too."""
        return False

    def _news(self, ctx: Context) -> set[str]:
        """The projects in which something happened since the last time."""
        if self._seq < 0:
            self._seq = events.newest(ctx.store)
            return set()
        found = events.since(ctx.store, self._seq)
        self._seq = found[-1].seq if found else min(self._seq, events.newest(ctx.store))
        return {row.project for row in found if not row.kind.startswith(_OURS)}

    def _look(self, ctx: Context, project: str, git_dir: str) -> None:
        began = time.monotonic()
        there = Context(os.path.dirname(git_dir) if os.path.basename(git_dir) == ".git" else git_dir, ctx.environ)
        there.store = ctx.store
        try:
            refresh(there, project)
            tell(there, project)
        except WoodwindError:
            pass  # a repository that is gone or locked: the next look may find it well
        now = time.monotonic()
        self._soonest[project] = now + max(_LEAST_AFTER_EVENT, (now - began) / _SHARE_AFTER_EVENT)
        self._due[project] = now + max(_LEAST_UNASKED, (now - began) / _SHARE_UNASKED)
