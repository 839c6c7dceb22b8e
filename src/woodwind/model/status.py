"""What an agent is doing now, derived from evidence and never stored."""

from enum import StrEnum


class Status(StrEnum):
    """What the agent is doing, as far as it is known."""

    STARTING = "starting"
    WORKING = "working"
    ASKING = "asking"
    READY = "ready"
    EXITED = "exited"
    UNKNOWN = "unknown"


class Phase(StrEnum):
    """What Woodwind did with a worker."""

    CREATING = "creating"
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    LANDING = "landing"
    LANDED = "landed"
    REMOVED = "removed"


def from_process(*, found: bool, dead: bool, exit_status: str, same_process: bool) -> tuple[Status, str] | None:
    """The status that the terminal's process alone proves, with its reason; None when it proves nothing."""
    if not found:
        return Status.EXITED, "its terminal is gone"
    if dead and same_process and not exit_status:
        return Status.UNKNOWN, "its terminal is closed, and its program has not ended yet"
    if dead:
        return Status.EXITED, f"with {exit_status}" if exit_status else "status not known"
    if not same_process:
        return Status.UNKNOWN, "another program runs in its terminal"
    return None
