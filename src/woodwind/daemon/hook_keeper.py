"""The keeper of lifecycle hooks: runs the user's commands for events, in order."""

from woodwind.ops.context import Context
from woodwind.ops.lifecycle_hooks import fire
from woodwind.store import events


class HookKeeper:
    """Reads along with the events. What is not fired yet is found again by the next daemon."""

    name = "hooks"

    def __init__(self) -> None:
        self._seq = 0
        self._silent: dict[str, tuple[object, ...]] = {}

    def tick(self, ctx: Context) -> float | None:
        self._seq = fire(ctx, self._seq, self._silent)
        return 0.01 if self.busy(ctx) else None

    def busy(self, ctx: Context) -> bool:
        return self._seq < events.newest(ctx.store)
