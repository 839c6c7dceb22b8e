"""The verdict: tables of evidence, and a property over any interleaving of late, doubled and lost readings."""

import random
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from woodwind.model.reading import Reading, Seen, Tells
from woodwind.model.status import Status
from woodwind.model.verdict import (
    ASKING_AGE,
    GRACE,
    MINUTE,
    READY_AGE,
    SECOND,
    STATUS_OF,
    WORKING_AGE,
    Evidence,
    Verdict,
    judge,
)

NOW = 1_000_000_000
HOUR = 60 * MINUTE


def told(tells: str, ago: int, **more: Any) -> Seen:
    """An event so long ago."""
    return Seen(Reading(Tells(tells), NOW - ago, "hook", **more), "boot", NOW - ago)


def verdict(*events: Seen, **more: Any) -> Verdict:
    more.setdefault("has_events", True)
    return judge(Evidence(NOW, events, **more))


SUBMITTED = told("submitted", 20 * SECOND, prompt_id="p1", text="do it")
ASKED = told("asking", 10 * SECOND, prompt_id="p1", text="Allow?", tool="Bash")

# Events (oldest first), what else is known, and the status that is right.
CASES: dict[str, tuple[list[Seen], dict[str, Any], str]] = {
    "nothing at all": ([], {}, "unknown"),
    "just started": ([], {"running_for": 5 * SECOND}, "starting"),
    "started long ago, and silent": ([], {"running_for": HOUR}, "unknown"),
    "an agent without events": ([], {"running_for": SECOND, "has_events": False}, "unknown"),
    "only its title": ([], {"title": (Status.WORKING, "")}, "working"),
    "up": ([told("started", SECOND)], {}, "ready"),
    "up, with a prompt on its way": ([told("started", SECOND)], {"prompted": True, "running_for": SECOND}, "starting"),
    "took a prompt": ([SUBMITTED], {}, "working"),
    "asks": ([SUBMITTED, ASKED], {}, "asking"),
    "asked, and goes on": ([SUBMITTED, ASKED, told("working", SECOND, prompt_id="p1", tool="Bash")], {}, "working"),
    "answered": ([SUBMITTED, ASKED, told("answered", SECOND)], {}, "working"),
    "asks while another tool goes on": (
        [SUBMITTED, ASKED, told("working", SECOND, prompt_id="p1", tool="Read")],
        {},
        "asking",
    ),
    "done": ([SUBMITTED, told("done", SECOND, prompt_id="p1")], {}, "ready"),
    "failed": ([SUBMITTED, told("failed", SECOND, prompt_id="p1")], {}, "ready"),
    "a sub-agent's end": ([SUBMITTED, told("done", SECOND, of_subagent=True)], {}, "working"),
    "only a sub-agent's word": ([told("done", SECOND, of_subagent=True)], {}, "unknown"),
    "it waits for agents of its own": ([SUBMITTED, told("waits", SECOND, prompt_id="p1")], {}, "working"),
    "it waited for them, and is done": (
        [
            SUBMITTED,
            told("waits", 9 * SECOND, prompt_id="p1"),
            told("continued", 2 * SECOND, prompt_id="p2"),
            told("done", SECOND, prompt_id="p2"),
        ],
        {},
        "ready",
    ),
    "a queued prompt goes on": (
        [SUBMITTED, told("submitted", 9 * SECOND, prompt_id="p2"), told("done", SECOND, prompt_id="p1")],
        {},
        "working",
    ),
    "another prompt waited, as its turns say": (
        [SUBMITTED, told("done", SECOND, prompt_id="p1")],
        {"queued": True},
        "working",
    ),
    "it did not wait, as the terminal shows": (
        [SUBMITTED, told("done", 9 * SECOND, prompt_id="p1")],
        {"queued": True, "screen": told("idle", 0)},
        "ready",
    ),
    "the end of an earlier turn comes late": (
        [SUBMITTED, told("done", SECOND, prompt_id="p0")],
        {},
        "working",
    ),
    "the first end was lost, the second came": (
        [SUBMITTED, told("submitted", 9 * SECOND, prompt_id="p2"), told("done", SECOND, prompt_id="p2")],
        {},
        "ready",
    ),
    "a tool's word after the end of its turn": (
        [SUBMITTED, told("done", 9 * SECOND, prompt_id="p1"), told("working", SECOND, prompt_id="p1")],
        {},
        "ready",
    ),
    "an end without a name": ([told("submitted", 9 * SECOND), told("done", SECOND)], {}, "ready"),
    "cleared": ([told("done", 9 * SECOND), told("ended", SECOND), told("started", SECOND)], {}, "ready"),
    "its session is over": ([told("ended", SECOND)], {}, "unknown"),
    # The terminal against the events.
    "Esc without an event": ([SUBMITTED], {"title": (Status.READY, "")}, "ready"),
    "Esc a moment ago": ([told("submitted", SECOND, prompt_id="p1")], {"title": (Status.READY, "")}, "working"),
    "answered by hand": ([SUBMITTED, ASKED], {"title": (Status.WORKING, "")}, "working"),
    "asked a moment ago": ([SUBMITTED, told("asking", SECOND)], {"title": (Status.WORKING, "")}, "asking"),
    "its word that it took a prompt was lost": ([told("done", MINUTE)], {"title": (Status.WORKING, "")}, "working"),
    "done a moment ago": ([told("done", SECOND)], {"title": (Status.WORKING, "")}, "ready"),
    "the screen, where the title tells nothing": ([SUBMITTED], {"screen": told("idle", 0)}, "ready"),
    "an old screen": ([SUBMITTED], {"screen": told("idle", MINUTE)}, "working"),
    "an old screen of a silent terminal": (
        [SUBMITTED],
        {"screen": told("idle", 10 * SECOND), "silent_for": 15 * SECOND},
        "ready",
    ),
    "a dialog at its first use": ([], {"screen": told("asking", 0, text="Trust this folder?")}, "asking"),
    # Ages.
    "working, unconfirmed": ([told("working", WORKING_AGE - SECOND)], {}, "working"),
    "working, unconfirmed for too long": ([told("working", WORKING_AGE + SECOND)], {}, "unknown"),
    "working, and it prints": ([told("working", WORKING_AGE + SECOND)], {"silent_for": SECOND}, "working"),
    "working for days, and it prints": ([told("working", 48 * HOUR)], {"silent_for": SECOND}, "unknown"),
    "working for days, as its title says": ([told("working", 48 * HOUR)], {"title": (Status.WORKING, "")}, "working"),
    "asking for days, silently": ([told("asking", 48 * HOUR)], {"silent_for": 48 * HOUR - SECOND}, "asking"),
    "asked, and it printed since": ([told("asking", ASKING_AGE + SECOND)], {"silent_for": SECOND}, "unknown"),
    "ready for days, silently": ([told("done", 48 * HOUR)], {"silent_for": 48 * HOUR - SECOND}, "ready"),
    "ready, and it printed since": ([told("done", READY_AGE - SECOND)], {"silent_for": SECOND}, "ready"),
    "ready long ago, and it printed since": ([told("done", READY_AGE + SECOND)], {"silent_for": SECOND}, "unknown"),
    "ready, and the clock was set back": ([told("done", READY_AGE + SECOND)], {"silent_for": None}, "unknown"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_status(case: str) -> None:
    events, more, expected = CASES[case]
    found = verdict(*events, **more)
    assert found.status == expected, found
    if found.status not in (Status.UNKNOWN, Status.STARTING):
        assert found.reasons, "a status has evidence"


def test_a_question_has_its_words_and_its_id() -> None:
    found = verdict(SUBMITTED, told("asking", SECOND, text="Allow rm?", question="q7", tool="Bash"))
    assert found.question
    assert (found.detail, found.question.reading.question) == ("Allow rm?", "q7")


def test_what_was_ignored_is_told_with_its_reason() -> None:
    found = verdict(SUBMITTED, told("done", SECOND, of_subagent=True))
    assert [(r.tells, r.why) for r in found.ignored] == [("done", "it is about an agent that the agent started itself")]
    overruled = verdict(SUBMITTED, title=(Status.READY, ""))
    assert [r.source for r in overruled.reasons] == ["title"]
    assert "the terminal has shown otherwise" in overruled.ignored[0].why
    fresh = verdict(told("submitted", SECOND), title=(Status.READY, ""))
    assert "newer than what the terminal shows" in fresh.ignored[0].why
    lapsed = verdict(told("working", 2 * HOUR))
    assert "nothing has confirmed it since" in lapsed.detail


# A life of an agent: turns, each with what happens in it; gaps in seconds.
TURN = st.lists(st.sampled_from(["tool", "question"]), max_size=3)
LIFE = st.lists(st.tuples(TURN, st.sampled_from(["done", "failed", "esc"])), min_size=1, max_size=5)


def live(life: list[tuple[list[str], str]], chance: random.Random) -> tuple[list[Seen], list[tuple[int, Status]]]:
    """What a faultless observer hears of a life, and the truth: from when on which status holds."""
    at = 10_000
    heard: list[Seen] = []
    truth = [(0, Status.READY)]

    def happens(tells: str, status: Status, prompt: str, *, silently: bool = False) -> None:
        nonlocal at
        at += chance.choice([50, 2 * SECOND, 5 * MINUTE])
        truth.append((at, status))
        if not silently:
            heard.append(Seen(Reading(Tells(tells), at, "hook", prompt_id=prompt), "boot", at, len(heard)))

    happens("started", Status.READY, "")
    for number, (steps, end) in enumerate(life):
        prompt = f"p{number}"
        happens("submitted", Status.WORKING, prompt)
        for step in steps:
            if step == "question":
                happens("asking", Status.ASKING, prompt)
                happens("answered", Status.WORKING, prompt)
            else:
                happens("working", Status.WORKING, prompt)
        happens(end if end != "esc" else "interrupted", Status.READY, prompt, silently=end == "esc")
    return heard, truth


@settings(max_examples=300)
@given(life=LIFE, seed=st.integers(0, 1 << 30), with_title=st.booleans())
def test_it_is_right_or_unknown_or_wrong_for_no_longer_than_its_age(
    life: list[tuple[list[str], str]], seed: int, with_title: bool
) -> None:
    chance = random.Random(seed)
    heard, truth = live(life, chance)
    kept = [seen for seen in heard if chance.random() > 0.3]  # lost
    kept += [seen for seen in kept if chance.random() > 0.7]  # doubled
    chance.shuffle(kept)  # late: the order of arrival is any
    # Looked at in the middle of its life, or after it: what holds then is the truth.
    moment = chance.randrange(len(truth))
    holds, actual = truth[moment]
    until = truth[moment + 1][0] - 1 if moment + 1 < len(truth) else None
    now = holds + chance.choice([10, 5 * SECOND, 2 * MINUTE, 2 * HOUR])
    now = now if until is None else min(now, until)
    events = sorted((seen for seen in kept if seen.up <= now), key=lambda seen: (seen.up, seen.seq))
    # At work an agent prints; at its prompt and at a question it is silent.
    silent = chance.randrange(2 * SECOND) if actual is Status.WORKING else now - holds
    title = (actual, "") if with_title else None
    found = judge(Evidence(now, events, title, silent_for=silent, has_events=True, running_for=now))
    if found.status in (actual, Status.UNKNOWN, Status.STARTING):
        return
    limit = {Status.WORKING: WORKING_AGE, Status.ASKING: ASKING_AGE, Status.READY: READY_AGE}[found.status]
    assert now - holds <= (GRACE if with_title else limit), (found, truth)


def test_each_thing_told_has_a_status() -> None:
    assert {*STATUS_OF} == {*Tells}
