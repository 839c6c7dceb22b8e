"""The rehearsal agent as a person and a supervisor meet it: the real program in a real, private tmux."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from woodwind.testing.repo import git, make_repo
from woodwind.testing.sandbox import Result, Sandbox

PROGRAM = (sys.executable, "-m", "woodwind.testing.rehearsal")
# Works until the test makes this file: no test depends on how long something takes.
GATE = "run sh -c 'while [ ! -e gate ]; do sleep 0.02; done'"


class Stage:
    """An agent in a pane, in a repository, with every hook event in a file."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.repo = make_repo(sandbox.root / "repo")
        self.log = sandbox.root / "hooks"
        self.pane = ""

    def start(self, *argv: str, **env: str) -> None:
        env = {"REHEARSAL_HOOK": f"cat >> {self.log}", **env}
        self.pane = self.sandbox.run_in_pane(*PROGRAM, *argv, cwd=self.repo, env=env)

    def headless(self, *argv: str, input: str | None = None) -> Result:
        env = {"REHEARSAL_HOOK": f"cat >> {self.log}"}
        return self.sandbox.run(*PROGRAM, *argv, cwd=self.repo, env=env, input=input)

    def title(self, expected: str) -> None:
        what = f"the title {expected!r}"
        try:
            self.sandbox.wait_for(lambda: self.sandbox.fact(self.pane, "pane_title") == expected, what=what)
        except AssertionError as error:
            raise AssertionError(
                f"{error}; it is {self.sandbox.fact(self.pane, 'pane_title')!r} on\n{self.text()}"
            ) from None

    def shows(self, text: str) -> None:
        self.sandbox.wait_for(lambda: text in self.text(), what=f"{text!r} on the screen")

    def text(self) -> str:
        return self.sandbox.screen(self.pane, history=True)

    def type(self, text: str) -> None:
        self.sandbox.type_in(self.pane, text)

    def exit_status(self) -> int:
        return self.sandbox.exit_status(self.pane)

    def process(self) -> int:
        return int(self.sandbox.fact(self.pane, "pane_pid"))

    def events(self) -> list[dict[str, Any]]:
        text = self.log.read_text() if self.log.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def names(self) -> list[str]:
        return [event["hook_event_name"] for event in self.events()]


@pytest.fixture
def stage() -> Iterator[Stage]:
    with Sandbox() as sandbox:
        yield Stage(sandbox)


def lines(*actions: str) -> str:
    return "\n".join(f"rehearse: {action}" for action in actions)


def test_the_first_turn_comes_from_the_brief(stage: Stage) -> None:
    (stage.repo / ".woodwind").mkdir()
    (stage.repo / ".woodwind/brief.md").write_text(
        "# Add a file\n\n> rehearse: write docs/a.txt one\\ntwo\\n\n- rehearse: append docs/a.txt three\\n\n"
        "rehearse: replace docs/a.txt two => 2\nrehearse: commit Add a file\nrehearse: say all done\n"
    )
    (stage.repo / ".git/info/exclude").write_text(".woodwind/\n")
    stage.start("Read .woodwind/brief.md and do what it says.", WOODWIND_WORKER="amber")
    stage.title("✓ ready")
    assert (stage.repo / "docs/a.txt").read_text() == "one\n2\nthree\n"
    assert git(stage.repo, "log", "-1", "--format=%s") == "Add a file"
    assert git(stage.repo, "status", "--porcelain") == ""
    shown = stage.text()
    assert "Rehearsal agent" in shown
    assert "worker: amber" in shown
    assert f"committed {git(stage.repo, 'rev-parse', '--short', 'HEAD')}: Add a file" in shown
    assert shown.rstrip().endswith("all done\n›")


def test_hooks_are_fired_in_order(stage: Stage) -> None:
    stage.start("--session-id", "s-1", lines("write a.txt x", "run false", "commit c", "permit it", "say bye"))
    stage.title("? asking: Allow it? (y/n)")
    assert stage.names() == [
        "SessionStart",
        "UserPromptSubmit",
        *["PreToolUse", "PostToolUse"] * 3,
        "PermissionRequest",
    ]
    stage.type("y")
    stage.title("✓ ready")
    stage.type("rehearse: fail no luck")
    stage.title("✗ failed")
    stage.type("/clear")
    stage.title("✓ ready")
    stage.shows("cleared: 2 turns forgotten")
    stage.type("/exit")
    assert stage.exit_status() == 0
    events = stage.events()
    assert stage.names()[9:] == [
        "Stop",
        "UserPromptSubmit",
        "StopFailure",
        "SessionEnd",
        "SessionStart",
        "SessionEnd",
    ]
    facts = {event["hook_event_name"]: event for event in reversed(events)}
    assert facts["SessionStart"]["source"] == "startup"
    assert facts["UserPromptSubmit"]["prompt"].startswith("rehearse: write a.txt x\n")
    assert facts["PreToolUse"]["tool_name"] == "write"
    assert facts["PreToolUse"]["tool_input"] == {"path": "a.txt", "text": "x"}
    assert facts["PermissionRequest"]["tool_name"] == "permit"
    assert facts["Stop"]["last_assistant_message"] == "bye"
    assert facts["StopFailure"]["error"] == "no luck"
    assert [event["reason"] for event in events if "reason" in event] == ["clear", "prompt_input_exit"]
    assert {event["cwd"] for event in events} == {str(stage.repo)}
    # One id per prompt, and a new session after /clear.
    assert len({event["prompt_id"] for event in events[1:10]}) == 1
    assert events[10]["prompt_id"] == events[11]["prompt_id"] != events[9]["prompt_id"]
    assert {event["session_id"] for event in events[:13]} == {"s-1"}
    assert "s-1" not in {event["session_id"] for event in events[13:]}


def test_a_question_takes_any_answer(stage: Stage) -> None:
    stage.start(lines("ask Which\\tcolour?", "write answer.txt {answer}", "ask Sure?", "say so {answer}"))
    stage.title("? asking: Which colour?")
    stage.shows("1. Yes  2. No")
    assert not (stage.repo / "answer.txt").exists()
    stage.type("dark red; $HOME")
    stage.title("? asking: Sure?")
    assert (stage.repo / "answer.txt").read_text() == "dark red; $HOME"
    stage.type("2")
    stage.title("✓ ready")
    stage.shows("so No")


def test_a_refused_permission_skips_the_rest(stage: Stage) -> None:
    stage.start(lines("permit network access", "write a.txt x"))
    stage.title("? asking: Allow network access? (y/n)")
    stage.type("perhaps")
    stage.shows("not understood")
    stage.type("n")
    stage.title("✓ ready")
    stage.shows("not allowed: network access; the rest of the turn is skipped")
    assert not (stage.repo / "a.txt").exists()
    assert stage.names()[-2:] == ["PermissionRequest", "Stop"]


def test_a_half_typed_prompt_never_answers_a_question(stage: Stage) -> None:
    stage.start(lines(GATE, "permit it", "write a.txt x"))
    stage.title("● working")
    stage.sandbox.type_in(stage.pane, "y", enter=False)
    stage.shows("\n› y")
    (stage.repo / "gate").touch()
    stage.title("? asking: Allow it? (y/n)")
    # Enter alone says nothing, and "n" must not become "yn".
    stage.type("")
    stage.type("n")
    stage.title("✓ ready")
    assert "not understood" not in stage.text()
    assert not (stage.repo / "a.txt").exists()
    stage.sandbox.wait_for(lambda: stage.text().rstrip().endswith("› y"), what="the half-typed prompt")


@pytest.mark.parametrize("script", ["hang", "run sleep 600", "think 600", "ask Really?", "flood 100000000000"])
def test_ctrl_c_interrupts_a_turn(stage: Stage, script: str) -> None:
    stage.start(lines("say started", script, "write a.txt x"))
    stage.shows("started" if "flood" not in script else "flood 0123456789")
    stage.sandbox.press(stage.pane, "C-c")
    stage.title("⊘ interrupted")
    assert "Stop" not in stage.names()
    assert "StopFailure" not in stage.names()
    assert not (stage.repo / "a.txt").exists()
    stage.type("rehearse: say still here")
    stage.title("✓ ready")
    stage.shows("still here")


def test_an_interrupted_command_is_ended(stage: Stage) -> None:
    stage.start(lines("run sh -c 'echo $$ > pid; trap : INT; while :; do sleep 0.1; done'"))
    pid = stage.repo / "pid"
    stage.sandbox.wait_for(lambda: pid.exists() and pid.read_text().strip(), what="the command")
    stage.sandbox.press(stage.pane, "C-c")
    stage.title("⊘ interrupted")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_input_while_working_is_the_next_turn(stage: Stage) -> None:
    stage.start(lines(GATE, "ask Go on?"))
    stage.title("● working")
    stage.type("rehearse: say second")
    stage.sandbox.wait_for(lambda: stage.names().count("UserPromptSubmit") == 2, what="the second prompt's hook")
    assert "Stop" not in stage.names()
    (stage.repo / "gate").touch()
    stage.title("? asking: Go on?")
    stage.type("1")
    stage.title("✓ ready")
    stage.shows("second")
    events = [event for event in stage.events() if event["prompt_id"] and "tool_input" not in event]
    first, second = events[0]["prompt_id"], events[1]["prompt_id"]
    assert [(event["hook_event_name"], event["prompt_id"]) for event in events] == [
        ("UserPromptSubmit", first),
        ("UserPromptSubmit", second),
        ("PermissionRequest", first),
        ("Stop", first),
        ("Stop", second),
    ]


def test_a_paste_of_several_lines_is_one_prompt(stage: Stage) -> None:
    stage.start()
    stage.title("✓ ready")
    text = "First line\n\n" + lines("write a.txt x", "say pasted") + "\nlast line, größer"
    stage.sandbox.paste_in(stage.pane, text)
    stage.shows("pasted\n›")
    prompts = [event["prompt"] for event in stage.events() if "prompt" in event]
    assert prompts == [text]
    assert (stage.repo / "a.txt").read_text() == "x"


def test_a_large_paste_arrives_whole(stage: Stage) -> None:
    stage.start()
    stage.title("✓ ready")
    text = "".join(f"{number:07d} größe\n" for number in range(6700)) + "rehearse: say the end"
    assert len(text.encode()) > 100_000
    stage.sandbox.paste_in(stage.pane, text)
    stage.shows("the end\n›")
    prompts = [event["prompt"] for event in stage.events() if "prompt" in event]
    assert prompts == [text]


def test_typed_keys_edit_the_line(stage: Stage) -> None:
    stage.start()
    stage.title("✓ ready")
    stage.sandbox.press(stage.pane, "x", "C-u", "h", "é", "y", "BSpace", "Left", "M-q", "F5", "Enter")
    stage.shows("I read “hé”")
    # The Esc key alone is not the start of something; only time tells the two apart:
    # more of it than a busy machine lets the program wait for its turn.
    stage.sandbox.press(stage.pane, "Escape")
    time.sleep(2)
    stage.type("whole")
    stage.shows("I read “whole”")


def test_input_that_came_before_the_start_is_kept(stage: Stage) -> None:
    pane = stage.sandbox.run_in_pane("sh", "-c", 'read line; exec "$@"', "sh", *PROGRAM, cwd=stage.repo)
    stage.pane = pane
    stage.sandbox.tmux("send-keys", "-t", pane, "go", "Enter", "early", "Enter")
    stage.shows("I read “early”")


@pytest.mark.parametrize(
    "keys, status", [(["C-d"], 0), (["C-c", "C-c"], 0), (["x", "C-c", "C-c"], 0), (["/exit", "Enter"], 0)]
)
def test_keys_at_the_prompt_end_it(stage: Stage, keys: list[str], status: int) -> None:
    stage.start()
    stage.title("✓ ready")
    stage.sandbox.press(stage.pane, *keys)
    assert stage.exit_status() == status
    assert stage.events()[-1]["reason"] == "prompt_input_exit"


def test_one_ctrl_c_at_the_prompt_does_not_end_it(stage: Stage) -> None:
    stage.start()
    stage.title("✓ ready")
    stage.sandbox.press(stage.pane, "C-c", "a", "C-c")
    stage.type("b")
    stage.shows("I read “b”")


@pytest.mark.parametrize(
    "script, number, status",
    [
        ("exit 7", None, 7),
        ("hang", signal.SIGTERM, 143),
        ("hang", signal.SIGHUP, 129),
        ("ask Well?", signal.SIGTERM, 143),
        ("run sleep 600", signal.SIGTERM, 143),
        ("say idle", signal.SIGTERM, 143),
    ],
)
def test_the_exit_status_is_as_told(stage: Stage, script: str, number: int | None, status: int) -> None:
    stage.start(lines("say started", script))
    if number:
        stage.shows("started")
        os.kill(stage.process(), number)
    assert stage.exit_status() == status
    assert stage.names()[-1] == "SessionEnd"


def test_it_can_die_at_once(stage: Stage) -> None:
    stage.start(lines("die"))
    assert stage.exit_status() == -signal.SIGKILL
    assert stage.names() == ["SessionStart", "UserPromptSubmit"]


def test_the_terminal_is_given_back_as_it_was(stage: Stage) -> None:
    script = 'before=$(stty -g); "$@"; [ "$before" = "$(stty -g)" ] && echo same; cat'
    stage.pane = stage.sandbox.run_in_pane("sh", "-c", script, "sh", *PROGRAM, "rehearse: exit 3")
    stage.shows("same")
    # Bracketed paste is off again: no marker comes with it.
    stage.sandbox.paste_in(stage.pane, "plain")
    stage.sandbox.wait_for(lambda: stage.text().count("plain") == 2, what="the pasted line")
    assert "200~" not in stage.text()


@pytest.mark.parametrize(
    "script, message",
    [
        ("dance", "unknown action 'dance'"),
        ("write ../out.txt x", "refused: ../out.txt is outside of the worktree"),
        ("write link/out.txt x", "refused: link/out.txt is outside of the worktree"),
        ("write /out.txt x", "refused: /out.txt is outside"),
        ("write .git/config x", "refused: .git/config is in git's own folder"),
        ("delete none.txt", "No such file"),
        ("replace README.md nothing => x", "README.md does not contain 'nothing'"),
        ("commit nothing new", "git commit failed: "),
        ("fail out of luck", "out of luck"),
        ("ask Well?", "nobody is there to answer: Well?"),
    ],
)
def test_what_cannot_be_done_fails_the_turn(stage: Stage, script: str, message: str) -> None:
    (stage.repo / "link").symlink_to(stage.sandbox.home)
    (stage.repo / ".git/info/exclude").write_text("link\n")
    result = stage.headless(lines(script, "write after.txt x"))
    assert result.code == 1
    assert f"✗ {'line 1: ' if script == 'dance' else ''}" in result.stdout
    assert message in result.stdout
    assert not (stage.repo / "after.txt").exists()
    assert not (stage.sandbox.home / "out.txt").exists()
    assert "StopFailure" in stage.names()


def test_without_a_terminal_it_does_one_turn(stage: Stage) -> None:
    result = stage.headless(lines("write a.txt x", "run sh -c 'echo out; exit 4'", "delete README.md", "commit c"))
    assert result.code == 0
    assert "\x1b" not in result.stdout
    assert "out\nexit status 4\n" in result.stdout
    assert git(stage.repo, "ls-files") == "a.txt"
    assert stage.names()[-2:] == ["Stop", "SessionEnd"]

    assert stage.headless("rehearse: exit 9").code == 9
    assert "I read “from a pipe”" in stage.headless("-p", input="from a pipe\n").stdout
    assert stage.headless("").code == 2


def test_a_missing_identity_is_made_up(stage: Stage) -> None:
    for key in ("user.name", "user.email"):
        git(stage.repo, "config", "--unset", key)
    os.unlink(stage.sandbox.env["GIT_CONFIG_GLOBAL"])
    assert stage.headless(lines("write a.txt x", "commit c")).code == 0
    assert git(stage.repo, "log", "-1", "--format=%an %ae") == "Rehearsal rehearsal@example.invalid"


def test_a_flood_has_the_wanted_size(stage: Stage) -> None:
    none = len(stage.headless("rehearse: flood 0").stdout.encode())
    many = len(stage.headless("rehearse: flood 123456").stdout.encode())
    # The echoed prompt is five digits longer.
    assert many - none == 123456 + len("23456")


def test_plan_mode_edits_nothing(stage: Stage) -> None:
    result = stage.headless("--plan", lines("write a.txt x", "run touch b.txt", "commit c", "say planned"))
    assert result.code == 0
    assert result.stdout.count("plan mode: I would") == 3
    assert "planned" in result.stdout
    assert sorted(path.name for path in stage.repo.iterdir()) == [".git", "README.md"]
    assert git(stage.repo, "rev-list", "--count", "HEAD") == "1"
    assert "PreToolUse" not in stage.names()


def test_edits_are_asked_about(stage: Stage) -> None:
    stage.start("--ask-edits", lines("write a.txt x", "write b.txt x", "write c.txt x"))
    stage.title("? asking: Allow write a.txt? (y/n/a for always)")
    assert not (stage.repo / "a.txt").exists()
    stage.type("y")
    stage.title("? asking: Allow write b.txt? (y/n/a for always)")
    stage.type("a")
    stage.title("✓ ready")
    assert (stage.repo / "c.txt").exists()


def test_a_session_is_resumed(stage: Stage) -> None:
    assert stage.headless("--session-id", "s-9", "one").code == 0
    taken = stage.headless("--session-id", "s-9", "two")
    assert (taken.code, "s-9 is in use already" in taken.stderr) == (1, True)
    assert "this session had 1 turn" in stage.headless("--resume", "s-9", "two").stdout
    assert "this session had 2 turns" in stage.headless("--resume", "s-9", "three").stdout
    assert [event["source"] for event in stage.events() if "source" in event] == ["startup", "resume", "resume"]
    missing = stage.headless("--resume", "s-8", "three")
    assert (missing.code, missing.stderr) == (1, "rehearsal: no session s-8 to resume\n")
    assert stage.headless("--resume", "../s-9", "three").code == 1


@pytest.mark.parametrize("hook", ["exit 2", "no-such-command", "exec 0<&-; exit 0", "kill -9 $$"])
def test_a_broken_hook_changes_nothing(stage: Stage, hook: str) -> None:
    prompt = "x" * 200_000 + "\nrehearse: write a.txt x"
    env = {"REHEARSAL_HOOK": hook}
    result = stage.sandbox.run(*PROGRAM, cwd=stage.repo, env=env, input=prompt)
    assert result.code == 0
    assert (stage.repo / "a.txt").exists()


def test_outside_text_reaches_the_title_as_plain_text(stage: Stage) -> None:
    stage.start("rehearse: ask a\x1b]2;evil\x07\x9b #(touch evil) " + "é" * 100)
    stage.title(("? asking: a]2;evil #(touch evil) " + "é" * 100)[:79] + "…")


def test_a_resize_while_typing_does_not_harm(stage: Stage) -> None:
    stage.start()
    stage.title("✓ ready")
    stage.sandbox.type_in(stage.pane, "wide " * 30, enter=False)
    for width in ("20", "3", "120"):
        stage.sandbox.tmux("resize-window", "-t", stage.pane, "-x", width)
    stage.type("end")
    stage.shows("wide end”")
