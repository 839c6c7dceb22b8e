"""The verdict: one status from all evidence, with the reasons for it and what was ignored. Pure.

The agent's own events have the word. The terminal, which shows what is true now, confirms them, and overrules one that
is older than a moment: that is how a lost event, or an interruption that fires none, is noticed. What nothing confirms
lapses to unknown with its age.
"""

from collections.abc import Sequence

from woodwind.model.reading import ENDS, Seen, Tells
from woodwind.model.status import Status
from woodwind.model.typed import NamedTuple

SECOND = 1000
MINUTE = 60 * SECOND
# An event and the terminal may tell of the same change in either order, this far apart.
GRACE = 3 * SECOND
# How long an agent may take from its start to its first sign.
START = 60 * SECOND
# How long what nothing confirms is believed: working needs signs of life, the others need silence.
WORKING_AGE = 10 * MINUTE
PRINTING_AGE = 60 * MINUTE
ASKING_AGE = 10 * MINUTE
READY_AGE = 60 * MINUTE
# After an event the terminal is still drawn for a while.
DRAWING = 10 * SECOND
# A working agent's terminal is never silent for this long.
LIVELY = MINUTE

STATUS_OF = {
    Tells.STARTED: Status.READY,
    Tells.SUBMITTED: Status.WORKING,
    Tells.WORKING: Status.WORKING,
    Tells.WAITS: Status.WORKING,
    Tells.CONTINUED: Status.WORKING,
    Tells.ASKING: Status.ASKING,
    Tells.ANSWERED: Status.WORKING,
    Tells.DONE: Status.READY,
    Tells.FAILED: Status.READY,
    Tells.INTERRUPTED: Status.READY,
    Tells.IDLE: Status.READY,
    Tells.ENDED: Status.UNKNOWN,
}


class Evidence(NamedTuple):
    """All that is known about a running agent at one moment."""

    now: int  # the machine's own clock, in milliseconds, as in `Seen.up`
    events: Sequence[Seen] = ()  # its own, of this start, in order
    title: tuple[Status, str] | None = None  # what its terminal's title tells now
    screen: Seen | None = None  # what its screen told when it was last looked at
    silent_for: int | None = None  # since when its terminal has printed nothing; None where that is not known
    running_for: int | None = None  # since its start; None where that is not known
    has_events: bool = False  # whether this kind of agent tells of its turns at all
    prompted: bool = False  # whether it was started with a prompt that it has not told of yet
    queued: bool = False  # whether it took a prompt that waits for the end of the one that it is at


class Reason(NamedTuple):
    """One piece of evidence, when it is from, and what was made of it."""

    source: str
    tells: str
    up: int
    why: str = ""


class Verdict(NamedTuple):
    """What the agent is doing, on which evidence."""

    status: Status
    detail: str = ""
    since: int = 0  # when the evidence for it is from
    reasons: tuple[Reason, ...] = ()
    ignored: tuple[Reason, ...] = ()
    question: Seen | None = None  # the open question, where there is one
    backed: bool = False  # whether the terminal confirms it


class _Told(NamedTuple):
    """What the events alone say."""

    status: Status
    by: Seen
    open_prompts: int
    ignored: tuple[Reason, ...]


def judge(evidence: Evidence) -> Verdict:
    """The status of an agent whose process runs."""
    told = _from_events(evidence.events, queued=evidence.queued)
    shown = _from_terminal(evidence)
    if told is None:
        return _without_events(evidence, shown)
    ignored = told.ignored
    status, by = told.status, told.by
    if status is Status.READY and by.reading.tells is Tells.STARTED and _is_starting(evidence):
        status = Status.STARTING
    goes_on = "it goes on with a prompt that waited" if status is Status.WORKING and by.reading.tells in ENDS else ""
    reason = Reason(by.reading.source, by.reading.tells, by.up, goes_on)
    if shown and shown[0] is not status:
        other = Reason(shown[2], shown[0], evidence.now)
        if evidence.now - by.up < GRACE:
            ignored += (other._replace(why="its own event is newer than what the terminal shows"),)
        else:
            ignored += (reason._replace(why=f"the terminal has shown otherwise since ({shown[2]})"),)
            question = _asked_on_screen(evidence) if shown[0] is Status.ASKING else None
            return Verdict(shown[0], shown[1], shown[3], (other,), ignored, question, backed=True)
    backed = shown is not None and shown[0] is status
    reasons = (reason, Reason(shown[2], shown[0], evidence.now, "confirms it")) if shown and backed else (reason,)
    if not backed and (lapsed := _lapsed(evidence, status, by)):
        return Verdict(Status.UNKNOWN, lapsed, by.up, (), (*ignored, reason._replace(why=lapsed)))
    question = by if status is Status.ASKING else None
    return Verdict(status, _detail(status, told), by.up, reasons, ignored, question, backed)


def _from_events(events: Sequence[Seen], *, queued: bool) -> _Told | None:
    """What the agent's own events say, taken one after the other; None where there is none that counts."""
    last: Seen | None = None
    opened: dict[str, Seen] = {}
    ended: set[str] = set()
    ignored: list[Reason] = []
    for seen in events:
        reading = seen.reading
        why = _why_ignored(seen, last, ended)
        if why:
            ignored.append(Reason(reading.source, reading.tells, seen.up, why))
            continue
        if reading.tells is Tells.SUBMITTED:
            opened[reading.prompt_id] = seen
        elif reading.tells is Tells.CONTINUED and reading.prompt_id not in opened:
            opened = {reading.prompt_id: seen}
        elif reading.tells in ENDS:
            ended.add(reading.prompt_id)
            _close(opened, reading.prompt_id)
        elif reading.tells in (Tells.STARTED, Tells.ENDED):
            opened.clear()
        last = seen
    if last is None:
        return None
    status = STATUS_OF[last.reading.tells]
    if last.reading.tells in ENDS and (opened or queued):
        # It goes on with a prompt that was queued meanwhile; its age counts from here.
        status = Status.WORKING
    return _Told(status, last, len(opened), tuple(ignored))


def _why_ignored(seen: Seen, last: Seen | None, ended: set[str]) -> str:
    reading = seen.reading
    if reading.of_subagent:
        return "it is about an agent that the agent started itself"
    if reading.prompt_id and reading.prompt_id in ended:
        return "its turn had ended already"
    if last is None or last.reading.tells is not Tells.ASKING or reading.tells is not Tells.WORKING:
        return ""
    if reading.tool and last.reading.tool and reading.tool != last.reading.tool:
        return "another tool went on while the question was open"
    return ""


def _close(opened: dict[str, Seen], prompt: str) -> None:
    """An agent takes its prompts in order: the end of one is the end of those before it, whose own were lost."""
    if prompt and prompt not in opened:
        return
    while opened:
        first = next(iter(opened))
        del opened[first]
        if first == prompt or not prompt:
            return


def _from_terminal(evidence: Evidence) -> tuple[Status, str, str, int] | None:
    """What the terminal shows now: status, words, source and since when; the title first, then the screen."""
    if evidence.title:
        return (*evidence.title, "title", evidence.now)
    seen = evidence.screen
    if seen is None or not screen_holds(seen.up, evidence.now, evidence.silent_for):
        return None
    return STATUS_OF[seen.reading.tells], seen.reading.text, "screen", seen.up


def screen_holds(looked: int, now: int, silent_for: int | None) -> bool:
    """Whether a screen still shows what it showed at a look: a moment ago, or before the terminal fell silent."""
    return now - looked < GRACE or (silent_for is not None and looked >= now - silent_for)


def _asked_on_screen(evidence: Evidence) -> Seen | None:
    seen = evidence.screen
    return seen if seen and seen.reading.tells is Tells.ASKING else None


def _without_events(evidence: Evidence, shown: tuple[Status, str, str, int] | None) -> Verdict:
    ignored = tuple(
        Reason(s.reading.source, s.reading.tells, s.up, "it is about an agent that the agent started itself")
        for s in evidence.events
    )
    if shown:
        question = _asked_on_screen(evidence) if shown[0] is Status.ASKING else None
        reasons = (Reason(shown[2], shown[0], shown[3]),)
        return Verdict(shown[0], shown[1], shown[3], reasons, ignored, question, backed=True)
    if _is_starting(evidence) and evidence.has_events:
        return Verdict(Status.STARTING, "it has not told anything yet", evidence.now, (), ignored)
    return Verdict(Status.UNKNOWN, "it runs, and tells nothing about itself", evidence.now, (), ignored)


def _is_starting(evidence: Evidence) -> bool:
    young = evidence.running_for is not None and evidence.running_for < START
    return young and (evidence.prompted or not evidence.events)


def _detail(status: Status, told: _Told) -> str:
    reading = told.by.reading
    if status is Status.ASKING:
        return reading.text
    if reading.tells is Tells.WAITS:
        return "it waits for agents of its own"
    if status is Status.WORKING:
        return f"{reading.tool}" if reading.tool else ""
    if status is Status.UNKNOWN:
        return "its session is over, and its program still runs"
    return ""


def _lapsed(evidence: Evidence, status: Status, by: Seen) -> str:
    """Why an event that nothing confirms is not believed any more; "" while it is."""
    age, silent = evidence.now - by.up, evidence.silent_for
    if status is Status.WORKING:
        lively = silent is not None and silent < LIVELY
        lapsed = age > (PRINTING_AGE if lively else WORKING_AGE)
    elif status in (Status.READY, Status.ASKING, Status.STARTING):
        if silent is not None and evidence.now - silent <= by.up + DRAWING:
            return ""  # nothing was printed since, so nothing has changed
        limit = ASKING_AGE if status is Status.ASKING else READY_AGE if evidence.has_events else WORKING_AGE
        lapsed = age > limit
    else:
        return ""
    return f"it was {status} {age // MINUTE} minutes ago, and nothing has confirmed it since" if lapsed else ""
