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


KINDS = (
    "landing.done",
    "landing.undone",
    "landing.failed",
    "worker.removed",
    "worker.not_started",
    "worker.adopted",
    "run.finished",
    "run.stopped",
    "hook.failed",
    "forecast.appeared",
)


def notice_of(event: Happened, worker: str) -> Notice | None:
    """The line for an event; None for one that is no news in the background."""
    data, who = event.data, worker or "a worker"
    words, detail, undo = "", "", ""
    if event.kind == "landing.done":
        commits = data.get("commits", 0)
        words, undo = f"{who} landed in {data.get('target', '')}", str(data.get("landing", ""))
        detail = (
            f"{commits} commit{'' if commits == 1 else 's'}, {'verified' if data.get('verified') else 'UNVERIFIED'}"
        )
    elif event.kind == "landing.undone":
        words = f"the landing of {who} in {data.get('target', 'its target')} was taken back"
    elif event.kind == "landing.failed":
        words, detail = f"{who} did not land in {data.get('target', '')}", str(data.get("why", ""))
    elif event.kind == "worker.removed":
        words, undo = f"{who} was removed", str(data.get("removal", ""))
        detail = "parked whole in the trash" if data.get("trash") else ""
    elif event.kind == "worker.not_started":
        words, detail = f"{who} could not be started", str(data.get("error", ""))
    elif event.kind == "worker.adopted":
        words = f"{who} was found again"
    elif event.kind in ("run.finished", "run.stopped"):
        words, detail = f"run {data.get('run', '')} {event.kind.partition('.')[2]}", str(data.get("summary", ""))
    elif event.kind == "hook.failed":
        words, detail = f"the hook on {data.get('event', 'an event')} failed", str(data.get("why", ""))
    elif event.kind == "forecast.appeared":
        words, detail = f"{who} collides with {data.get('with', 'another')}", ", ".join(map(str, data.get("files", [])))
    if not words:
        return None
    return Notice(f"event {event.seq}", event.at / 1000, one_line(words, 200), one_line(detail, 300), undo)
