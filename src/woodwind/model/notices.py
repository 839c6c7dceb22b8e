"""What happened in the background, told in a line each: from events to notices, purely."""

from typing import Any, Protocol

from woodwind.model.sections import Notice
from woodwind.model.text import one_line


class Happened(Protocol):
    """An event as the store has it."""

    @property
    def seq(self) -> int: ...

    @property
    def at(self) -> int: ...

    @property
    def kind(self) -> str: ...

    @property
    def data(self) -> dict[str, Any]: ...


# What a worker's own row tells (that it did not land, that it collides) is no news here.
KINDS = (
    "landing.done",
    "landing.undone",
    "pr.opened",
    "worker.removed",
    "worker.purged",
    "worker.not_started",
    "worker.adopted",
    "environment.prepared",
    "run.finished",
    "run.stopped",
    "run.paused",
    "hook.failed",
)


def notice_of(event: Happened, worker: str) -> Notice | None:
    """The line for an event; None for one that is no news in the background."""
    data = event.data
    who = worker or str(data.get("branch") or "a worker")  # a run lands a branch that is no worker's
    words, detail, undo = "", "", ""
    if event.kind == "landing.done":
        commits = data.get("commits", 0)
        words, undo = f"{who} landed in {data.get('target', '')}", str(data.get("landing", ""))
        detail = (
            f"{commits} commit{'' if commits == 1 else 's'}, {'verified' if data.get('verified') else 'UNVERIFIED'}"
        )
    elif event.kind == "landing.undone":
        words = f"the landing of {who} in {data.get('target', 'its target')} was taken back"
    elif event.kind == "pr.opened":
        words, detail = f"{who} has a pull request", str(data.get("url", ""))
    elif event.kind == "worker.removed":
        words, undo = f"{who} was removed", str(data.get("removal", ""))
        detail = "parked whole in the trash" if data.get("trash") else ""
    elif event.kind == "worker.purged":
        words, detail = f"{who} left the trash", f"what is left of it is in {data.get('saved', 'its saved ref')}"
    elif event.kind == "worker.not_started":
        words, detail = f"{who} could not be started", str(data.get("error", ""))
    elif event.kind == "worker.adopted":
        words = f"{who} was found again"
    elif event.kind == "environment.prepared" and data.get("state") == "failed":
        words, detail = f"the environment of {who} is not ready", str(data.get("detail", ""))
    elif event.kind.startswith("run."):
        words = f"run {data.get('run', '')} {event.kind.partition('.')[2]}"
        detail = " · ".join(filter(None, (_tasks(data.get("tasks")), str(data.get("why") or ""))))
    elif event.kind == "hook.failed":
        words, detail = f"the hook on {data.get('event', 'an event')} failed", str(data.get("why", ""))
    if not words:
        return None
    return Notice(f"event {event.seq}", event.at / 1000, one_line(words, 200), one_line(detail, 300), undo)


def _tasks(counts: object) -> str:
    """How many tasks of a run are in each state."""
    if not isinstance(counts, dict):
        return ""
    return ", ".join(f"{number} {str(state).replace('_', ' ')}" for state, number in counts.items())
