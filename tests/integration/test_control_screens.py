"""The control plane as painted and as it answers to keys and mouse: every section, state and size, as text."""

import asyncio
import os
import threading

import pytest
from textual.color import Color
from textual.pilot import Pilot

from woodwind.model.errors import Refused
from woodwind.model.sections import Verb
from woodwind.model.text import width as cells
from woodwind.muxes.base import Pane
from woodwind.testing.control_stage import DONE, EMPTY, STORY, WORK, Stage, entry, frame, keys, play, stage, text, until
from woodwind.tui.actions import Actions
from woodwind.tui.app import ControlPlane
from woodwind.tui.dialogs import Confirm, Write
from woodwind.tui.new_worker import NewWorker, Wish
from woodwind.tui.themes import theme_for


def test_all_four_sections_are_painted_in_order_with_their_verbs() -> None:
    shown = text(play(STORY, (120, 30)))
    heads = [shown.index(head) for head in ("NEEDS YOU 2", "READY TO SHIP 2", "IN FLIGHT 3", "BACKGROUND 1")]
    assert heads == sorted(heads)
    for words in ("May I run `make clean`?", "its turn failed: API error: 500", "collides with fix-login", "+30 -4"):
        assert words in shown
    for verb in ("answer", "ship", "attach", "resume", "explain", "dismiss"):
        assert verb in shown
    assert "needs you 2" in shown.splitlines()[0]


def test_empty_sections_are_hidden() -> None:
    shown = text(play(STORY._replace(workers=[entry("one")], notices=[]), (100, 20)))
    assert "IN FLIGHT 1" in shown
    assert "NEEDS YOU" not in shown
    assert "READY TO SHIP" not in shown
    assert "BACKGROUND" not in shown


def test_without_workers_it_says_how_to_start_one() -> None:
    assert "no workers: n starts one" in text(play(EMPTY, (80, 24)))


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 30), (300, 80)])
def test_any_size_is_painted_without_a_line_too_long(size: tuple[int, int]) -> None:
    app = play(STORY, size)
    assert len(app.ended) == size[1]
    assert "NEEDS YOU" in text(app)
    assert "ask-me" in text(app)


def test_long_wide_and_hostile_names_stay_in_their_columns() -> None:
    odd = ["x" * 200, "修复登录错误" * 10, "🎉🎊party", "bad\x1b[31mred", "[bold]markup[/bold]"]
    shown = play(STORY._replace(workers=[entry(n, title=f"{n} title") for n in odd]), (100, 24)).ended
    rows = [line for line in shown if "working" in line]
    assert len(rows) == len(odd)
    assert not any("\x1b" in line for line in rows)


def test_five_hundred_workers_scroll_and_the_last_is_reached() -> None:
    many = STORY._replace(workers=[entry(f"worker-{n:03}") for n in range(500)], notices=[])
    app = play(many, (100, 24), keys("end"))
    assert any("▶" in line and "worker-499" in line for line in app.ended)
    assert all("attach" in line for line in app.ended if "worker-" in line)


def test_the_selection_holds_on_to_its_worker_when_rows_move() -> None:
    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("down", "down", "down", "down")
        assert isinstance(pilot.app, Stage)
        assert pilot.app.board.selected
        assert pilot.app.board.selected.name == "thinker"
        changed = [w if w["name"] != "thinker" else {**w, "status": "asking"} for w in STORY.workers]
        pilot.app._on_look(STORY._replace(workers=[entry("newest", status="asking"), *changed]))

    app = play(STORY, (100, 30), act)
    assert app.chosen == "thinker"
    assert any("▶ ! thinker" in line for line in app.ended)


def test_a_selected_worker_that_is_removed_by_others_gives_way_to_its_neighbour() -> None:
    async def act(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, Stage)
        pilot.app._on_look(STORY._replace(workers=STORY.workers[1:]))

    app = play(STORY, (100, 30), act)
    assert app.chosen == "broken"


@pytest.mark.parametrize(
    "key, question", [("S", "Ship add-login?"), ("m", "Merge add-login?"), ("x", "Remove add-login?")]
)
def test_what_lands_or_destroys_asks_names_the_worker_and_defaults_to_no(
    key: str, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def note(_: Actions, worker: str) -> str:
        done.append(worker)
        return ""

    for verb in ("ship", "merge", "remove"):
        monkeypatch.setattr(Actions, verb, note)
    monkeypatch.setattr(Actions, "what_goes", lambda *_: "3 uncommitted files")

    async def act(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Stage)
        await pilot.press("down", "down", key)
        await until(pilot, lambda: isinstance(app.screen, Confirm) and question in "\n".join(frame(app)))
        await pilot.press("enter")
        await until(pilot, lambda: len(app.screen_stack) == 1)
        await app.workers.wait_for_complete()
        assert done == []
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: bool(done))

    play(STORY, (100, 30), act)
    assert len(done) == 1


def test_a_key_pressed_twice_fast_ships_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    may_end = threading.Event()

    def ship(_: Actions, worker: str) -> str:
        done.append(worker)
        may_end.wait(60)
        return ""

    monkeypatch.setattr(Actions, "ship", ship)

    async def act(pilot: Pilot[None]) -> None:
        app = pilot.app
        assert isinstance(app, Stage)
        await pilot.press("down", "down", "S", "S", "y", "S", "y")
        await until(pilot, lambda: any("shipping …" in line for line in frame(app)))
        may_end.set()
        await app.workers.wait_for_complete()

    play(STORY, (100, 30), act)
    assert done == ["w-add-login"]


def test_a_row_is_busy_until_it_shows_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Actions, "pause", lambda *_: "thinker is paused")

    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        app.board.select("w-thinker")
        await pilot.press("p")
        await until(pilot, lambda: bool(app._feed._then))
        await pilot.press("p")
        await until(pilot, lambda: any("pausing …" in line for line in frame(app)) and bool(app._notifications))
        assert [note.message for note in app._notifications] == ["thinker is busy: pausing"]
        paused = [w if w["name"] != "thinker" else {**w, "phase": "paused"} for w in STORY.workers]
        app._on_look(STORY._replace(workers=paused))
        await asyncio.to_thread(app._feed._then.pop())
        await until(pilot, lambda: any("thinker" in line and "paused" in line for line in frame(app)))
        await until(pilot, lambda: len(app._notifications) == 2)
        assert [note.message for note in app._notifications][1:] == ["thinker is paused"]

    play(STORY, (100, 30), act)


def test_a_verb_that_a_row_does_not_have_is_told_and_not_done() -> None:
    told: list[str] = []

    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("S")
        await until(pilot, lambda: bool(pilot.app._notifications))
        told.extend(note.message for note in pilot.app._notifications)

    play(STORY, (100, 30), act)
    assert told == ["ask-me cannot be told to ship now"]


def test_the_filter_narrows_the_rows_and_escape_brings_them_back() -> None:
    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("slash", "l", "o", "g", "i", "n", "enter")
        await until(pilot, lambda: "thinker" not in "\n".join(frame(stage(pilot))))
        assert any("add-login" in line for line in frame(stage(pilot)))
        await pilot.press("escape")
        await until(pilot, lambda: "thinker" in "\n".join(frame(stage(pilot))))

    play(STORY, (100, 30), act)


def test_trouble_is_told_in_the_header_and_the_rows_stay() -> None:
    async def act(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, Stage)
        pilot.app._on_trouble("the daemon has gone: starting it again")

    shown = text(play(STORY, (120, 30), act))
    assert "the daemon has gone" in shown.splitlines()[0]
    assert "ask-me" in shown


def test_the_help_lists_every_key() -> None:
    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("question_mark")
        for words in ("a  attach", "S  ship", "z  undo", "filter the rows"):
            await until(pilot, lambda words=words: words in "\n".join(frame(stage(pilot))))  # type: ignore[misc]

    play(STORY, (100, 40), act)


def place_of(app: ControlPlane, words: str, *, line: str = "") -> tuple[int, int]:
    """Where on the screen words are, in a line that has some others, too: the column of their second letter."""
    for y, text_of_line in enumerate(frame(app)):
        if words in text_of_line and line in text_of_line:
            return cells(text_of_line[: text_of_line.rindex(words)]) + 1, y
    raise AssertionError(f"{words!r} is not on the screen:\n" + "\n".join(frame(app)))


def test_a_click_on_a_row_selects_it_and_one_on_its_verb_does_it() -> None:
    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        await pilot.click(offset=place_of(app, "thinker", line="working"))
        await until(pilot, lambda: bool(app.board.selected and app.board.selected.name == "thinker"))
        assert len(app.screen_stack) == 1, "a click on a name does nothing else"
        await pilot.click(offset=place_of(app, "ship", line="fix-login"))
        await until(pilot, lambda: isinstance(app.screen, Confirm) and any("Ship " in line for line in frame(app)))
        await pilot.click("#no")
        await until(pilot, lambda: len(app.screen_stack) == 1)

    play(STORY, (120, 30), act)


def test_a_click_on_a_verb_in_the_bar_does_it_with_the_selected_row(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def merge(_: Actions, worker: str) -> str:
        done.append(worker)
        return ""

    monkeypatch.setattr(Actions, "merge", merge)

    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        app.board.select("w-fix-login")
        await until(pilot, lambda: "m merge" in frame(app)[-1])
        await pilot.click(offset=place_of(app, "merge", line="⏎"))
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.click("#yes")
        await until(pilot, lambda: done == ["w-fix-login"])
        await pilot.click(offset=place_of(app, "help", line="⏎"))
        await until(pilot, lambda: any("filter the rows" in line for line in frame(app)))

    play(STORY, (120, 30), act)


def test_the_palette_has_our_commands_and_none_of_the_toolkit() -> None:
    found: list[str] = []

    async def act(pilot: Pilot[None]) -> None:
        found.extend(command.title for command in pilot.app.get_system_commands(pilot.app.screen))

    play(STORY, (120, 30), act)
    assert {"answer ask-me", "new worker", "filter", "theme", "quit", "go to thinker"} <= set(found)
    assert not {"Maximize", "Screenshot", "Keys"} & set(found)


def test_trouble_is_seen_in_a_narrow_header_too() -> None:
    async def act(pilot: Pilot[None]) -> None:
        stage(pilot)._on_trouble("the daemon has gone")

    shown = play(STORY, (50, 12), act).ended[0]
    assert "the daemon has gone" in shown
    assert shown.endswith("…")


@pytest.mark.parametrize("size", [(40, 16), (80, 24), (120, 30)])
def test_every_answer_to_a_question_is_seen(size: tuple[int, int]) -> None:
    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("y")
        await until(pilot, lambda: any("ask-me asks:" in line for line in frame(stage(pilot))))

    shown = text(play(STORY, size, act))
    for words in ("Leave it (Esc)", "Deny (Ctrl-N)", "Always (Ctrl-L)", "Allow (Ctrl-Y)", "May I run `make clean`?"):
        assert words in shown


def test_every_field_of_the_form_is_reached_on_a_small_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("woodwind.tui.performer.choices", lambda _: (["claude"], ["feature"]))

    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, NewWorker) and pilot.app.focused is not None)
        await pilot.press(*["tab"] * 6)
        await until(pilot, lambda: any("the default branch" in line for line in frame(stage(pilot))))

    play(STORY, (40, 10), act)


@pytest.mark.parametrize("theme", ["auto", "light", "dark-ansi"])
def test_with_no_color_there_is_no_colour_and_everything_is_told(theme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    colours: set[str] = set()
    reversed_lines: list[str] = []

    async def act(pilot: Pilot[None]) -> None:
        for key in ("down", "up", "down", "x"):  # a question on top of it, with its default
            await pilot.press(key)
        await until(pilot, lambda: isinstance(pilot.app.screen, Confirm))
        await until(pilot, lambda: any("Remove broken?" in line for line in frame(stage(pilot))))
        for strip in pilot.app.screen._compositor.render_strips():
            for _, style, _ in strip.apply_filter(pilot.app._filters[-1], Color(0, 0, 0)):
                if style:
                    colours.update(c.name for c in (style.color, style.bgcolor) if c)
                    if style.reverse:
                        reversed_lines.append(strip.text)

    monkeypatch.setattr(Actions, "what_goes", lambda *_: "")
    app = play(STORY, (120, 30), act, theme_for(theme, os.environ))
    assert colours <= {"default"}
    assert any("▶ ! broken" in line for line in reversed_lines)
    assert any("No (n)" in line for line in reversed_lines), "the default of a question is seen"
    assert "NEEDS YOU 2" in text(app)


def test_a_section_tells_how_many_rows_it_has_when_one_comes_from_another() -> None:
    async def act(pilot: Pilot[None]) -> None:
        now_asking = [w if w["name"] != "thinker" else {**w, "status": "asking"} for w in STORY.workers]
        stage(pilot)._on_look(STORY._replace(workers=now_asking))

    shown = text(play(STORY, (120, 30), act))
    assert "NEEDS YOU 3" in shown
    assert "needs you 3" in shown


def test_the_bar_has_as_many_verbs_as_the_new_width_has_room_for() -> None:
    async def act(pilot: Pilot[None]) -> None:
        await pilot.resize_terminal(40, 12)
        await until(pilot, lambda: frame(stage(pilot))[-1].endswith("? help"))
        await pilot.resize_terminal(120, 30)
        await until(pilot, lambda: frame(stage(pilot))[-1].endswith("v preview"))

    play(STORY, (120, 30), act)


def test_the_selected_row_stays_in_sight_when_the_list_grows_or_the_terminal_shrinks() -> None:
    many = [entry(f"asker-{n:02}", status="asking") for n in range(30)]

    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        app.board.select("w-thinker")
        app._on_look(STORY._replace(workers=[*many, *STORY.workers]))
        await until(pilot, lambda: any("▶ ● thinker" in line for line in frame(app)))
        await pilot.resize_terminal(100, 12)
        await until(pilot, lambda: any("▶ ● thinker" in line for line in frame(app)) and len(frame(app)) == 12)

    assert play(STORY, (100, 24), act).chosen == "thinker"


def test_at_the_top_of_a_long_list_what_becomes_urgent_is_seen() -> None:
    long = STORY._replace(workers=[entry(f"worker-{n:02}") for n in range(60)], notices=[])

    async def act(pilot: Pilot[None]) -> None:
        stage(pilot)._on_look(long._replace(workers=[entry("urgent", status="asking"), *long.workers]))

    app = play(long, (100, 24), act)
    assert app.chosen == "worker-00"
    assert any("! urgent" in line for line in app.ended)


def test_many_slow_verbs_hold_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    may_end = threading.Event()

    def ship(_: Actions, worker: str) -> str:
        may_end.wait(60)
        return ""

    monkeypatch.setattr(Actions, "ship", ship)
    monkeypatch.setattr(Actions, "explain", lambda *_: "because it told so")
    story = STORY._replace(workers=[entry(f"w{n}", status="ready", turn=DONE, work=WORK) for n in range(40)])

    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        for row in app._rows[1:40]:
            app._performer._confirmed(row, Verb.SHIP, yes=True)
        await pilot.press("e")
        try:
            await until(pilot, lambda: any("because it told so" in line for line in frame(app)))
        finally:
            may_end.set()
        await app.workers.wait_for_complete()

    play(story, (100, 30), act)


def test_a_message_that_was_not_delivered_is_there_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def send(_: Actions, worker: str, text: str) -> str:
        raise Refused("thinker has exited")

    monkeypatch.setattr(Actions, "send", send)

    async def act(pilot: Pilot[None]) -> None:
        app = stage(pilot)
        app.board.select("w-thinker")
        await pilot.press("s", *"words", "ctrl+s")
        await until(pilot, lambda: bool(app._feed._then))
        await asyncio.to_thread(app._feed._then.pop())
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, Write) and any("words" in line for line in frame(app)))

    play(STORY, (100, 30), act)


def test_a_form_whose_worker_did_not_start_is_there_again_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object) -> str:
        raise Refused("there is no such branch")

    monkeypatch.setattr("woodwind.tui.performer.choices", lambda _: (["claude"], ["feature"]))
    monkeypatch.setattr("woodwind.tui.performer.start", start)
    wish = Wish("Ring the bell", "github:7", "claude", "opus", "feature", "nowhere")
    given: list[Wish | None] = []

    async def form(pilot: Pilot[None], fill: Wish | None) -> None:
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, NewWorker) and pilot.app.focused is not None)
        screen = pilot.app.screen
        assert isinstance(screen, NewWorker)
        given.append(screen._wish)
        if fill:
            screen.dismiss(fill)
        else:
            await pilot.press("ctrl+s")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        await pilot.app.workers.wait_for_complete()

    async def act(pilot: Pilot[None]) -> None:
        await form(pilot, wish)
        await form(pilot, None)  # handed in as it is shown: every field has what was in it
        await form(pilot, wish)
        await pilot.press("n")
        await until(pilot, lambda: isinstance(pilot.app.screen, NewWorker))
        await pilot.press("escape")
        await until(pilot, lambda: len(pilot.app.screen_stack) == 1)
        await form(pilot, wish)

    play(STORY, (100, 30), act)
    empty = Wish("", "", "", "", "", "")
    assert given == [empty, wish, wish, empty]


def test_every_state_is_told_whole() -> None:
    paused = entry("halted", status="ready", turn={"state": "interrupted"})
    assert "interrupted " in text(play(STORY._replace(workers=[*STORY.workers, paused]), (80, 30)))


class Terminal:
    """A terminal that shows a line for each of its own, all of them far too long, and ends with a question."""

    server = ""

    def screen(self, _: object) -> str:
        return "\n".join([*("long " * 80 for _ in range(60)), "May I?"])


@pytest.mark.parametrize("size", [(80, 24), (130, 30), (140, 30), (200, 50)])
def test_beside_the_rows_with_their_verbs_the_end_of_the_terminal_is_seen(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"worker": "w", "project": "p", "id": "%1", "session": "", "window": "", "title": "", "exit_status": "0"}
    pane = Pane(**names, pid=1, dead=True, last_output=0)
    monkeypatch.setattr(Actions, "terminal_of", lambda *_: (Terminal(), pane))

    async def act(pilot: Pilot[None]) -> None:
        await pilot.press("v")
        await until(pilot, lambda: any("May I?" in line for line in frame(stage(pilot))))

    shown = play(STORY, size, act).ended
    assert any("▶ ! ask-me" in line and "answer" in line for line in shown)
    assert sum("long long" in line for line in shown) > 3
