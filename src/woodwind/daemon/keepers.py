"""What has to be done while nobody types: each keeper is called after events and when its time has come.

Keepers hold no rules of their own: they call ops.
"""

from collections.abc import Callable
from typing import Protocol

from woodwind.daemon.forecast_keeper import ForecastKeeper
from woodwind.daemon.hook_keeper import HookKeeper
from woodwind.daemon.run_keeper import RunKeeper
from woodwind.ops.context import Context
from woodwind.ops.notify import hand_out, take_events
from woodwind.ops.queue import start_waiting
from woodwind.store import outbox, workers


class Keeper(Protocol):
    """Something that the daemon sees to, in a thread of its own, one call at a time."""

    name: str

    def tick(self, ctx: Context) -> float | None:
        """Do what is due; in how many seconds to call again without any event, None for only after one."""
        ...

    def busy(self, ctx: Context) -> bool:
        """Whether the daemon has to stay for it."""
        ...


class WaitingWorkers:
    """Starts workers that wait for room under [limits], as there is room for them."""

    name = "waiting workers"

    def tick(self, ctx: Context) -> float | None:
        start_waiting(ctx)
        # Memory may become free, or a limit be raised, without any event.
        return 5.0 if self.busy(ctx) else None

    def busy(self, ctx: Context) -> bool:
        return bool(workers.queued(ctx.store))


class Notices:
    """Tells people what happens, from the outbox."""

    name = "notices"

    def tick(self, ctx: Context) -> float | None:
        take_events(ctx)
        for problem in hand_out(ctx):
            ctx.say(problem)
        return 30.0 if self.busy(ctx) else None

    def busy(self, ctx: Context) -> bool:
        return bool(outbox.waiting(ctx.store))


KEEPERS: list[Callable[[], Keeper]] = [
    WaitingWorkers,
    Notices,
    ForecastKeeper,
    RunKeeper,
    HookKeeper,
]
