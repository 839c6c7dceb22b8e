"""Turns: each delivery of work to an agent, and how it ended. Pure.

An agent may tell late, twice or never, and may take a second prompt before it has ended the first. So an end belongs to
the turn whose prompt it names; only where an agent names none does it belong to the oldest one that is open.

Some agents queue a prompt that comes while they work, and tell of it by the name of the one that they are at
(`queues`): where a tool of that one follows, it took the prompt in; otherwise the prompt begins after its end, by
a name of its own. Until then its turn runs without a name.
"""

from collections.abc import Sequence
from enum import StrEnum

from woodwind.model.reading import ENDS, Reading, Seen, Tells
from woodwind.model.typed import NamedTuple


class State(StrEnum):
    """How far a turn is."""

    SENDING = "sending"  # written down, and not taken by the agent yet
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    UNKNOWN = "unknown"  # it cannot be known any more


BRIEF, MESSAGE, TYPED = "brief", "message", "typed"
START_UNDONE = "its start was cut short and undone"
OPEN = frozenset((State.SENDING, State.RUNNING))
_OUTCOMES = {Tells.DONE: State.DONE, Tells.FAILED: State.FAILED, Tells.INTERRUPTED: State.INTERRUPTED}
# So much of two prompts is compared; and so long a text cannot be part of another by chance.
_COMPARED, _TELLING = 400, 24


class Turn(NamedTuple):
    """One turn. `kind` tells whether it is the first instructions, a message of ours, or of somebody else's making."""

    id: str
    number: int
    kind: str
    text: str
    state: State
    prompt_id: str = ""
    nonce: str = ""
    begun_at: int = 0
    ended_at: int = 0
    last_words: str = ""
    why: str = ""  # the error, or what an outcome was concluded from
    inferred: bool = False  # concluded from the terminal; the agent's own word still corrects it

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.state in OPEN

    @property
    def is_queued(self) -> bool:
        """Whether an agent that queues has taken it and not told its name yet."""
        return self.state is State.RUNNING and not self.prompt_id and self.kind != BRIEF


def advance(turns: Sequence[Turn], seen: Seen, fresh_id: str, *, queues: bool = False) -> list[Turn]:
    """The turns that one of the agent's own events changes, or the new one that it tells of."""
    reading = seen.reading
    if reading.of_subagent:
        return []
    named = {turn.id: turn for turn in _named(turns, seen)} if queues else {}
    turns = [named.get(turn.id, turn) for turn in turns]
    changed: list[Turn] = []
    if reading.tells is Tells.SUBMITTED:
        changed = _submitted(turns, seen, fresh_id, queues=queues)
    elif reading.tells is Tells.CONTINUED:
        changed = _continued(turns, seen, fresh_id)
    elif reading.tells in ENDS:
        changed = _ended(turns, seen, fresh_id)
    return list({**named, **{turn.id: turn for turn in changed}}.values())


def _named(turns: Sequence[Turn], seen: Seen) -> list[Turn]:
    """The queued turns whose name an event tells: a new one, or that of the turn which goes on with them."""
    name, tells = seen.reading.prompt_id, seen.reading.tells
    if not name or tells not in (Tells.SUBMITTED, Tells.WORKING, *ENDS):
        return []
    known = [t for t in turns if t.prompt_id == name]
    if known and (tells is not Tells.WORKING or not any(t.is_open for t in known)):
        return []
    return [t._replace(prompt_id=name) for t in turns if t.is_queued and t.nonce == seen.nonce]


def _submitted(turns: Sequence[Turn], seen: Seen, fresh_id: str, *, queues: bool) -> list[Turn]:
    reading = seen.reading
    known = [t for t in turns if t.prompt_id and t.prompt_id == reading.prompt_id]
    waiting = [t for t in turns if not t.prompt_id and _may_be(t, reading.text, seen.nonce)]
    if queues and known and all(_is_another(t, reading.text) for t in known):
        known, seen = [], seen._replace(reading=reading._replace(prompt_id=""))
        reading = seen.reading
    if waiting and not any(same_prompt(t.text, reading.text) for t in known):
        over = next((t for t in known if not t.is_open), None)  # its end was told first
        return [_taken(turn, seen, over) for turn in _meant(waiting, reading.text)]
    again = [t for t in waiting if t.state is State.SENDING and 0 < t.begun_at <= reading.at]
    if again and any(t.is_open for t in known):  # the same text once more: told after its own delivery began
        taken = _taken(again[0], seen, None)
        return [taken._replace(prompt_id="") if queues else taken]
    if known:  # told twice, or its end was told first
        return [t._replace(text=reading.text, kind=TYPED) for t in known if not t.text and reading.text]
    return [_typed(turns, seen, fresh_id)]


def _continued(turns: Sequence[Turn], seen: Seen, fresh_id: str) -> list[Turn]:
    """What is under way has the new name from now on; where nothing is, the agent began by itself."""
    reading = seen.reading
    if any(t.prompt_id == reading.prompt_id for t in turns):
        return []
    running = [t for t in turns if t.state is State.RUNNING and t.nonce == seen.nonce]
    return [t._replace(prompt_id=reading.prompt_id) for t in running] or [_typed(turns, seen, fresh_id)]


def _typed(turns: Sequence[Turn], seen: Seen, fresh_id: str) -> Turn:
    reading = seen.reading
    number = max((t.number for t in turns), default=0) + 1
    return Turn(fresh_id, number, TYPED, reading.text, State.RUNNING, reading.prompt_id, seen.nonce, reading.at)


def _is_another(turn: Turn, text: str) -> bool:
    return bool(turn.text and text) and not same_prompt(turn.text, text)


def _meant(waiting: Sequence[Turn], text: str) -> list[Turn]:
    """Which of the turns that a prompt may be it is: the oldest, and with it whatever else stands in its text."""
    live = [t for t in waiting if t.is_open] or list(waiting)
    if not text:
        return live[:1]
    return [live[0], *(t for t in waiting if t.text != live[0].text)]


def _taken(turn: Turn, seen: Seen, over: Turn | None) -> Turn:
    taken = turn._replace(state=State.RUNNING, prompt_id=seen.reading.prompt_id, nonce=seen.nonce, ended_at=0, why="")
    if over is None:
        return taken
    return taken._replace(state=over.state, ended_at=over.ended_at, last_words=over.last_words, why=over.why)


def _may_be(turn: Turn, text: str, nonce: str) -> bool:
    """Whether a prompt that the agent took may be this turn, of which it has not told yet."""
    if turn.state not in (State.SENDING, State.RUNNING, State.UNKNOWN) or turn.nonce != nonce:
        return False
    return not text or not turn.text or same_prompt(turn.text, text)


def same_prompt(ours: str, theirs: str) -> bool:
    """Whether the agent's words for a prompt are ours, perhaps behind or before what a person typed meanwhile."""
    a, b = " ".join(ours.split())[:_COMPARED], " ".join(theirs.split())
    return a in b if len(a) >= _TELLING else bool(a) and (b.startswith(a) or b.endswith(a))


def _ended(turns: Sequence[Turn], seen: Seen, fresh_id: str) -> list[Turn]:
    reading = seen.reading
    if not reading.prompt_id:
        return _oldest_ended(turns, seen)
    mine = [t for t in turns if t.prompt_id == reading.prompt_id]
    if mine:
        corrected = [_closed(t, reading) for t in mine if t.is_open or t.inferred or t.state is State.UNKNOWN]
        if not corrected:
            return []  # told twice
        first = min(t.number for t in mine)
        lost = [t for t in turns if t.state is State.RUNNING and t.prompt_id and t.number < first]
        why = "its end was not told, and a later one has ended"
        return corrected + [t._replace(state=State.UNKNOWN, ended_at=reading.at, why=why) for t in lost]
    # The word that it took this prompt was lost. Where it knows of one only, which it was started with, it is that.
    of_start = [t for t in turns if t.nonce == seen.nonce]
    sole = of_start[0] if len(of_start) == 1 else None
    if sole and sole.kind == BRIEF and not sole.prompt_id and (sole.is_open or sole.inferred):
        return [_closed(sole._replace(prompt_id=reading.prompt_id), reading)]
    return [_closed(_typed(turns, seen, fresh_id)._replace(text=""), reading)]


def _oldest_ended(turns: Sequence[Turn], seen: Seen) -> list[Turn]:
    """Where an agent does not name the prompt, an end is that of the oldest turn that is under way."""
    running = [t for t in turns if t.state is State.RUNNING and t.nonce == seen.nonce]
    if running:
        return [_closed(running[0], seen.reading)]
    guessed = [t for t in turns if t.inferred and t.nonce == seen.nonce]
    return [_closed(guessed[-1], seen.reading)] if guessed and guessed[-1] is turns[-1] else []


def _closed(turn: Turn, reading: Reading) -> Turn:
    state = _OUTCOMES[reading.tells]
    words, why = (reading.text, "") if state is State.DONE else ("", reading.text)
    return turn._replace(state=state, ended_at=reading.at, last_words=words, why=why, inferred=False)


def at_prompt(
    turns: Sequence[Turn], at: int, *, tells_ends: bool, queues: bool = False, outcome: Reading | None = None
) -> list[Turn]:
    """The turns that are over because the agent has been back at its prompt for a while, without a word about them.

    `outcome` is what its screen tells of how the last one ended.
    """
    changed: list[Turn] = []
    before: Turn | None = None  # the last one that has ended, in the same start
    for turn in turns:
        if turn.state is not State.RUNNING:
            before = turn if turn.state in _OUTCOMES.values() else before
            continue
        if outcome and outcome.tells in ENDS:
            changed.append(_closed(turn, outcome)._replace(ended_at=at, inferred=True))
        elif not tells_ends:
            why = "its terminal shows its prompt again"
            changed.append(turn._replace(state=State.DONE, ended_at=at, why=why, inferred=True))
        elif queues and turn.is_queued and before and before.nonce == turn.nonce:
            # It did not begin by itself, so the one before had taken it in.
            over = turn._replace(state=before.state, ended_at=at, last_words=before.last_words, why=before.why)
            changed.append(over._replace(inferred=True))
        elif turn.prompt_id:
            why = "it is back at its prompt, and did not tell of an end"
            changed.append(turn._replace(state=State.INTERRUPTED, ended_at=at, why=why, inferred=True))
        else:
            why = "it is at its prompt, and never told of this turn"
            changed.append(turn._replace(state=State.UNKNOWN, ended_at=at, why=why, inferred=True))
        before = changed[-1] if changed[-1].state in _OUTCOMES.values() else before
    return changed


def at_exit(turns: Sequence[Turn], at: int, *, how: str, alone: bool) -> list[Turn]:
    """The turns that ended with their program.

    `how` is its end as told, "" where it is not known; `alone`: it was started for this one turn.
    """
    changed = []
    for turn in turns:
        if not turn.is_open:
            continue
        if alone and how == "status 0":
            changed.append(turn._replace(state=State.DONE, ended_at=at, why="", inferred=True))
        elif how:
            why = f"the agent exited with {how} in the middle of it"
            changed.append(turn._replace(state=State.FAILED, ended_at=at, why=why, inferred=True))
        else:
            why = "its terminal was closed in the middle of it"
            changed.append(turn._replace(state=State.INTERRUPTED, ended_at=at, why=why, inferred=True))
    return changed


def superseded(turns: Sequence[Turn], nonce: str, at: int) -> list[Turn]:
    """The turns of earlier starts that were still open when the agent was started again."""
    why = "the agent was started again"
    gone = [t for t in turns if t.is_open and t.nonce != nonce]
    return [t._replace(state=State.INTERRUPTED, ended_at=at, why=why, inferred=True) for t in gone]
