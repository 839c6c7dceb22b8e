"""The control plane's rows: who is in which section, why, and what can be done about it. From facts to rows, purely."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from woodwind.model.status import Phase, Status
from woodwind.model.text import one_line
from woodwind.model.worker import HEADLESS, SHELL

Entry = Mapping[str, Any]  # one worker as `ww ls --json` has it, with `work` where it is known

# Phases in which an agent is there to be looked after.
_ALIVE = (Phase.RUNNING, Phase.LANDED)
# An agent of which nothing is known for so long needs a look.
UNKNOWN_TOO_LONG = 120.0


class Section(StrEnum):
    """The sections in order of urgency."""

    NEEDS_YOU = "NEEDS YOU"
    READY_TO_SHIP = "READY TO SHIP"
    IN_FLIGHT = "IN FLIGHT"
    BACKGROUND = "BACKGROUND"


class Verb(StrEnum):
    """What can be done with a row."""

    ATTACH = "attach"
    ANSWER = "answer"
    FIX = "fix"
    SHIP = "ship"
    REVIEW = "review"
    MERGE = "merge"
    SEND = "send"
    PAUSE = "pause"
    RESUME = "resume"
    EXPLAIN = "explain"
    REMOVE = "remove"
    UNDO = "undo"
    DISMISS = "dismiss"


class Notice(NamedTuple):
    """Something that happened in the background, and may be taken back or put away."""

    key: str
    at: float  # seconds since 1970
    words: str
    detail: str
    undo: str = ""  # what `ww undo` calls it; "" where there is nothing to take back
    project: str = ""


class Row(NamedTuple):
    """One line of the control plane."""

    key: str  # the worker's id or the notice's key: what a selection holds on to
    section: Section
    name: str
    state: str  # a word or two
    since: float  # seconds since 1970; 0 where it is not known
    detail: str  # why it is here, what it asks, says or has made
    verbs: tuple[Verb, ...]  # the first is what Enter does
    project: str = ""


def rows(workers: Sequence[Entry], notices: Sequence[Notice], *, now: float, order: Sequence[str] = ()) -> list[Row]:
    """All rows in the order in which they are shown; every worker is in exactly one of them.

    `order` has the ids of workers that are ready, in the order in which they had best be landed.
    """
    return Rows().of(workers, notices, now=now, order=order)


class Rows:
    """Makes rows again and again, that of a worker only where something about it is new."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[Entry, bool, Row]] = {}

    def of(
        self, workers: Sequence[Entry], notices: Sequence[Notice], *, now: float, order: Sequence[str] = ()
    ) -> list[Row]:
        """All rows, as `rows` has them."""
        before, self._made = self._made, {}
        placed: dict[Section, list[Row]] = {section: [] for section in Section}
        for worker in workers:
            lost = _is_lost(worker, now)  # all that time alone changes
            known = before.get(worker["id"])
            row = known[2] if known and known[:2] == (worker, lost) else _row(worker, now)
            self._made[worker["id"]] = (worker, lost, row)
            placed[row.section].append(row)
        rank = {worker: n for n, worker in enumerate(order)}
        placed[Section.NEEDS_YOU].sort(key=lambda row: row.since or now)  # who has waited longest
        placed[Section.READY_TO_SHIP].sort(key=lambda row: rank.get(row.key, len(rank)))
        placed[Section.IN_FLIGHT].sort(key=lambda row: _FLIGHT_ORDER.get(row.state.split()[0], len(_FLIGHT_ORDER)))
        placed[Section.BACKGROUND] = [_background(n) for n in sorted(notices, key=lambda n: -n.at)]
        return [row for section in Section for row in placed[section]]


_IN_ORDER = "landing working ready done interrupted starting queued paused"
_FLIGHT_ORDER = {state: n for n, state in enumerate(_IN_ORDER.split())}


def _row(worker: Entry, now: float) -> Row:
    why = needs_you(worker, now)
    if why:
        section, detail = Section.NEEDS_YOU, why
    elif is_ready_to_ship(worker):
        section, detail = Section.READY_TO_SHIP, _made(worker)
    else:
        section, detail = Section.IN_FLIGHT, _doing(worker)
    return Row(
        key=worker["id"],
        section=section,
        name=one_line(worker["name"], 200),
        state=state_of(worker),
        since=_since(worker),
        detail=one_line(detail, 500),
        verbs=verbs(worker, section),
        project=worker.get("project_name", ""),
    )


def _since(worker: Entry) -> float:
    """Since when it is in its state; one that is at work, since its turn began."""
    turn = worker.get("turn") or {}
    if worker["status"] == Status.WORKING and turn.get("state") == "running" and turn.get("begun_at"):
        return seconds(turn["begun_at"])
    return seconds(worker.get("since") or worker.get("created_at") or "")


def needs_you(worker: Entry, now: float) -> str:
    """Why a person has to look at a worker, or "" when nobody has to."""
    phase, status, turn = worker["phase"], worker["status"], worker.get("turn") or {}
    if phase in (Phase.CREATING, Phase.QUEUED, Phase.LANDING):
        return ""
    question = worker.get("question") or {}
    if status == Status.ASKING:
        return one_line(question.get("text") or worker["detail"], 400) or "it asks something"
    if worker.get("conflict"):
        return f"it did not land: {one_line(worker['conflict'], 300)}"
    if worker.get("dropped"):
        return f"red in the queue: {one_line(worker['dropped'], 300)}"
    if status == Status.WORKING:
        return ""
    if status == Status.EXITED and phase in _ALIVE:
        if turn.get("state") in ("running", "failed"):
            return f"it exited in the middle of its turn, {worker['detail']}"
        if worker["detail"] not in ("", "with status 0"):
            return f"it exited: {worker['detail']}"
    if turn.get("state") == "failed":
        return f"its turn failed: {one_line(turn.get('why') or turn.get('last_words') or worker['detail'], 300)}"
    return f"nothing is known of it: {worker['detail']}" if _is_lost(worker, now) else ""


def _is_lost(worker: Entry, now: float) -> bool:
    """Whether nothing has been known of an agent for too long."""
    if worker["status"] != Status.UNKNOWN or worker["phase"] not in _ALIVE or worker["agent"] == SHELL:
        return False
    since = seconds(worker.get("since") or "")
    return bool(since) and now - since >= UNKNOWN_TOO_LONG


def is_ready_to_ship(worker: Entry) -> bool:
    """Whether a worker has work that can be landed, and does not work on it any more."""
    work, turn = worker.get("work") or {}, worker.get("turn") or {}
    if worker["phase"] not in (*_ALIVE, Phase.PAUSED) or turn.get("state") == "running":
        return False
    at_rest = worker["status"] in (Status.READY, Status.EXITED) or worker["agent"] == SHELL
    return at_rest and bool(work.get("commits") or work.get("dirty"))


def state_of(worker: Entry) -> str:
    """A word or two for what a worker is doing."""
    phase, status, turn = worker["phase"], worker["status"], worker.get("turn") or {}
    if phase in (Phase.QUEUED, Phase.LANDING):
        return str(phase)
    if phase == Phase.PAUSED:
        return "paused"
    if status == Status.READY and turn.get("state") in ("done", "failed", "interrupted"):
        return str(turn["state"])
    return str(status)


def _made(worker: Entry) -> str:
    work = worker.get("work") or {}
    parts = []
    if commits := work.get("commits"):
        parts.append(f"{commits} commit{'' if commits == 1 else 's'}")
    if work.get("added") or work.get("removed"):
        parts.append(f"+{work.get('added', 0)} -{work.get('removed', 0)}")
    if work.get("dirty"):
        parts.append(f"{work['dirty']} uncommitted")
    parts += _marks(worker)
    if worker.get("verified"):
        parts.append(str(worker["verified"]))
    return " · ".join(parts) + (f" — {worker['title']}" if worker.get("title") else "")


def _marks(worker: Entry) -> list[str]:
    """What a person had better know of a worker that needs nobody."""
    found = []
    if against := worker.get("forecast"):
        found.append("collides with " + ", ".join(against))
    if (worker.get("environment") or {}).get("state") == "failed":
        found.append("its environment is not ready")
    return found


def _doing(worker: Entry) -> str:
    turn = worker.get("turn") or {}
    said = one_line(worker.get("doing") or turn.get("last_words") or "", 300)
    title = one_line(worker.get("title") or "", 120)
    if worker["status"] in (Status.UNKNOWN, Status.EXITED, Status.STARTING) and not said:
        said = worker["detail"]
    told = f"{said} — {title}" if said and title else said or title
    return " · ".join(filter(None, [*_marks(worker), told]))


def verbs(worker: Entry, section: Section) -> tuple[Verb, ...]:
    """What can be done with a worker now, the most likely first."""
    phase, status = worker["phase"], worker["status"]
    if phase == Phase.CREATING:
        return (Verb.EXPLAIN,)
    if phase == Phase.LANDING:
        return (Verb.ATTACH, Verb.EXPLAIN) if worker["launch"] != HEADLESS else (Verb.EXPLAIN,)
    if phase == Phase.QUEUED:
        return (Verb.EXPLAIN, Verb.REMOVE)
    has_terminal = worker["launch"] != HEADLESS and status != Status.EXITED
    runs, has_agent = status not in (Status.EXITED, Status.STARTING), worker["agent"] != SHELL
    work = worker.get("work") or {}
    found: list[Verb] = []
    if status == Status.ASKING:
        found.append(Verb.ANSWER)
    if worker.get("conflict") or worker.get("dropped"):
        found.append(Verb.FIX)
    if section is Section.READY_TO_SHIP:
        found += [Verb.SHIP, Verb.REVIEW, Verb.MERGE]
    if status == Status.EXITED or phase == Phase.PAUSED:
        found.append(Verb.RESUME)
    if has_terminal:
        found.append(Verb.ATTACH)
    if runs and has_agent and has_terminal and status != Status.ASKING:
        found.append(Verb.SEND)
    if section is not Section.READY_TO_SHIP and (work.get("commits") or work.get("dirty")):
        found.append(Verb.REVIEW)
    if status == Status.WORKING and has_agent and has_terminal and phase != Phase.PAUSED:
        found.append(Verb.PAUSE)
    return (*found, Verb.EXPLAIN, Verb.REMOVE)


def _background(notice: Notice) -> Row:
    found = (Verb.UNDO, Verb.DISMISS) if notice.undo else (Verb.DISMISS,)
    # The safe one first: what Enter does must not take anything back.
    return Row(
        notice.key,
        Section.BACKGROUND,
        notice.words,
        "",
        notice.at,
        notice.detail,
        tuple(reversed(found)),
        notice.project,
    )


def seconds(at: str) -> float:
    """Seconds since 1970 for an ISO time with its zone; 0 for "" and what is none."""
    try:
        return datetime.fromisoformat(at).timestamp() if at else 0.0
    except ValueError:
        return 0.0


def counts(shown: Sequence[Row]) -> dict[Section, int]:
    """How many rows each section has, those without any left out."""
    found = {section: sum(row.section is section for row in shown) for section in Section}
    return {section: number for section, number in found.items() if number}


def matching(shown: Sequence[Row], words: str) -> list[Row]:
    """The rows in which every word of a filter occurs somewhere, whatever its case."""
    wanted = words.casefold().split()
    return [row for row in shown if all(w in " ".join((*row[2:4], row.detail, row.project)).casefold() for w in wanted)]
