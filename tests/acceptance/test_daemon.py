"""`ww daemon`: started on demand, one per store, gone when it is told to or has nothing to do."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from woodwind.testing.daemons import ON, connect, daemon_status, listening, runtime_dir, start_daemon
from woodwind.testing.sandbox import Sandbox

IDLE = """
import os
from woodwind.daemon.server import serve
serve(os.environ, idle=0.2, patience=0)
"""


def test_it_is_started_asked_and_stopped(sandbox: Sandbox) -> None:
    assert daemon_status(sandbox) is None
    assert "does not run" in sandbox.ww("daemon", check=True).stdout
    first = start_daemon(sandbox)
    assert first["started"]
    again = start_daemon(sandbox)
    assert (again["pid"], again["started"]) == (first["pid"], False)
    assert f"process {first['pid']}" in sandbox.ww("daemon", check=True).stdout

    restarted = sandbox.ww("daemon", "restart", "--json", check=True).json["data"]
    assert restarted["stopped"]
    assert restarted["daemon"]["pid"] != first["pid"]

    assert sandbox.ww("daemon", "stop", "--json", check=True).json["data"]["stopped"]
    assert daemon_status(sandbox) is None
    assert not sandbox.ww("daemon", "stop", "--json", check=True).json["data"]["stopped"]
    assert sandbox.end_keepers() == 0


def test_its_log_tells_what_it_did(sandbox: Sandbox) -> None:
    start_daemon(sandbox)
    sandbox.ww("daemon", "stop", check=True)
    lines = sandbox.ww("daemon", "logs", "--json", check=True).json["data"]["lines"]
    assert [json.loads(line)["message"] for line in lines] == ["started", "leaves"]
    assert sandbox.ww("daemon", "logs", "-l", "1", check=True).stdout.count("\n") == 1


def test_new_starts_it_and_it_tells_of_what_happens(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("new", "Do it", "--name", "one", cwd=repo, env=ON, check=True)
    sandbox.wait_for(lambda: daemon_status(sandbox), 60, "the daemon")
    with listening(sandbox) as heard:
        sandbox.wait_for(lambda: "worker.created" in heard.kinds(), 60, "what happened before")
        sandbox.ww("rm", "one", "--yes", cwd=repo, check=True)
        sandbox.wait_for(lambda: "worker.removed" in heard.kinds(), 60, "what happened since")


def test_a_subscriber_misses_nothing_when_the_daemon_is_killed(sandbox: Sandbox, repo: Path) -> None:
    start_daemon(sandbox)
    with listening(sandbox) as heard:
        sandbox.ww("new", "Do it", "--name", "one", cwd=repo, check=True)
        sandbox.wait_for(lambda: "worker.created" in heard.kinds(), 60, "the first event")
        found = daemon_status(sandbox)
        assert found
        os.kill(found["pid"], signal.SIGKILL)
        sandbox.ww("rm", "one", "--yes", cwd=repo, check=True)
        sandbox.wait_for(lambda: "worker.removed" in heard.kinds(), 60, "an event from the next daemon")
        seqs = [event["seq"] for event in heard.events]
        assert seqs == sorted(set(seqs))


def test_never_means_never(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("new", "Do it", "--name", "one", cwd=repo, check=True)
    assert sandbox.end_keepers() == 0
    with listening(sandbox, env={"WOODWIND_DAEMON_START": "never"}) as heard:
        sandbox.wait_for(lambda: "worker.created" in heard.kinds(), 60, "an event without any daemon")
    assert sandbox.end_keepers() == 0


def test_two_started_at_once_are_one(sandbox: Sandbox) -> None:
    words = [sys.executable, "-P", "-m", "woodwind.daemon"]
    both = [subprocess.Popen(words, env=sandbox.env) for _ in range(2)]
    sandbox.wait_for(lambda: any(p.poll() == 0 for p in both), 60, "one of them to leave")
    found = sandbox.wait_for(lambda: daemon_status(sandbox), 60, "the other one")
    assert found
    assert found["pid"] in [p.pid for p in both if p.poll() is None]
    sandbox.ww("daemon", "stop", check=True)
    assert [p.wait(60) for p in both] == [0, 0]


def test_it_ends_by_itself_when_there_is_nothing_to_watch(sandbox: Sandbox) -> None:
    done = sandbox.run(sys.executable, "-c", IDLE, check=True)
    assert done.code == 0
    assert "nothing to watch" in sandbox.ww("daemon", "logs", check=True).stdout


def test_it_ends_when_its_state_is_deleted(sandbox: Sandbox) -> None:
    process = subprocess.Popen([sys.executable, "-P", "-m", "woodwind.daemon"], env=sandbox.env)
    sandbox.wait_for(lambda: daemon_status(sandbox), 60, "the daemon")
    Path(sandbox.env["XDG_STATE_HOME"], "woodwind", "woodwind.db.daemon").unlink()
    assert process.wait(60) == 0


def test_what_a_killed_daemon_left_is_replaced(sandbox: Sandbox) -> None:
    first = start_daemon(sandbox)
    os.kill(first["pid"], signal.SIGKILL)
    sandbox.wait_for(lambda: daemon_status(sandbox) is None, 60, "its end")
    assert (runtime_dir(sandbox) / "socket").exists()
    assert start_daemon(sandbox)["pid"] != first["pid"]


def test_its_sockets_are_for_this_user_alone(sandbox: Sandbox) -> None:
    start_daemon(sandbox)
    folder = runtime_dir(sandbox)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in ("socket", "news")} == {0o600}


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_is_refused_even_where_the_folder_is_open(sandbox: Sandbox) -> None:
    start_daemon(sandbox)
    folder = runtime_dir(sandbox)
    for place in (sandbox.root, sandbox.root / "run", folder.parent, folder):
        place.chmod(0o755)
    (folder / "socket").chmod(0o666)
    stranger = (
        "import os, socket, sys; os.setgid(65534); os.setuid(65534)\n"
        "s = socket.socket(socket.AF_UNIX); s.settimeout(60); s.connect(sys.argv[1]); print(s.recv(100))"
    )
    heard = sandbox.run(sys.executable, "-c", stranger, str(folder / "socket"), check=True)
    assert heard.stdout == "b''\n"
    assert daemon_status(sandbox)


@pytest.mark.parametrize("said", [b"", b"\n", b"[]\n", b"nonsense\n", b'{"op": 3}\n', b"x" * 200_000])
def test_nonsense_on_its_socket_changes_nothing(sandbox: Sandbox, said: bytes) -> None:
    first = start_daemon(sandbox)
    with connect(sandbox) as stranger:
        try:
            stranger.sendall(said)
        except OSError:
            pass  # it hung up in the middle
    found = daemon_status(sandbox)
    assert found
    assert found["pid"] == first["pid"]


def test_a_newer_client_replaces_it(sandbox: Sandbox) -> None:
    first = start_daemon(sandbox)
    with connect(sandbox) as newer:
        file = newer.makefile("rb")
        assert json.loads(file.readline())["pid"] == first["pid"]
        newer.sendall(b'{"op": "status", "version": "999.0", "schema": 999}\n')
        assert json.loads(file.readline()) == {"leaving": True}
    sandbox.wait_for(lambda: daemon_status(sandbox) is None, 60, "the older one to leave")
    assert "newer" in sandbox.ww("daemon", "logs", check=True).stdout


def test_each_store_has_its_own(sandbox: Sandbox, tmp_path: Path) -> None:
    other = {"WOODWIND_DB": str(sandbox.home / "other.db")}
    first, second = start_daemon(sandbox), start_daemon(sandbox, **other)
    assert first["pid"] != second["pid"]
    sandbox.ww("daemon", "stop", env=other, check=True)
    assert daemon_status(sandbox)


def test_a_project_cannot_say_how_it_runs(sandbox: Sandbox, repo: Path) -> None:
    with (repo / "woodwind.toml").open("a") as file:
        file.write('\n[daemon]\nstart = "never"\n')
    refused = sandbox.ww("new", "Do it", "--json", cwd=repo)
    assert (refused.code, refused.json["error"]["code"]) == (2, "user_only")
