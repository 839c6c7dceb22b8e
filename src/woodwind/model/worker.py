"""A worker: one agent on one task, in its own worktree and terminal."""

from datetime import datetime

from woodwind.model.status import Phase
from woodwind.model.typed import Any, NamedTuple

RECORD_VERSION = 1
SHELL = "shell"  # what `--no-agent` puts where an agent's name would be
HEADLESS = "headless"  # the `launch` of a worker that runs without a terminal
_TEXTS = "id project name title task kind agent model permissions launch folder made_by agent_session".split()
_LATER_TEXTS = ("origin", "url")  # records of before have none
_PLACE = ("path", "branch", "base_branch", "base_commit")
RECORD_KEYS = frozenset((*_TEXTS, *_PLACE, "version", "plan", "in_place", "automated", "created_at"))


class Worktree(NamedTuple):
    """A folder of a worker's, on its branch, and what it was cut from."""

    path: str
    branch: str
    base_branch: str
    base_commit: str


class Worker(NamedTuple):
    """One worker as it was made. Only `name`, `phase`, the worktree's path and its base commit ever change."""

    id: str
    project: str
    name: str
    title: str
    task: str
    kind: str
    agent: str
    model: str
    permissions: str
    launch: str
    folder: str
    plan: bool
    in_place: bool
    automated: bool
    made_by: str
    agent_session: str
    phase: Phase
    created_at: datetime
    worktree: Worktree
    origin: str = ""  # the ticket that it came from, as in `github:7`
    url: str = ""
    untrusted: bool = False  # its base is a stranger's code, of which nothing may be run, installed or believed

    def record(self) -> dict[str, Any]:
        """What is kept in the worktree's git directory, so that the store can be rebuilt."""
        return {
            "version": RECORD_VERSION,
            "id": self.id,
            "project": self.project,
            "name": self.name,
            "title": self.title,
            "task": self.task,
            "kind": self.kind,
            "agent": self.agent,
            "model": self.model,
            "permissions": self.permissions,
            "launch": self.launch,
            "folder": self.folder,
            "plan": self.plan,
            "in_place": self.in_place,
            "automated": self.automated,
            "made_by": self.made_by,
            "agent_session": self.agent_session,
            "created_at": self.created_at.isoformat(),
            "branch": self.worktree.branch,
            "base_branch": self.worktree.base_branch,
            "base_commit": self.worktree.base_commit,
            "path": self.worktree.path,
            "origin": self.origin,
            "url": self.url,
            "untrusted": self.untrusted,
        }

    @classmethod
    def from_record(cls, record: dict[str, Any], *, phase: Phase) -> "Worker":
        """The worker that `record()` described; KeyError, TypeError or ValueError when it is damaged."""
        if record["version"] > RECORD_VERSION:
            raise ValueError(f"record version {record['version']} is newer than {RECORD_VERSION}")
        created = datetime.fromisoformat(record["created_at"])
        if created.tzinfo is None:
            raise ValueError("created_at has no time zone")
        return cls(
            **{name: _text(record, name) for name in _TEXTS},
            plan=bool(record["plan"]),
            in_place=bool(record["in_place"]),
            automated=bool(record["automated"]),
            phase=phase,
            created_at=created,
            worktree=Worktree(*(_text(record, k) for k in _PLACE)),
            **{name: _text(record, name) for name in _LATER_TEXTS if name in record},
            untrusted=bool(record.get("untrusted", False)),
        )


def _text(record: dict[str, Any], key: str) -> str:
    value = record[key]
    if not isinstance(value, str):
        raise TypeError(f"{key} is not text")
    return value
