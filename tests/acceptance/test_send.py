"""`ww send`: what arrives at the agent, and when nothing may be typed at all."""

import fcntl
import os
from pathlib import Path

from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import heard, listed, new_worker, panes_of, rehearse, wait_until


def prompts(box: Sandbox, count: int) -> list[str]:
    """The prompts that were submitted to rehearsal agents after their first one, once there are so many."""
    pointer = "Read .woodwind/brief.md"

    def found() -> list[str]:
        told = [e["prompt"] for e in heard(box, "UserPromptSubmit")]
        return [text for text in told if not text.startswith(pointer)]

    box.wait_for(lambda: len(found()) >= count, what=f"{count} prompts")
    return found()


ARRIVES = {
    "Use the German text too": "Use the German text too",
    "first\n\n  second\twith a tab\nthird": "first\n\n  second\twith a tab\nthird",
    "it's \"quoted\" `like` $HOME \\n \\; ''": "it's \"quoted\" `like` $HOME \\n \\; ''",
    "#(touch x) #{pane_id} #[fg=red] %H ~ {a}": "#(touch x) #{pane_id} #[fg=red] %H ~ {a}",
    "ends with ;": "ends with ;",
    ";": ";",
    "an end \x1b[201~\rrm -rf x": "an end \nrm -rf x",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07bell\x07 \x03 \x04": "red bell",
    "grüße 日本 👍🏽": "grüße 日本 👍🏽",
}


def test_each_text_arrives_as_one_message(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo)
    wait_until(sandbox, repo, "ready")
    for n, sent in enumerate(ARRIVES, 1):
        done = sandbox.ww("send", "worker-one", sent, cwd=repo, check=True)
        assert done.stdout == "sent to worker-one\n"
        prompts(sandbox, n)
    wait_until(sandbox, repo, "ready")
    assert [text.rstrip() for text in prompts(sandbox, 1)] == list(ARRIVES.values())
    assert not list(sandbox.home.rglob("x"))


def test_100_kb_arrive_whole(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo)
    wait_until(sandbox, repo, "ready")
    text = "".join(f"{n:06} the quick brown fox — “jumps” \\ over; $it\n" for n in range(2100)).strip()
    assert len(text.encode()) > 100_000
    file = sandbox.home / "long.md"
    file.write_text(text)
    sandbox.ww("send", "worker-one", "--file", str(file), cwd=repo, check=True)
    [got] = prompts(sandbox, 1)
    assert got == text


def test_nul_and_standard_input_and_a_leading_dash(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo)
    wait_until(sandbox, repo, "ready")
    sandbox.ww("send", "worker-one", "-", input="from\0 a pipe\n", cwd=repo, check=True)
    sandbox.ww("send", "worker-one", "--", "-x --all", cwd=repo, check=True)
    assert prompts(sandbox, 2) == ["from a pipe", "-x --all"]


def test_a_pane_in_copy_mode_gets_it_too(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo)
    wait_until(sandbox, repo, "ready")
    [pane] = panes_of(sandbox, worker["id"])
    sandbox.tmux("copy-mode", "-t", pane)
    assert sandbox.fact(pane, "pane_in_mode") == "1"
    sandbox.ww("send", "worker-one", "q hello", cwd=repo, check=True)
    assert prompts(sandbox, 1) == ["q hello"]


def test_an_exited_agent_is_refused(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, "exit 3")
    wait_until(sandbox, repo, "exited")
    refused = sandbox.ww("send", "worker-one", "hello", "--json", cwd=repo)
    assert refused.code == 1
    assert refused.json["error"]["code"] == "exited"
    assert refused.json["error"]["message"] == "worker-one has exited with status 3"
    assert "ww resume worker-one" in refused.json["error"]["hint"]


def test_a_question_is_not_answered_by_accident(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo, "ask Shall I delete it all?", "write answer.txt {answer}")
    wait_until(sandbox, repo, "asking")
    refused = sandbox.ww("send", "worker-one", "yes", "--json", cwd=repo)
    assert refused.code == 1
    assert refused.json["error"]["code"] == "asking"
    assert "Shall I delete it all?" in refused.json["error"]["message"]
    wait_until(sandbox, repo, "asking")
    assert "› yes" not in sandbox.screen(panes_of(sandbox, worker["id"])[0])


def test_a_shell_that_the_user_opened_in_the_pane_gets_nothing(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo)
    wait_until(sandbox, repo, "ready")
    [pane] = panes_of(sandbox, worker["id"])
    sandbox.tmux("respawn-pane", "-k", "-t", pane, "env", "PS1=prompt>", "sh")
    sandbox.wait_for(lambda: "prompt>" in sandbox.screen(pane), what="the shell")
    refused = sandbox.ww("send", "worker-one", "touch typed", "--json", cwd=repo)
    assert refused.code == 1
    assert refused.json["error"]["code"] == "not_the_agent"
    assert "touch" not in sandbox.screen(pane)
    assert sandbox.ww("send", "--all", "touch typed", cwd=repo).code == 6
    assert "touch" not in sandbox.screen(pane)
    assert not (Path(worker["path"]) / "typed").exists()


def test_the_shell_of_a_worker_without_an_agent_gets_nothing(sandbox: Sandbox, repo: Path) -> None:
    made = sandbox.ww("new", "--no-agent", "--name", "plain", "--json", cwd=repo, check=True).json["data"]
    [worker] = made["workers"]
    refused = sandbox.ww("send", "plain", "touch typed", "--json", cwd=repo)
    assert refused.code == 1
    assert refused.json["error"]["code"] == "not_the_agent"
    assert "plain has a shell and no agent" in refused.json["error"]["message"]
    nobody = sandbox.ww("send", "--all", "touch typed", "--json", cwd=repo)
    assert (nobody.code, nobody.json["error"]["code"]) == (3, "nobody")
    [pane] = panes_of(sandbox, worker["id"])
    assert "touch" not in sandbox.screen(pane)


def test_another_delivery_under_way(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo)
    wait_until(sandbox, repo, "ready")
    lock = Path(sandbox.env["XDG_STATE_HOME"], "woodwind", "locks", f"{worker['id']}.delivery")
    sandbox.ww("send", "worker-one", "first", cwd=repo, check=True)
    held = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = sandbox.ww("send", "worker-one", "second", "--json", cwd=repo)
    finally:
        os.close(held)
    assert (refused.code, refused.json["error"]["code"]) == (1, "busy")
    sandbox.ww("send", "worker-one", "third", cwd=repo, check=True)
    assert prompts(sandbox, 2) == ["first", "third"]


MISFITS: list[tuple[tuple[str, ...], int, str]] = [
    (("worker-one", ""), 2, "the message is empty"),
    (("worker-one", " \n\t"), 2, "the message is empty"),
    (("worker-one", "\x1b[0m"), 2, "the message is empty"),
    (("nobody", "hello"), 3, "there is no worker 'nobody'"),
    (("worker-one", "two", "words"), 2, "Put it in quotes"),
    (("worker-one",), 2, "give the message"),
    ((), 2, "give the message"),
    (("worker-one", "text", "--file", "f"), 2, "give the message"),
    (("worker-one", "--file", "missing.md"), 2, "cannot be read from missing.md"),
    (("--file", __file__), 2, "who is it for?"),
    (("--working", "hello"), 3, "no worker is working"),
]


def test_words_that_do_not_fit(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    for words, code, says in MISFITS:
        done = sandbox.ww("send", *words, cwd=repo)
        assert done.code == code, done
        assert says in done.stderr, done


def test_all_and_only_the_working_ones(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, name="idle")
    rehearse(sandbox, repo, "think 600", name="busy")
    rehearse(sandbox, repo, "exit 0", name="over")
    rehearse(sandbox, repo, "ask Well?", name="asks")
    for name, status in (("idle", "ready"), ("busy", "working"), ("over", "exited"), ("asks", "asking")):
        wait_until(sandbox, repo, status, name)
    done = sandbox.ww("send", "--all", "to all", "--json", cwd=repo)
    assert done.code == 6
    assert sorted(done.json["data"]["sent"]) == ["busy", "idle"]
    assert [(f["name"], f["code"]) for f in done.json["data"]["failed"]] == [("asks", "asking")]
    assert prompts(sandbox, 2) == ["to all", "to all"]
    wait_until(sandbox, repo, "ready", "idle")
    done = sandbox.ww("send", "--working", "only one", "--json", cwd=repo, check=True)
    assert (done.json["data"]["sent"], done.json["data"]["failed"]) == (["busy"], [])
    assert prompts(sandbox, 3)[2:] == ["only one"]


def test_a_message_ends_a_pause(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, "think 600")
    wait_until(sandbox, repo, "working")
    sandbox.ww("pause", "worker-one", cwd=repo, check=True)
    wait_until(sandbox, repo, "ready")
    sandbox.ww("send", "worker-one", "rehearse: think 600", cwd=repo, check=True)
    assert wait_until(sandbox, repo, "working")["phase"] == "running"


def test_a_program_that_was_replaced_under_a_running_worker(sandbox: Sandbox, repo: Path) -> None:
    new_worker(sandbox, repo)
    sandbox.wait_for(lambda: "toy got" in sandbox.ww("log", "worker-one", cwd=repo).stdout, what="the agent to be up")
    toy = sandbox.home / "toy"
    toy.unlink()
    toy.write_text("#!/bin/sh\nexit 9\n")
    toy.chmod(0o755)
    sandbox.ww("send", "worker-one", "still there?", cwd=repo, check=True)
    entry = listed(sandbox, repo)
    assert entry["status"] == "unknown"
    [pane] = panes_of(sandbox, entry["id"])
    # Once as it was typed, and once more from the program.
    sandbox.wait_for(lambda: sandbox.screen(pane).count("still there?") == 2, what="the toy's echo")
