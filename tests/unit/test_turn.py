"""Turns: what each event of an agent means for them, told in order, late, twice or never."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from woodwind.model.reading import Reading, Seen, Tells
from woodwind.model.turn import BRIEF, MESSAGE, TYPED, State, Turn, advance, at_exit, at_prompt, superseded

POINTER = "Read .woodwind/brief.md and do the task that it describes."


def event(tells: str, prompt: str = "", text: str = "", *, nonce: str = "n", **more: Any) -> Seen:
    return Seen(Reading(Tells(tells), 5, "hook", prompt_id=prompt, text=text, **more), "boot", 5, 0, nonce)


def brief(state: State = State.RUNNING) -> Turn:
    return Turn("t1", 1, BRIEF, POINTER, state, nonce="n")


def message(text: str = "And the German text", number: int = 2) -> Turn:
    return Turn(f"t{number}", number, MESSAGE, text, State.SENDING, nonce="n")


def play(turns: list[Turn], *events: Seen, queues: bool = False) -> list[Turn]:
    """The turns after these events."""
    known = {turn.number: turn for turn in turns}
    for seen in events:
        for turn in advance([known[n] for n in sorted(known)], seen, f"new{len(known) + 1}", queues=queues):
            known[turn.number] = turn
    return [known[n] for n in sorted(known)]


def told(turns: list[Turn]) -> list[tuple[str, str, str]]:
    return [(turn.kind, turn.state.value, turn.last_words or turn.why) for turn in turns]


TOOK, END = event("submitted", "p1", POINTER), event("done", "p1", "All done.")
TOOK2, END2 = event("submitted", "p2", "And the German text"), event("done", "p2", "Auch.")
DONE, DONE2 = (BRIEF, "done", "All done."), (MESSAGE, "done", "Auch.")
RUNNING, RUNNING2 = (BRIEF, "running", ""), (MESSAGE, "running", "")

CASES: dict[str, tuple[list[Turn], list[Seen], list[tuple[str, str, str]]]] = {
    "taken": ([brief()], [TOOK], [RUNNING]),
    "done": ([brief()], [TOOK, END], [DONE]),
    "told twice": ([brief()], [TOOK, TOOK, END, END], [DONE]),
    "the end first": ([brief()], [END, TOOK], [DONE]),
    "the first word was lost": ([brief()], [END], [DONE]),
    "failed": ([brief()], [TOOK, event("failed", "p1", "overloaded")], [(BRIEF, "failed", "overloaded")]),
    "interrupted": ([brief()], [TOOK, event("interrupted", "p1")], [(BRIEF, "interrupted", "")]),
    "queued: the first end is the first one's": ([brief(), message()], [TOOK, TOOK2, END], [DONE, RUNNING2]),
    "queued: both": ([brief(), message()], [TOOK, TOOK2, END, END2], [DONE, DONE2]),
    "an earlier end cannot end what was not taken yet": (
        [brief(), message()],
        [TOOK, END],
        [DONE, (MESSAGE, "sending", "")],
    ),
    "an end of nobody's cannot end a message": (
        [message(number=1)],
        [event("done", "p9", "old")],
        [(MESSAGE, "sending", ""), (TYPED, "done", "old")],
    ),
    "the first end was lost": (
        [brief(), message()],
        [TOOK, TOOK2, END2],
        [(BRIEF, "unknown", "its end was not told, and a later one has ended"), DONE2],
    ),
    "it comes after all": ([brief(), message()], [TOOK, TOOK2, END2, END], [DONE, DONE2]),
    "a sub-agent's end": ([brief()], [TOOK, event("done", "p1", of_subagent=True)], [RUNNING]),
    "typed by somebody": ([], [event("submitted", "p1", "by hand"), END], [(TYPED, "done", "All done.")]),
    "typed while a message is on its way": (
        [message(number=1)],
        [event("submitted", "p1", "something else altogether")],
        [(MESSAGE, "sending", ""), (TYPED, "running", "")],
    ),
    "behind what somebody had typed": (
        [message(number=1)],
        [event("submitted", "p1", "my draft\nAnd the German text")],
        [RUNNING2],
    ),
    "behind a message whose delivery was cut short before its Enter": (
        [message("the first part", 1)._replace(state=State.UNKNOWN), message()],
        [event("submitted", "p2", "the first part\nAnd the German text"), END2],
        [DONE2, DONE2],
    ),
    "the same message again, after one that was lost": (
        [message(number=1)._replace(state=State.UNKNOWN), message()],
        [TOOK2, END2],
        [(MESSAGE, "unknown", ""), DONE2],
    ),
    "steered: two prompts, one turn of the agent's": (
        [brief(), message()],
        [TOOK, event("submitted", "p1", "And the German text"), END],
        [DONE, (MESSAGE, "done", "All done.")],
    ),
    "without names, in order": (
        [brief(), message()],
        [event("submitted", "", POINTER), event("submitted", "", "And the German text"), event("done", "", "one")],
        [(BRIEF, "done", "one"), RUNNING2],
    ),
    "of an earlier start": (
        [brief()],
        [event("submitted", "p1", POINTER, nonce="old")],
        [RUNNING, (TYPED, "running", "")],
    ),
    "tools and questions are no news": (
        [brief()],
        [event("working", "p1"), event("asking", "p1", "May I?")],
        [RUNNING],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_events(case: str) -> None:
    turns, events, expected = CASES[case]
    assert told(play(turns, *events)) == expected


# Of an agent that queues: told by the name of the prompt that it is at.
QUEUED = event("submitted", "p1", "And the German text")
TOOL, TOOL2 = event("working", "p1"), event("working", "p2")
QUEUED3 = event("submitted", "p2", "And the French text as well")

QUEUES: dict[str, tuple[list[Turn], list[Seen], list[tuple[str, str, str]]]] = {
    "it begins after the end of the first": ([brief(), message()], [TOOK, QUEUED, END], [DONE, RUNNING2]),
    "and ends by a name of its own": ([brief(), message()], [TOOK, QUEUED, END, END2], [DONE, DONE2]),
    "having told of a tool": ([brief(), message()], [TOOK, QUEUED, END, TOOL2, END2], [DONE, DONE2]),
    "taken in by the first": (
        [brief(), message()],
        [TOOK, QUEUED, TOOL, END],
        [DONE, (MESSAGE, "done", "All done.")],
    ),
    "a late word of the first's tool": ([brief(), message()], [TOOK, QUEUED, END, TOOL, END2], [DONE, DONE2]),
    "a sub-agent's tool": (
        [brief(), message()],
        [TOOK, QUEUED, event("working", "p1", of_subagent=True), END],
        [DONE, RUNNING2],
    ),
    "told twice": ([brief(), message()], [TOOK, QUEUED, QUEUED, END, END2, END2], [DONE, DONE2]),
    "two of them, which begin together": (
        [brief(), message(), message("And the French text as well", 3)],
        [TOOK, QUEUED, event("submitted", "p1", "And the French text as well"), END, END2],
        [DONE, DONE2, DONE2],
    ),
    "one behind another": (
        [brief(), message(), message("And the French text as well", 3)],
        [TOOK, QUEUED, END, QUEUED3, END2],
        [DONE, DONE2, RUNNING2],
    ),
    "typed by somebody": (
        [brief()],
        [TOOK, event("submitted", "p1", "something by hand"), END, event("done", "p2", "By hand.")],
        [DONE, (TYPED, "done", "By hand.")],
    ),
    "the end first": ([message(number=1)], [END2, TOOK2], [DONE2, (TYPED, "done", "Auch.")]),
    "it waits for agents of its own, and goes on": (
        [brief()],
        [TOOK, event("waits", "p1"), event("continued", "p2", "it ended"), event("done", "p2", "All done.")],
        [DONE],
    ),
    "a message while it waits for them": (
        [brief(), message()],
        [TOOK, event("waits", "p1"), TOOK2, event("waits", "p2"), event("continued", "p3"), event("done", "p3", "x")],
        [(BRIEF, "done", "x"), (MESSAGE, "done", "x")],
    ),
    "they ended in the middle of its turn": ([brief()], [TOOK, TOOL, event("continued", "p1"), END], [DONE]),
    "it goes on by itself after an end": (
        [brief()],
        [TOOK, END, event("continued", "p2", "it ended"), END2],
        [DONE, (TYPED, "done", "Auch.")],
    ),
    "nothing is queued": ([brief(), message()], [TOOK, TOOL, END, TOOK2, TOOL2, END2], [DONE, DONE2]),
}


@pytest.mark.parametrize("case", QUEUES)
def test_an_agent_that_queues(case: str) -> None:
    turns, events, expected = QUEUES[case]
    assert told(play(turns, *events, queues=True)) == expected


@pytest.mark.parametrize("queues", [False, True])
def test_the_same_message_while_the_first_is_at_work(queues: bool) -> None:
    first = message(number=1)._replace(state=State.RUNNING, prompt_id="p1", begun_at=1)
    later, sooner = (message()._replace(begun_at=at) for at in (event("done").reading.at + 1, 4))
    same = event("submitted", "p1", "And the German text")
    assert [t.state for t in play([first, later], same, queues=queues)] == ["running", "sending"]
    taken = play([first, sooner], same, queues=queues)
    assert [(t.state, t.prompt_id) for t in taken] == [("running", "p1"), ("running", "" if queues else "p1")]


def test_what_was_queued_and_never_began_was_taken_in() -> None:
    turns = play([brief(), message()], TOOK, QUEUED, END, queues=True)
    [over] = at_prompt(turns, 9, tells_ends=True, queues=True)
    assert (over.kind, over.state, over.last_words, over.inferred) == (MESSAGE, State.DONE, "All done.", True)
    assert told(play([turns[0], over], END2, queues=True))[1:] == [(MESSAGE, "done", "All done."), (TYPED, *DONE2[1:])]
    cut = play([brief(), message()], TOOK, QUEUED, queues=True)
    assert [t.state for t in at_prompt(cut, 9, tells_ends=True, queues=True)] == [State.INTERRUPTED] * 2


@given(st.permutations([TOOK, TOOK2, END, END2, TOOK, END, END2]))
def test_any_order_of_all_words_comes_to_the_same(events: list[Seen]) -> None:
    first, *more = play([brief(), message()._replace(state=State.RUNNING)], *events)
    assert told([first, more[0]]) == [DONE, DONE2]
    assert not any(turn.is_open for turn in more)


@given(st.lists(st.sampled_from([TOOK, TOOK2, END2]), max_size=8))
def test_without_its_own_end_a_turn_is_never_done(events: list[Seen]) -> None:
    first = play([brief(), message()], *events)[0]
    assert first.state is not State.DONE


def test_back_at_its_prompt() -> None:
    [taken] = play([brief()], TOOK)
    [turn] = at_prompt([taken], 9, tells_ends=True)
    assert (turn.state, turn.inferred, turn.ended_at) == (State.INTERRUPTED, True, 9)
    [corrected] = play([turn], END)
    assert told([corrected]) == [DONE]
    [never] = at_prompt([brief()], 9, tells_ends=True)
    assert (never.state, never.why) == (State.UNKNOWN, "it is at its prompt, and never told of this turn")
    [silent] = at_prompt([taken], 9, tells_ends=False)
    assert silent.state is State.DONE
    failed = Reading(Tells.FAILED, 9, "screen", text="stream disconnected")
    [turn] = at_prompt([taken], 9, tells_ends=True, outcome=failed)
    assert (turn.state, turn.why) == (State.FAILED, "stream disconnected")
    assert at_prompt([message()], 9, tells_ends=True) == []


def test_exits() -> None:
    for how, alone, state in (
        ("status 3", False, State.FAILED),
        ("signal 9", True, State.FAILED),
        ("status 0", False, State.FAILED),
        ("status 0", True, State.DONE),
        ("", False, State.INTERRUPTED),
    ):
        assert [turn.state for turn in at_exit([brief()], 9, how=how, alone=alone)] == [state]
    [ended] = at_exit([brief()], 9, how="status 0", alone=False)
    assert told(play([ended], END)) == [DONE]


def test_started_again() -> None:
    assert [t.state for t in superseded([brief(), message()], "m", 9)] == [State.INTERRUPTED] * 2
    assert superseded([brief()], "n", 9) == []
