"""The records of a run: its tasks as they stand, what happened, and what is to be done."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """Where a task stands. Those from LANDED on are final."""

    WAITING = "waiting"  # for its parents, for room, or for its time
    STARTING = "starting"  # its worker is being made, or told to go on
    WORKING = "working"
    COLLECTING = "collecting"  # the turn is done: what is left is committed and looked at
    LANDING = "landing"
    READY = "ready"  # complete; a person has to ship it
    PAUSING = "pausing"  # out of time: the agent is being interrupted
    HELD = "held"  # by the breaker, until its agent's service answers again
    LANDED = "landed"
    DONE = "done"  # complete, and not to be landed by the run
    NOTHING = "nothing"  # the agent said that there was nothing to do
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    BLOCKED = "blocked"  # a task that it waits for did not land
    DROPPED = "dropped"  # its ticket was closed by someone else, or is gone


GOOD = frozenset((State.LANDED, State.DONE, State.NOTHING))
NEED_YOU = frozenset((State.READY, State.FAILED, State.TIMED_OUT))
FINAL = GOOD | {State.FAILED, State.TIMED_OUT, State.BLOCKED, State.DROPPED}
# Those that take one of the run's places.
ACTIVE = frozenset(
    (State.STARTING, State.WORKING, State.COLLECTING, State.LANDING, State.PAUSING, State.HELD),
)


class Rule(StrEnum):
    """What follows when a task is complete."""

    LAND = "land"  # the run lands it
    PERSON = "person"  # a person ships it, and its children wait for that
    NEVER = "never"  # it stays on its branch


class Task(NamedTuple):
    """A task as it stands. Times are milliseconds since 1970; 0 is never."""

    id: str
    after: tuple[str, ...] = ()
    group: str = ""  # the epic, in a loop
    timeout: int = 0  # seconds of the agent's work in one attempt; 0 for no end
    retries: int = 0
    closing: bool = False  # not work of an agent: the run's own last landing
    state: State = State.WAITING
    since: int = 0  # when it came to this state
    attempt: int = 0
    delivery: int = 0  # how often its agent was told something; what was heard of an earlier one is stale
    lane: str = ""
    worker: str = ""
    turn: str = ""
    deadline: int = 0
    stopped_at: int = 0  # since when its clock stands still: it asks, or a person is there
    not_before: int = 0  # when the action of its state may be tried again
    tries: int = 0  # how often that was put off
    storms: int = 0  # how often it was held by the breaker without a success in between
    question: str = ""
    answered: str = ""  # the question that the run has answered itself
    attached: bool = False
    reminded: bool = False
    tell: str = ""  # what kind of message its next delivery is: "" (brief), retry, go_on, remind, or a person's words
    why: str = ""
    output: str = ""
    words: str = ""  # the agent's last words
    commits: int = 0
    commit: str = ""  # what it landed as


def needs_you(task: Task, on_question: str) -> bool:
    """Whether a task needs a person: complete, failed, or asking where the run does not answer by itself."""
    asks = bool(task.question) and on_question == "wait" and task.state not in FINAL
    return task.state in NEED_YOU or asks


class Group(NamedTuple):
    """An epic: how many workers it has, and whether its tracker has more for them."""

    id: str
    lanes: int = 1
    dry: bool = False
    not_before: int = 0
    tries: int = 0
    why: str = ""


class Breaker(NamedTuple):
    """Whether the agents' service is taken to be there. Open until a time, then one task tries it."""

    open_until: int = 0
    opened: int = 0  # in a row, without a success in between
    errors: tuple[int, ...] = ()
    probe: str = ""
    why: str = ""


class Settings(NamedTuple):
    """What holds for the whole run."""

    cap: int = 4
    rule: Rule = Rule.LAND
    on_question: str = "wait"
    tracked: bool = False  # a task is complete when its tracker says so
    close_groups: bool = False  # land each worker of a group when the group is through
    close_run: bool = False  # ship the run's branch when all of its tasks landed


class Run(NamedTuple):
    """A run as it stands."""

    settings: Settings
    tasks: Mapping[str, Task]
    groups: Mapping[str, Group] = {}
    breaker: Breaker = Breaker()
    state: str = "running"  # running, paused (nothing new begins), stopped, finished
    why: str = ""


class What(StrEnum):
    """What happened."""

    STARTED = "started"  # the agent has its task or message
    LATER = "later"  # the action could not be done now, through no fault of the task's
    FAILED = "failed"  # the attempt failed
    DONE = "done"  # the agent ended its turn well
    COLLECTED = "collected"
    LANDED = "landed"
    UNDONE = "undone"  # the run's own last landing was taken back
    PAUSED = "paused"
    ASKING = "asking"
    ANSWERED = "answered"  # by the run
    SETTLED = "settled"  # it asks no more
    ATTACHED = "attached"
    DETACHED = "detached"
    DROPPED = "dropped"
    ADDED = "added"  # a tracker was asked for work, and gave these tasks or none
    WIDENED = "widened"  # the run got a group, or more workers for one
    HOLD = "hold"
    STOP = "stop"
    RESUME = "resume"


class Happened(NamedTuple):
    """One thing that happened, to a task, a group or the run."""

    what: What
    task: str = ""
    delivery: int = 0  # of the task, when it is an answer to an action; 0 otherwise
    group: str = ""
    worker: str = ""
    turn: str = ""
    text: str = ""
    output: str = ""
    storm: str = ""  # usage, api or gone: the agent's service or its terminal failed, and not the agent
    until: int = 0  # when the service said it would be back
    commits: int = 0
    commit: str = ""
    nothing: bool = False
    closed: bool = False
    hopeless: bool = False  # trying again would not help
    patient: bool = False  # however long it takes: something outside is down
    lanes: int = 0
    tasks: tuple[Task, ...] = ()


class Verb(StrEnum):
    """What is to be done."""

    START = "start"
    COLLECT = "collect"
    LAND = "land"
    PAUSE = "pause"
    ANSWER = "answer"
    FEED = "feed"  # ask a group's tracker for work


class Decision(NamedTuple):
    """One thing to do. It can be repeated: what was done already is found and told again."""

    verb: Verb
    task: str = ""
    delivery: int = 0
    group: str = ""
