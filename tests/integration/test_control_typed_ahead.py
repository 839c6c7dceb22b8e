"""Keys that come in one burst with the verb that opens something: they are for what it opens, never for a row."""

import threading

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import TextArea

from woodwind.model.errors import NotFound
from woodwind.testing.control_stage import STORY, frame, play, stage, until
from woodwind.tui.actions import Actions
from woodwind.tui.app import ControlPlane
from woodwind.tui.dialogs import Answer, Confirm, Tell, Write
from woodwind.tui.new_worker import NewWorker

VERBS = ("pause", "resume", "send", "answer", "remove", "merge", "ship")


def burst(app: ControlPlane, typed: str) -> None:
    """All keys before the first is handled."""
    names = {"/": "slash", "\r": "enter", " ": "space"}
    for key in typed:
        app.post_message(events.Key(names.get(key, key), key))


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The verbs that were done with a row."""
    found: list[str] = []

    def note(verb: str) -> None:
        def act(_: Actions, *__: str) -> str:
            found.append(verb)
            return ""

        monkeypatch.setattr(Actions, verb, act)

    for verb in VERBS:
        note(verb)
    return found


@pytest.mark.parametrize(
    "row, verb, opens",
    [("w-thinker", "s", Write), ("w-ask-me", "y", Answer), ("w-ask-me", "\r", Answer), ("w-thinker", "n", NewWorker)],
)
def test_a_text_is_in_the_editor_whole(
    row: str,
    verb: str,
    opens: type[Write | Answer | NewWorker],
    done: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_open = threading.Event()

    def choices(_: str) -> tuple[list[str], list[str]]:
        may_open.wait(60)
        return ["claude"], ["feature"]

    monkeypatch.setattr("woodwind.tui.performer.choices", choices)

    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        app.board.select(row)
        burst(app, f"{verb}pause /sxnS")
        await pilot.pause()
        may_open.set()
        await until(pilot, lambda: isinstance(app.screen, opens) and bool(app.screen.query(TextArea)))
        await until(pilot, lambda: app.screen.query_one(TextArea).text == "pause /sxnS")
        assert len(app.screen_stack) == 2

    play(STORY, (100, 30), act)
    assert done == []


@pytest.mark.parametrize(
    "typed, expected", [("xy", ["remove"]), ("xn", []), ("xnppp", []), ("x\r", []), ("xpy", ["remove"])]
)
def test_a_question_gets_its_answer_and_nothing_else_is_done(
    typed: str, expected: list[str], done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Actions, "what_goes", lambda *_: "3 uncommitted files")
    asked: list[object] = []

    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        app.screen_change_signal.subscribe(app, asked.append)
        app.board.select("w-thinker")
        burst(app, typed)
        await until(pilot, lambda: any(isinstance(screen, Confirm) for screen in asked))
        await until(pilot, lambda: len(app.screen_stack) == 1 and done == expected)

    play(STORY, (100, 30), act)
    assert done == expected


def test_what_was_typed_for_something_that_does_not_open_is_forgotten(
    done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_fail = threading.Event()

    def explain(*_: object) -> str:
        may_fail.wait(60)
        raise NotFound("the worker is not there any more", code="no_worker")

    monkeypatch.setattr(Actions, "explain", explain)
    monkeypatch.setattr(Actions, "switches", explain)

    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        app.board.select("w-thinker")
        for number, verb in enumerate("ea"):
            may_fail.clear()
            burst(app, f"{verb}ppp")
            await pilot.pause()
            may_fail.set()
            await until(pilot, lambda n=number: len(app._notifications) == n + 1)  # type: ignore[misc]
        assert done == []
        await pilot.press("p")
        await until(pilot, lambda: done == ["pause"])

    play(STORY, (100, 30), act)


def test_keys_after_the_end_of_the_filter_are_for_the_rows_that_it_leaves() -> None:
    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        burst(app, "/think\rs")
        await until(pilot, lambda: any("To thinker:" in line for line in frame(app)))
        burst(app, "?")
        await until(pilot, lambda: app.screen.query_one(TextArea).text == "?")

    play(STORY, (100, 30), act)


def test_what_is_typed_right_after_the_slash_is_in_the_filter() -> None:
    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        burst(app, "/login")
        await until(pilot, lambda: "filter: login" in frame(app)[0])
        await pilot.press("/")
        await until(pilot, lambda: "filter: login/" in frame(app)[0])

    play(STORY, (120, 30), act)


def test_the_help_is_closed_by_a_key_that_came_with_it(done: list[str]) -> None:
    seen: list[object] = []

    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        app.screen_change_signal.subscribe(app, seen.append)
        app.board.select("w-thinker")
        app.post_message(events.Key("question_mark", "?"))
        burst(app, "pq")
        await until(pilot, lambda: any(isinstance(screen, Tell) for screen in seen))
        await until(pilot, lambda: len(app.screen_stack) == 1)

    play(STORY, (100, 30), act)
    assert done == []
