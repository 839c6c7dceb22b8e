"""The life of each real agent: every situation that a user meets, with the verdict that it must get."""

import os
import signal
import time
from pathlib import Path

from tests.agents.rig import PATIENCE, Rig
from woodwind.testing.model_server.script import NOBODY


def test_the_version_is_the_one_that_was_checked(rig: Rig) -> None:
    told = rig.sandbox.run(rig.agent.command, "--version", check=True, timeout=PATIENCE).stdout
    assert rig.agent.checked in told.replace("v", " ").split(), "check the adapter, then change `checked`"


def test_a_life(rig: Rig) -> None:
    setup = rig.setup
    with rig.situation("prompt at launch"):
        script = ["model: run echo hello > hello.txt"]
        script += ["model: run git add hello.txt && git commit -q -m 'Add hello'"] if setup.commits else []
        tree = rig.new("life", *script, "model: say Hello is in.", permissions=setup.free)
        entry = rig.wait("life")
        rig.saw("prompt at launch", entry, "done", rig.latency())
        rig.heard(entry, "Hello is in.")
        assert (tree / "hello.txt").read_text() == "hello\n"
    with rig.situation("its edit is committed"):
        rig.sandbox.wait_for(lambda: ("Add hello" if setup.commits else "Hello is in.") in rig.commits(tree), PATIENCE)
        rig.table.add(rig.name, "its edit is committed", "by itself" if setup.commits else "by us, at the turn's end")
    with rig.situation("follow-up by ww send"):
        rig.send("life", "First line of several.", "", "model: say Second words.")
        entry = rig.wait("life")
        rig.saw("follow-up by ww send", entry, "done", rig.latency())
        rig.heard(entry, "Second words.")
    _slow_and_interrupted(rig)
    with rig.situation("API error"):
        rig.send("life", "model: fail 400")
        rig.saw("API error", rig.wait("life"), "failed", rig.latency())
    with rig.situation("killed"):
        status = _kill(rig)
        rig.table.add(rig.name, "killed", f"exited {status}")
    with rig.situation("resumed with its conversation"):
        rig.ww("resume", "life", check=True)
        rig.send("life", "model: recall")
        entry = rig.wait("life")
        rig.saw("resumed with its conversation", entry, "done", rig.latency())
        # The brief is read by a tool, so it counts: brief, follow-up, slow, error, recall.
        rig.heard(entry, f"I recall {setup.recalls} scripts.")
    with rig.situation("context cleared"):
        _clear(rig)
        rig.send("life", "model: recall")
        entry = rig.wait("life")
        rig.saw("context cleared", entry, "done", rig.latency())
        rig.heard(entry, "I recall 1 scripts.")
    _two_at_once(rig)
    for what, made in setup.own.items():
        with rig.situation(f"the user's own {what}"):
            rig.sandbox.wait_for(Path(made).exists, PATIENCE)
            rig.table.add(rig.name, f"the user's own {what}", "ran too")


def _slow_and_interrupted(rig: Rig) -> None:
    with rig.situation("slow turn"):
        rig.send("life", "model: stream 300 slow words")
        began = time.monotonic()
        seen = []
        while time.monotonic() - began < 6:
            seen.append(rig.entry("life")["status"])
            time.sleep(0.5)
        rig.table.add(rig.name, "slow turn", f"{', '.join(sorted(set(seen)))} ({len(seen)} looks)")
        assert set(seen) == {"working"}
    with rig.situation("interrupt"):
        rig.ww("pause", "life", check=True)
        entry = rig.wait("life", "ready")
        rig.saw("interrupt", entry, "interrupted")


def _two_at_once(rig: Rig) -> None:
    with rig.situation("message while it works"):
        rig.send("life", "model: stream 10 slow words")
        rig.send("life", "model: say Words of the second.")
        entry = rig.wait("life")
        rig.saw("message while it works", entry, "done", rig.latency())
        rig.heard(entry, "Words of the second.")
        assert [turn["state"] for turn in rig.turns("life")[-2:]] == ["done", "done"]
    with rig.situation("agent of its own"):
        before = len(rig.turns("life"))
        rig.send("life", "model: delegate stream 8 Below", "model: say Above.")
        entry = rig.wait("life")
        if entry["turn"]["last_words"] == NOBODY:
            rig.table.add(rig.name, "agent of its own", "it has none")
            return
        rig.saw("agent of its own", entry, "done", rig.latency())
        rig.heard(entry, "Above.")
        # It may have its last words at once, and goes on when the other has come to its end.
        assert rig.said_at("Above.") > rig.said_at("Below", 8.0)
        assert len(rig.turns("life")) == before + 1


def test_a_question(rig: Rig) -> None:
    setup = rig.setup
    if not setup.asks:
        rig.table.add(rig.name, "permission question", "it never asks")
        return
    with rig.situation("permission question"):
        tree = rig.new("asker", setup.ask_line, "model: say Asked and done.", permissions=setup.asks)
        if setup.asks_to_read:
            assert rig.wait("asker")["status"] == "asking"
            rig.ww("answer", "asker", "allow", check=True)
            rig.sandbox.wait_for(lambda: "$ touch asked.txt" in rig.sandbox.screen(_pane(rig)), PATIENCE)
        entry = rig.wait("asker", "asking" if setup.asks_to_read else "")
        rig.table.add(rig.name, "permission question", entry["status"], rig.latency())
        assert entry["status"] == "asking"
        assert "touch asked.txt" in entry["question"]["text"] or not rig.agent.tells_ends
        assert not (tree / "asked.txt").exists()
    with rig.situation("answered by ww answer"):
        refused = rig.ww("send", "asker", "model: say No.")
        assert refused.code != 0
        rig.ww("answer", "asker", "allow", check=True)
        entry = rig.wait("asker")
        rig.saw("answered by ww answer", entry, "done", rig.latency())
        assert (tree / "asked.txt").exists()
        rig.heard(entry, "Asked and done.")
    with rig.situation("denied by ww answer"):
        (tree / "asked.txt").unlink()
        rig.send("asker", setup.ask_line, "model: say Denied.")
        assert rig.wait("asker")["status"] == "asking"
        rig.ww("answer", "asker", "deny", check=True)
        entry = rig.wait("asker")
        assert entry["status"] == "ready"
        rig.table.add(rig.name, "denied by ww answer", f"ready, turn {entry['turn']['state']}")
        assert entry["turn"]["state"] in ("interrupted", "done"), entry
        assert not (tree / "asked.txt").exists()


def _pane(rig: Rig) -> str:
    return rig.sandbox.tmux("list-panes", "-a", "-F", "#{pane_id}").split()[0]


def _clear(rig: Rig) -> None:
    """Type the agent's own word for it, as a person does: not in one breath with Enter, which it takes for a paste."""
    pane = _pane(rig)
    rig.sandbox.type_in(pane, rig.agent.clear, enter=False)
    end = time.monotonic() + PATIENCE
    while "model: recall" in rig.sandbox.screen(pane):
        assert time.monotonic() < end, rig.sandbox.screen(pane)
        time.sleep(1)
        rig.sandbox.press(pane, "Enter")


def _kill(rig: Rig) -> str:
    process = int(rig.sandbox.fact(_pane(rig), "pane_pid"))
    os.kill(process, signal.SIGKILL)
    entry = rig.wait("life", "exited")
    assert entry["status"] == "exited", entry
    assert not Path(f"/proc/{process}/fd/0").exists()
    assert entry["detail"] == "with signal 9", entry
    return str(entry["detail"])
