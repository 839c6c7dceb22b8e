"""Readings: dated pieces of evidence about what an agent does, from its own events, its terminal or its process."""

from enum import StrEnum
from typing import NamedTuple


class Tells(StrEnum):
    """What one reading tells about the agent, at its time."""

    STARTED = "started"  # it is up, at its prompt
    SUBMITTED = "submitted"  # it took a prompt: a turn begins
    WORKING = "working"  # it is in the middle of a turn
    ASKING = "asking"  # it shows a question and waits for the answer
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
    source: str  # hook, stream, title, screen, process, delivery
    prompt_id: str = ""  # the agent's own id of the turn
    session: str = ""  # the agent's own id of the conversation
    text: str = ""  # the prompt, the question, the last words or the error
    question: str = ""  # the id of the question
    tool: str = ""  # what it is using or asks to use
    of_subagent: bool = False  # about an agent that the agent started itself
