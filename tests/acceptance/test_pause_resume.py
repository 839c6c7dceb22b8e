"""`ww pause` and `ww resume`: interrupted, exited, killed, closed, or after the tmux server went away."""

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers, rows
from woodwind.testing.repo import make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import heard, listed, panes_of, rehearse, wait_until

# It tells how it was started, and goes on until it is told to end.
TELLER = """#!/bin/sh
exec 3> "$HOME/told.new"
echo "folder=$PWD" >&3
echo "words=$*" >&3
echo "token=${MY_TOKEN-none}" >&3
echo "worker=$WOODWIND_WORKER" >&3
mv "$HOME/told.new" "$HOME/told"
read -r line
exit 7
"""


def screen_of(box: Sandbox, worker: str) -> str:
    [pane] = panes_of(box, worker)
    return box.screen(pane, history=True)


def sessions(box: Sandbox) -> list[str]:
    """The ids of the conversations that were begun or gone on with, in order."""
    return [event["session_id"] for event in heard(box, "SessionStart")]


def await_screen(box: Sandbox, worker: str, text: str) -> None:
    box.wait_for(lambda: text in screen_of(box, worker), what=f"{text!r} on the screen")


def test_pause_interrupts_and_resume_goes_on(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo, "think 600", "say never")
    wait_until(sandbox, repo, "working")
    assert sandbox.ww("pause", "worker-one", cwd=repo, check=True).stdout.startswith("worker-one interrupted")
    [pane] = panes_of(sandbox, worker["id"])
    sandbox.wait_for(
        lambda: sandbox.fact(pane, "pane_title") == "⊘ interrupted", what="the title of an interrupted one"
    )
    assert listed(sandbox, repo)["phase"] == "paused"
    assert re.search(r"interrupted \d+s, paused", sandbox.ww("ls", cwd=repo, check=True).stdout)
    done = sandbox.ww("resume", "worker-one", "-m", "rehearse: say so I go on", "--json", cwd=repo, check=True)
    assert [(e["name"], e["how"]) for e in done.json["data"]["resumed"]] == [("worker-one", "continued")]
    await_screen(sandbox, worker["id"], "so I go on")
    assert listed(sandbox, repo)["phase"] == "running"
    assert "never" not in screen_of(sandbox, worker["id"])
    assert panes_of(sandbox, worker["id"]) == [pane]


def test_pause_twice_does_not_end_the_agent(sandbox: Sandbox, repo: Path) -> None:
    """At its prompt, Ctrl-C twice would make it leave."""
    rehearse(sandbox, repo)
    wait_until(sandbox, repo, "ready")
    for _ in range(3):
        said = sandbox.ww("pause", "worker-one", cwd=repo, check=True).stdout
        assert said == "worker-one is paused; it was at its prompt. To go on: ww resume worker-one\n"
    assert listed(sandbox, repo)["status"] == "ready"
    said = sandbox.ww("resume", "worker-one", cwd=repo, check=True).stdout
    assert "waits at its prompt" in said
    assert listed(sandbox, repo)["phase"] == "running"


def test_pause_and_resume_that_cannot_be(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, "exit 3")
    wait_until(sandbox, repo, "exited")
    refused = sandbox.ww("pause", "worker-one", "--json", cwd=repo)
    assert (refused.code, refused.json["error"]["code"]) == (1, "exited")
    assert listed(sandbox, repo)["phase"] == "running"
    rehearse(sandbox, repo, "think 600", name="busy")
    wait_until(sandbox, repo, "working", "busy")
    refused = sandbox.ww("resume", "busy", "--json", cwd=repo)
    assert (refused.code, refused.json["error"]["code"]) == (1, "running")
    both = sandbox.ww("resume", "--all", "busy", cwd=repo)
    assert both.code == 2
    assert sandbox.ww("resume", "nobody", cwd=repo).code == 3


def test_one_of_several_that_cannot_does_not_hide_the_others(sandbox: Sandbox, repo: Path) -> None:
    for name in ("first", "last"):
        rehearse(sandbox, repo, "think 600", name=name)
        wait_until(sandbox, repo, "working", name)
    rehearse(sandbox, repo, "exit 3", name="gone")
    wait_until(sandbox, repo, "exited", "gone")
    paused = sandbox.ww("pause", "first", "gone", "last", cwd=repo)
    assert paused.code == 6
    assert "first interrupted" in paused.stdout
    assert "gone was not paused: gone does not run" in paused.stdout
    assert "last interrupted" in paused.stdout
    assert [listed(sandbox, repo, name)["phase"] for name in ("first", "gone", "last")] == [
        "paused",
        "running",
        "paused",
    ]
    sandbox.ww("resume", "first", cwd=repo, check=True)
    resumed = sandbox.ww("resume", "first", "last", "--json", cwd=repo)
    assert resumed.code == 6
    assert [entry["name"] for entry in resumed.json["data"]["resumed"]] == ["last"]
    assert [(entry["name"], entry["code"]) for entry in resumed.json["data"]["failed"]] == [("first", "running")]
    assert listed(sandbox, repo, "last")["phase"] == "running"


def end_exit(box: Sandbox, worker: str) -> None:
    [pane] = panes_of(box, worker)
    box.type_in(pane, "rehearse: exit 3")


def end_kill(box: Sandbox, worker: str) -> None:
    [pane] = panes_of(box, worker)
    os.kill(int(box.fact(pane, "pane_pid")), signal.SIGKILL)


def end_server(box: Sandbox, worker: str) -> None:
    box.tmux("kill-server")


def end_pane(box: Sandbox, worker: str) -> None:
    [pane] = panes_of(box, worker)
    box.tmux("kill-pane", "-t", pane)


@pytest.mark.parametrize("end", [end_exit, end_kill, end_server, end_pane], ids=lambda end: end.__name__)
def test_the_same_conversation_again(sandbox: Sandbox, repo: Path, end: object) -> None:
    assert callable(end)
    worker = rehearse(sandbox, repo, words=("--permissions", "auto"))
    wait_until(sandbox, repo, "ready")
    end(sandbox, worker["id"])
    wait_until(sandbox, repo, "exited")
    done = sandbox.ww("resume", "worker-one", "-m", "rehearse: write back.txt here", "--json", cwd=repo, check=True)
    assert [e["how"] for e in done.json["data"]["resumed"]] == ["restarted"]
    wait_until(sandbox, repo, "ready")
    turns = 2 if end is end_exit else 1
    await_screen(sandbox, worker["id"], f"this session had {turns} turn")
    # Had it asked for permission, the file would not be there.
    assert (Path(worker["path"]) / "back.txt").read_text() == "here"
    assert leftovers(sandbox, repo) == []


def test_fresh_is_a_new_conversation_on_the_brief(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, "say once", "exit 0")
    wait_until(sandbox, repo, "exited")
    env = {"REHEARSAL_HOOK": f"cat >> '{sandbox.home}/hooks.jsonl'"}
    sandbox.ww("resume", "worker-one", "--fresh", cwd=repo, env=env, check=True)
    sandbox.wait_for(lambda: len(heard(sandbox, "UserPromptSubmit")) == 2, what="the brief for the second time")
    wait_until(sandbox, repo, "exited")
    assert len(set(sessions(sandbox))) == 2
    sandbox.ww("resume", "worker-one", cwd=repo, env=env, check=True)
    wait_until(sandbox, repo, "ready")
    assert sessions(sandbox)[2] == sessions(sandbox)[1]


def test_all_brings_back_who_is_paused_or_gone(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, "exit 0", name="over")
    rehearse(sandbox, repo, "think 600", name="paused")
    rehearse(sandbox, repo, "think 600", name="busy")
    gone = rehearse(sandbox, repo, "exit 0", name="gone")
    for name, status in (("over", "exited"), ("paused", "working"), ("busy", "working"), ("gone", "exited")):
        wait_until(sandbox, repo, status, name)
    sandbox.ww("pause", "paused", cwd=repo, check=True)
    Path(gone["path"]).rename(sandbox.home / "elsewhere")
    done = sandbox.ww("resume", "--all", "--json", cwd=repo)
    assert done.code == 6
    assert {e["name"]: e["how"] for e in done.json["data"]["resumed"]} == {"over": "restarted", "paused": "continued"}
    assert [(e["name"], e["code"]) for e in done.json["data"]["failed"]] == [("gone", "no_folder")]
    again = sandbox.ww("resume", "over", "--json", cwd=repo)
    assert again.json["error"]["code"] == "running"


def test_the_same_flags_and_folder_with_variables_read_anew(sandbox: Sandbox, repo: Path) -> None:
    teller = sandbox.home / "teller"
    teller.write_text(TELLER)
    teller.chmod(0o755)
    config = Path(sandbox.env["XDG_CONFIG_HOME"], "woodwind", "config.toml")
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'[agents.claude]\ncommand = "{teller}"\npass_env = ["MY_TOKEN"]\n[new]\nmodel = "opus:high"\n')
    told = sandbox.home / "told"

    def facts() -> dict[str, str]:
        sandbox.wait_for(told.exists, what="the agent's start")
        found = dict(line.split("=", 1) for line in told.read_text().splitlines())
        told.unlink()
        return found

    words = ("new", "Work", "--agent", "claude", "--name", "worker-one", "--permissions", "auto", "--json")
    made = sandbox.ww(*words, cwd=repo / "src", env={"MY_TOKEN": "old"}, check=True).json["data"]["workers"][0]
    first = facts()
    assert first["folder"] == str(Path(made["path"], "src"))
    assert first["token"] == "old"
    session = first["words"].split("--session-id ")[1].split()[0]
    for end in (None, end_server, None):
        if end:
            end(sandbox, made["id"])
        else:
            sandbox.type_in(panes_of(sandbox, made["id"])[0], "end")
        wait_until(sandbox, repo, "exited")
        # Called from elsewhere, without the variable or with another one.
        env = {"MY_TOKEN": "new"} if end else {}
        sandbox.ww("resume", "worker-one", "-m", "go on", cwd=repo, env=env, check=True)
        again = facts()
        assert again["folder"] == first["folder"]
        assert again["token"] == ("new" if end else "none")
        assert again["worker"] == made["id"]
        wanted = first["words"].replace(f"--session-id {session}", f"--resume {session}")
        assert again["words"] == wanted.replace("Read .woodwind/brief.md and do the task that it describes.", "go on")
        assert "--effort high" in again["words"]
        assert "--permission-mode acceptEdits" in again["words"]


def test_plan_mode_is_kept(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo, "exit 0", words=("--plan-mode", "--permissions", "auto"))
    wait_until(sandbox, repo, "exited")
    sandbox.ww("resume", "worker-one", "-m", "rehearse: write planned.txt text", cwd=repo, check=True)
    await_screen(sandbox, worker["id"], "plan mode: I would write planned.txt")
    assert not (Path(worker["path"]) / "planned.txt").exists()


def test_one_that_waits_for_room_is_not_resumed(sandbox: Sandbox, repo: Path) -> None:
    rehearse(sandbox, repo, name="first")
    wait_until(sandbox, repo, "ready", "first")
    limit = {"WOODWIND_LIMITS_WORKERS": "1"}
    waiting = rehearse(sandbox, repo, name="second", env=limit)
    assert listed(sandbox, repo, "second")["phase"] == "queued"
    refused = sandbox.ww("resume", "second", "--json", cwd=repo, env=limit)
    assert (refused.code, refused.json["error"]["code"]) == (1, "queued")
    # It is the queue that starts it, with its brief, and nobody else.
    assert panes_of(sandbox, waiting["id"]) == []


def test_a_missing_folder_is_told(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo, "exit 0")
    wait_until(sandbox, repo, "exited")
    tree = Path(worker["path"])
    tree.rename(sandbox.home / "elsewhere")
    refused = sandbox.ww("resume", "worker-one", "--json", cwd=repo)
    assert (refused.code, refused.json["error"]["code"]) == (3, "no_folder")
    assert str(tree) in refused.json["error"]["message"]
    # A folder of the same name inside another repository is not its worktree: the agent would commit there.
    make_repo(tree.parent)
    tree.mkdir()
    refused = sandbox.ww("resume", "worker-one", "--json", cwd=repo)
    assert (refused.code, refused.json["error"]["code"]) == (3, "no_folder")
    assert listed(sandbox, repo)["status"] == "exited"
    tree.rmdir()
    (sandbox.home / "elsewhere").rename(tree)
    sandbox.ww("resume", "worker-one", cwd=repo, check=True)


def test_an_agent_whose_program_is_gone(sandbox: Sandbox, repo: Path) -> None:
    program = sandbox.home / "rehearsal"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    (repo / "woodwind.toml").write_text(f'[agents.rehearsal]\ncommand = "{program}"\n')
    rehearse(sandbox, repo, "exit 0")
    wait_until(sandbox, repo, "exited")
    program.rename(sandbox.home / "moved")
    before = (
        rows(sandbox, "SELECT * FROM worker"),
        rows(sandbox, "SELECT * FROM terminal"),
        sandbox.tmux("list-panes", "-a"),
    )
    count = rows(sandbox, "SELECT count(*) FROM operation")
    for words in ((), ("--fresh",)):
        refused = sandbox.ww("resume", "worker-one", *words, cwd=repo)
        assert refused.code == 4
        assert "the agent rehearsal is not installed" in refused.stderr
        assert str(program) in refused.stderr
    now = (
        rows(sandbox, "SELECT * FROM worker"),
        rows(sandbox, "SELECT * FROM terminal"),
        sandbox.tmux("list-panes", "-a"),
    )
    assert now == before
    assert rows(sandbox, "SELECT count(*) FROM operation") == count
    (sandbox.home / "moved").rename(program)
    sandbox.ww("resume", "worker-one", cwd=repo, check=True)
    wait_until(sandbox, repo, "ready")


def test_a_restored_worker_can_be_resumed(sandbox: Sandbox, repo: Path) -> None:
    worker = rehearse(sandbox, repo)
    wait_until(sandbox, repo, "ready")
    sandbox.ww("rm", "worker-one", "--yes", cwd=repo, check=True)
    sandbox.ww("restore", "worker-one", cwd=repo, check=True)
    assert listed(sandbox, repo)["status"] == "exited"
    sandbox.ww("resume", "worker-one", "--message=-v is no option", cwd=repo, check=True)
    wait_until(sandbox, repo, "ready")
    await_screen(sandbox, worker["id"], "this session had 1 turn")
    await_screen(sandbox, worker["id"], "I read “-v is no option”")
    assert listed(sandbox, repo)["phase"] == "running"


def test_an_agent_without_conversations_is_only_started_fresh(sandbox: Sandbox, repo: Path) -> None:
    toy = sandbox.home / "toy"
    toy.write_text("#!/bin/sh\nexit 0\n")
    sandbox.ww("new", "Work", "--name", "worker-one", cwd=repo, check=True)
    wait_until(sandbox, repo, "exited")
    refused = sandbox.ww("resume", "worker-one", cwd=repo)
    assert refused.code == 2
    assert "--fresh" in refused.stderr
    toy.write_text("#!/bin/sh\nexec cat\n")
    sandbox.ww("resume", "worker-one", "--fresh", cwd=repo, check=True)
    assert listed(sandbox, repo)["status"] == "unknown"


def test_a_window_whose_server_is_gone_comes_back_as_a_session(sandbox: Sandbox, repo: Path) -> None:
    sandbox.user_server()
    command = [sys.executable, "-m", "woodwind", "new", "Work", "--agent", "rehearsal", "--name", "worker-one", "-w"]
    pane = sandbox.run_in_pane(*command, "-y", server="user", cwd=repo)
    assert sandbox.exit_status(pane, server="user") == 0
    worker = wait_until(sandbox, repo, "ready")
    assert panes_of(sandbox, worker["id"], server="user")
    sandbox.tmux("kill-server", server="user")
    wait_until(sandbox, repo, "exited")
    sandbox.ww("resume", "worker-one", cwd=repo, check=True)
    wait_until(sandbox, repo, "ready")
    assert panes_of(sandbox, worker["id"])


def test_a_shell_comes_back_too(sandbox: Sandbox, repo: Path) -> None:
    made = sandbox.ww("new", "--no-agent", "--name", "plain", "--json", cwd=repo, check=True).json["data"]
    [worker] = made["workers"]
    refused = sandbox.ww("pause", "plain", "--json", cwd=repo)
    assert (refused.code, refused.json["error"]["code"]) == (1, "not_the_agent")
    sandbox.tmux("kill-server")
    told = sandbox.ww("resume", "plain", "-m", "touch typed", "--json", cwd=repo)
    assert told.code == 2
    assert listed(sandbox, repo, "plain")["status"] == "exited"
    sandbox.ww("resume", "plain", cwd=repo, check=True)
    [pane] = panes_of(sandbox, worker["id"])
    sandbox.type_in(pane, "pwd > here; mv here there")
    sandbox.wait_for((Path(worker["path"]) / "there").exists, what="the shell's file")
