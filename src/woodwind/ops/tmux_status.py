"""The segment of tmux's status line: how many need a person, over all projects. tmux asks every few seconds."""

from woodwind.model.status import Status
from woodwind.ops.context import Context
from woodwind.ops.listing import list_workers

# Words of our own only: tmux would interpret what is printed here.
_SHOWN = ((Status.ASKING, "ask"), (Status.READY, "ready"), (Status.WORKING, "work"))


def segment(ctx: Context) -> str:
    """Such as `ww 1 ask 2 ready 3 work`; "" when there are no workers."""
    statuses = [entry["status"] for entry in list_workers(ctx, everywhere=True).data]
    if not statuses:
        return ""
    told = [f"{count} {word}" for status, word in _SHOWN if (count := statuses.count(status))]
    return "ww " + (" ".join(told) or "idle")
