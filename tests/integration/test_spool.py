"""Events from spools into the store: in order, each once, whatever lies there and whoever is killed meanwhile."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from woodwind.agents.base import Agent
from woodwind.base import paths, spool
from woodwind.base.clock import now, to_ms
from woodwind.model.reading import Reading, Recorded, Seen, Tells
from woodwind.model.turn import BRIEF, State, Turn
from woodwind.model.verdict import Evidence, judge
from woodwind.muxes.base import Pane
from woodwind.ops import record
from woodwind.ops.context import Context
from woodwind.ops.observe import agent_of, look, observe
from woodwind.store import listing, readings, turns
from woodwind.store.db import open_store

PROJECT, NONCE = "pproject", "nonce"
TAKE = """
import os
from woodwind.ops.context import Context
from woodwind.ops.observe import observe
observe(Context("/", os.environ))
"""


@pytest.fixture
def ctx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    """The surroundings of a call, with a store of its own that knows one worker, `w1`."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "TMUX_TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("WOODWIND_DB", raising=False)
    found = Context("/", os.environ)
    found.store = open_store()
    with found.store.transaction() as db:
        db.execute("INSERT INTO project (id, git_dir, name, seen_at) VALUES (?, '', 'p', 0)", (PROJECT,))
    add_worker(found, "w1")
    yield found
    found.close()


def add_worker(ctx: Context, worker: str, *, phase: str = "running") -> None:
    row = dict.fromkeys("title task kind model permissions launch folder made_by agent_session".split(), "")
    row |= {"id": worker, "project": PROJECT, "name": worker, "name_key": worker, "agent": "rehearsal", "phase": phase}
    numbers = {"plan": 0, "in_place": 0, "automated": 0, "created_at": 1}
    values = {**row, **numbers}
    with ctx.store.transaction() as db:
        marks = ", ".join(f":{name}" for name in values)
        db.execute(f"INSERT INTO worker ({', '.join(values)}) VALUES ({marks})", values)
        sql = "INSERT INTO terminal (worker, server, pid, pid_start, env_names, started_at, nonce)"
        db.execute(f"{sql} VALUES (?, '', 1, '', '[]', 1, ?)", (worker, NONCE))
        turns.save(db, worker, Turn(f"t-{worker}", 1, BRIEF, "go", State.RUNNING, "", NONCE, 1))
    os.makedirs(paths.spool_dir(worker))


def put(
    event: str, prompt_id: str = "", /, *, worker: str = "w1", up: float = 0, boot: str = "", **facts: object
) -> Path:
    """A spool file as a hook would have written it."""
    now = spool.now()
    seconds = f"{(up or now.up / 1000):.2f}"
    count = len(os.listdir(paths.spool_dir(worker)))
    path = Path(paths.spool_dir(worker), f"1_{boot or now.boot}_{seconds}_{count + 100}_{NONCE}")
    path.write_text(json.dumps({"hook_event_name": event, "prompt_id": prompt_id, "session_id": "s", **facts}))
    return path


def spooled(worker: str = "w1") -> list[str]:
    return sorted(os.listdir(paths.spool_dir(worker)))


def told(ctx: Context, worker: str = "w1") -> list[str]:
    return [seen.reading.tells.value for seen in readings.recent(ctx.store, worker)]


def states(ctx: Context, worker: str = "w1") -> list[str]:
    return [turn.state.value for turn in turns.of_worker(ctx.store.db, worker)]


def test_in_the_order_of_the_machines_clock(ctx: Context) -> None:
    put("Stop", "p1", up=30, last_assistant_message="bye")
    put("UserPromptSubmit", "p1", up=10, prompt="go")
    put("PreToolUse", "p1", up=20, tool_name="write")
    os.utime(put("SessionStart", up=5), (1, 1))
    observe(ctx)
    assert told(ctx) == ["started", "submitted", "working", "done"]
    assert [(t.state, t.last_words) for t in turns.of_worker(ctx.store.db, "w1")] == [(State.DONE, "bye")]
    assert spooled() == []
    kinds = [row[0] for row in ctx.store.db.execute("SELECT kind FROM event ORDER BY seq")]
    assert kinds == ["turn.done", "status.changed"]


def test_what_is_from_before_a_reboot_comes_first_and_says_nothing_about_now(ctx: Context) -> None:
    os.utime(put("Stop", "p1", up=9_999_999, boot="an-earlier-boot"), (100, 100))
    put("SessionStart", up=3)
    observe(ctx)
    assert told(ctx) == ["done", "started"]
    known = readings.of_starts(ctx.store, spool.now().boot)["w1"]
    assert [seen.reading.tells.value for seen in known.events] == ["started"]


def test_a_clock_that_is_set_back_changes_no_order(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    up = spool.now().up / 1000
    put("UserPromptSubmit", "p1", up=up - 0.3, prompt="go")
    observe(ctx)
    an_hour_ago = time.time() - 3600
    monkeypatch.setattr("time.time", lambda: an_hour_ago)
    os.utime(put("PermissionRequest", "p1", up=up - 0.2, question="May I?"), (an_hour_ago, an_hour_ago))
    observe(ctx)
    known = readings.of_starts(ctx.store, spool.now().boot)["w1"]
    assert [seen.reading.tells.value for seen in known.events] == ["submitted", "asking"]
    found = judge(Evidence(spool.now().up, known.events, has_events=True))
    assert (found.status, found.detail) == ("asking", "May I?")


def test_work_that_goes_on_is_one_row(ctx: Context) -> None:
    put("UserPromptSubmit", "p1", up=1, prompt="go")
    for n in range(50):
        put("PostToolUse", "p1", up=2 + n, tool_name=f"tool{n}")
    observe(ctx)
    assert told(ctx) == ["submitted", "working"]
    assert readings.recent(ctx.store, "w1")[-1].up == 51_000


def test_the_conversation_that_the_agent_names_is_learned(ctx: Context) -> None:
    put("SessionStart", session_id="its-own")
    observe(ctx)
    assert ctx.store.db.execute("SELECT agent_session FROM worker").fetchone() == ("its-own",)


def aside() -> list[str]:
    folder = Path(paths.spool_dir("w1"), "bad")
    return sorted(os.listdir(folder)) if folder.is_dir() else []


def test_what_is_no_event_is_set_aside(ctx: Context) -> None:
    name = put("Stop").name
    folder = Path(paths.spool_dir("w1"))
    stem = name.rpartition("_")[0]
    (folder / f"{stem}_list").write_text("[1, 2]")
    (folder / f"{stem}_number").write_text("7")
    (folder / f"{stem}_huge").write_text(json.dumps({"hook_event_name": "Stop", "x": "a" * (5 << 20)}))
    (folder / f"{stem}_link").symlink_to("/etc/passwd")
    os.mkfifo(folder / f"{stem}_fifo")
    (folder / f"{stem}_folder").mkdir()
    (folder / "something else").write_text("{}")
    (folder / f"2{name[1:]}").write_text("{}")  # of a later version
    observe(ctx)
    left = {entry.removeprefix(f"{stem}_") for entry in aside()}
    assert left == {"list", "number", "huge", "link", "fifo", "folder", "something else", f"2{name[1:]}"}
    assert spooled() == ["bad"]
    assert told(ctx) == ["done"]
    assert Path("/etc/passwd").exists()


def test_half_a_file_waits_for_its_other_half(ctx: Context) -> None:
    path = put("Stop", "p1")
    whole = path.read_bytes()
    path.write_bytes(whole[:20])
    observe(ctx)
    assert spooled() == [path.name]
    path.write_bytes(whole)
    observe(ctx)
    assert (spooled(), told(ctx)) == ([], ["done"])


@pytest.mark.parametrize("content", ["", '{"hook_event', "nonsense", "\0" * 40, "[" * 100_000])
def test_half_a_file_is_set_aside_after_a_while(ctx: Context, content: str) -> None:
    path = put("Stop", up=spool.now().up / 1000 - 11)
    path.write_text(content)
    observe(ctx)
    assert (aside(), told(ctx)) == ([path.name], [])


def test_hostile_facts_are_taken_as_text(ctx: Context) -> None:
    put("PermissionRequest", up=1, question="\x1b[31mred\x1b[0m\x07 \u202egnp", tool_name=["a"], prompt_id={"x": 1})
    put("UserPromptSubmit", up=2, prompt="x" * 100_000)
    put("NobodyKnowsThis")
    observe(ctx)
    asked, submitted = readings.recent(ctx.store, "w1")
    assert (asked.reading.text, asked.reading.tool) == ("red gnp", "['a']")
    assert len(submitted.reading.text) == 4000
    assert (spooled(), aside()) == ([], [])


def test_of_a_worker_that_is_removed_or_unknown(ctx: Context) -> None:
    add_worker(ctx, "gone", phase="removed")
    os.makedirs(paths.spool_dir("stranger"))
    for worker in ("gone", "stranger"):
        put("Stop", worker=worker)
    observe(ctx)
    assert (spooled("gone"), spooled("stranger")) == (["bad"], ["bad"])
    assert told(ctx, "gone") == []


def test_only_the_newest_that_were_set_aside_are_kept(ctx: Context) -> None:
    for n in range(50):
        Path(paths.spool_dir("w1"), f"strange {n}").write_text("")
    observe(ctx)
    assert len(aside()) == 20


def test_a_deleted_spool_is_no_trouble(ctx: Context) -> None:
    os.rmdir(paths.spool_dir("w1"))
    observe(ctx)
    command = spool.hook_command(paths.spool_dir("w1"), NONCE)
    event = b'{"hook_event_name": "Stop"}'
    subprocess.run(["sh", "-c", command], input=event, check=True)
    observe(ctx)
    assert told(ctx) == ["done"]


@pytest.mark.parametrize("point", ["observe.before_commit", "observe.after_commit", "observe.after_unlink"])
def test_killed_in_the_middle_of_taking(ctx: Context, point: str) -> None:
    put("UserPromptSubmit", "p1", up=10, prompt="go")
    put("PreToolUse", "p1", up=15)
    put("PermissionRequest", "p1", up=20, question="May I?")
    put("Stop", "p1", up=30, last_assistant_message="bye")
    words = [sys.executable, "-c", TAKE]
    killed = subprocess.run(words, env={**os.environ, "WOODWIND_FAILPOINT": point}, check=False)
    assert killed.returncode == -9
    observe(ctx)
    assert told(ctx)[-1] == "done" if point == "observe.before_commit" else "done" in told(ctx)
    assert states(ctx) == ["done"]
    assert spooled() == []
    ends = ctx.store.db.execute("SELECT count(*) FROM event WHERE kind = 'turn.done'").fetchone()
    assert ends == (1,)


def test_several_takers_at_once(ctx: Context) -> None:
    for n in range(200):
        put("UserPromptSubmit", f"p{n}", up=10 + n, prompt=f"prompt {n}")
        put("Stop", f"p{n}", up=10.5 + n)

    def take(_: int) -> None:
        mine = Context("/", os.environ)
        try:
            observe(mine)
        finally:
            mine.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(take, range(4)))
    observe(ctx)
    assert spooled() == []
    ends = ctx.store.db.execute("SELECT count(*) FROM event WHERE kind = 'turn.done'").fetchone()
    assert ends == (200,)
    assert set(states(ctx)) == {"done"} or set(states(ctx)[1:]) == {"done"}


def test_a_thousand_events_of_fifty_workers(ctx: Context, tmp_path: Path) -> None:
    workers = [f"w{n}" for n in range(1, 51)]
    for worker in workers[1:]:
        add_worker(ctx, worker)
    payloads = [
        json.dumps(
            {"hook_event_name": event, "prompt_id": f"p{n}", "session_id": "s", "prompt": f"more {n}" if n else "go"}
        )
        for n in range(5)
        for event in ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop")
    ]
    (tmp_path / "payloads").write_text("".join(f"{payload}\n" for payload in payloads))
    fire = f'while read -r payload; do printf %s "$payload" | sh -c "$HOOK"; done <{tmp_path}/payloads'
    hooks = [spool.hook_command(paths.spool_dir(worker), NONCE) for worker in workers]
    agents = [subprocess.Popen(["sh", "-c", fire], env={**os.environ, "HOOK": hook}) for hook in hooks]
    assert [agent.wait(timeout=60) for agent in agents] == [0] * 50
    assert sum(len(spooled(worker)) for worker in workers) == 1000
    observe(ctx)
    assert all(spooled(worker) == [] for worker in workers)
    assert all(states(ctx, worker) == ["done"] * 5 for worker in workers)


def take_in(ctx: Context) -> None:
    """Only the events, without a look at what becomes of agents that have no terminal here."""
    record.take_spools(ctx, listing.rows(ctx.store), lambda name: agent_of(ctx, name))


def test_a_long_history_costs_little_and_hides_no_open_prompt(ctx: Context) -> None:
    put("UserPromptSubmit", "p1", up=10, prompt="go")
    put("UserPromptSubmit", "p2", up=11, prompt="and then")
    for n in range(25):
        put("PermissionRequest", "p1", up=20 + n, tool_name="Bash", question=f"may it {n}?")
        put("PostToolUse", "p1", up=20.5 + n, tool_name="Bash")
    take_in(ctx)
    with ctx.store.transaction() as db:
        readings.insert(db, "w1", Seen(Reading(Tells.WORKING, 1, "title"), spool.now().boot, 12_000, 0, NONCE))
    for n in range(5):
        put("PermissionRequest", "p1", up=60 + n, tool_name="Bash", question=f"still {n}?")
        put("PostToolUse", "p1", up=60.5 + n, tool_name="Bash")
    put("Stop", "p1", up=70)
    take_in(ctx)
    assert len(told(ctx)) <= readings.KEPT + 1
    known = readings.of_starts(ctx.store, spool.now().boot)["w1"]
    assert len(known.events) < 12
    assert known.title
    assert [s.reading.prompt_id for s in known.events if s.reading.tells is Tells.SUBMITTED] == ["p2"]
    assert judge(Evidence(71_000, known.events)).status == "working"


def test_a_store_that_cannot_be_written_leaves_the_events_where_they_are(ctx: Context) -> None:
    path = put("Stop", "p1")
    ctx.store.db.execute("PRAGMA query_only = ON")
    sights = look(ctx, listing.rows(ctx.store))
    assert sights["w1"].verdict.status == "exited"
    assert any("could not be taken in" in note for note in ctx.notes)
    assert spooled() == [path.name]
    ctx.store.db.execute("PRAGMA query_only = OFF")
    observe(ctx)
    assert told(ctx) == ["done"]


def test_a_reading_of_a_later_version_is_no_evidence(ctx: Context) -> None:
    put("Stop", "p1")
    observe(ctx)
    with sqlite3.connect(ctx.store.path) as db:
        db.execute("UPDATE reading SET tells = 'levitating'")
    assert told(ctx) == []


class Recorder(Agent):
    """An agent whose own record of the conversation is as given; None for one that cannot be read."""

    keeps_record = True

    def __init__(self, told: Recorded | None) -> None:
        self.told = told

    def recorded(self, environ: Mapping[str, str], folder: str, since: int) -> Recorded | None:
        return self.told


SAID, BROKE = Reading(Tells.DONE, 9, "record", text="Said."), Reading(Tells.FAILED, 9, "record", text="400")


@pytest.mark.parametrize(
    "told, age, decides, state, words",
    [
        (None, 0, False, "running", ""),
        (Recorded(), 0, True, "running", ""),  # it shows its prompt, and has not taken the first one yet
        (Recorded(("another",), SAID), 0, True, "running", ""),
        (Recorded(), 61_000, True, "unknown", ""),
        (Recorded(("go",)), 0, False, "running", ""),  # its terminal has to tell how it ended
        (Recorded(("go",), SAID, "its-own"), 0, True, "done", "Said."),
        (Recorded(("go",), BROKE), 0, True, "failed", ""),
    ],
)
def test_a_record_of_the_agents_own(
    ctx: Context, told: Recorded | None, age: int, decides: bool, state: str, words: str
) -> None:
    facts = {"id": "%1", "project": PROJECT, "exit_status": "", "session": "", "window": "", "title": ""}
    pane = Pane(worker="w1", pid=os.getpid(), dead=False, last_output=0, **facts)
    [row] = listing.rows(ctx.store)
    with ctx.store.transaction() as db:
        turns.save(db, "w1", Turn("t-w1", 1, BRIEF, "go", State.RUNNING, "", NONCE, to_ms(now()) - age))
        assert record.follow_record(db, row, pane, Recorder(told)) is decides
    [turn] = turns.of_worker(ctx.store.db, "w1")
    assert (turn.state.value, turn.last_words) == (state, words)
    session = ctx.store.db.execute("SELECT agent_session FROM worker").fetchone()
    assert session == (told.session if told else "",)
