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


def play(turns: list[Turn], *events: Seen) -> list[Turn]:
    """The turns after these events."""
    known = {turn.number: turn for turn in turns}
    for seen in events:
        for turn in advance([known[n] for n in sorted(known)], seen, f"new{len(known) + 1}"):
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
