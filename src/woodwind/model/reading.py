"""Readings: dated pieces of evidence about what an agent does, from its own events, its terminal or its process."""

from enum import StrEnum

from woodwind.model.typed import NamedTuple


class Tells(StrEnum):
    """What one reading tells about the agent, at its time."""

    STARTED = "started"  # it is up, at its prompt
    SUBMITTED = "submitted"  # it took a prompt: a turn begins
    WORKING = "working"  # it is in the middle of a turn
    ASKING = "asking"  # it shows a question and waits for the answer
    WAITS = "waits"  # it waits for agents that it started itself, and then goes on with its turn
    CONTINUED = "continued"  # it goes on by itself, by another name of the turn where it had paused
    ANSWERED = "answered"  # the question was settled, however
    DONE = "done"  # a turn ended well
    FAILED = "failed"  # a turn ended with an error
    INTERRUPTED = "interrupted"  # a turn was cut short
    IDLE = "idle"  # it is at its prompt, which says nothing about how the last turn ended
    ENDED = "ended"  # its own session is over


class Reading(NamedTuple):
    """One piece of evidence. What it does not know is empty."""

    tells: Tells
    at: int  # milliseconds since 1970
    source: str  # hook, stream, record, title, screen, process, delivery
    prompt_id: str = ""  # the agent's own id of the turn
    session: str = ""  # the agent's own id of the conversation
    text: str = ""  # the prompt, the question, the last words or the error
    question: str = ""  # the id of the question
    tool: str = ""  # what it is using or asks to use
    of_subagent: bool = False  # about an agent that the agent started itself


class Seen(NamedTuple):
    """A reading with its place in time: the machine's own clock orders readings and gives their age.

    That clock runs on through whatever is done to the time of day, and starts anew with the machine (`boot`).
    """

    reading: Reading
    boot: str
    up: int  # milliseconds since the machine started
    seq: int = 0  # the order in which it was taken in
    nonce: str = ""  # the start of the agent that it is from


class Recorded(NamedTuple):
    """What an agent's own record of its conversation tells of the time since a moment."""

    prompts: tuple[str, ...] = ()  # those that it took
    end: Reading | None = None  # how the last one ended, where that stands there; its title says whether it is over
    session: str = ""  # its id of the conversation


ENDS = frozenset((Tells.DONE, Tells.FAILED, Tells.INTERRUPTED))
# Events of the same hundredth of a second, in the order in which an agent's life has them.
_RANK = {Tells.ENDED: 0, Tells.STARTED: 1, Tells.SUBMITTED: 2, Tells.ANSWERED: 3, Tells.WORKING: 3, Tells.ASKING: 4}
_RANK |= {Tells.CONTINUED: 2}


def rank(tells: Tells) -> int:
    """Where a reading stands among those of the same moment."""
    return _RANK.get(tells, 5)
