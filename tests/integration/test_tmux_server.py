"""Terminals on the user's own tmux server, whatever its configuration, and on ours: nothing of the user's changes."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from woodwind.muxes.base import Pane, Program
from woodwind.muxes.tmux.client import TmuxError
from woodwind.muxes.tmux.server import PLACEHOLDER, Server
from woodwind.ops.terminal import keep_text
from woodwind.testing.repo import git
from woodwind.testing.sandbox import Result, Sandbox

WW = (sys.executable, "-m", "woodwind")


class Person:
    """Somebody at a terminal that shows their own tmux server, with a shell in a window of it."""

    def __init__(self, sandbox: Sandbox, repo: Path, conf: str = "") -> None:
        self.sandbox = sandbox
        self.pane = sandbox.user_server(conf)
        self.tmux("new-window", "-d", "-t", "=main:", "-n", "editor", "tail -f /dev/null")
        attach = ("env", "-u", "TMUX", "tmux", "-L", "user", "attach-session", "-t", "=main")
        self.terminal = sandbox.run_in_pane(*attach, server="terminal")
        sandbox.wait_for(lambda: self.tmux("list-clients"), what="the person's client")
        # A configuration with a mistake is shown in a mode of its own.
        sandbox.run("tmux", "-L", "user", "send-keys", "-t", self.pane, "-X", "cancel")
        self.tmux("respawn-pane", "-k", "-t", self.pane, "-c", str(repo), "env", "PS1=$ ", "sh")
        # A window that is named after its program would have another name with every command.
        self.tmux("rename-window", "-t", self.pane, "shell")
        self.calls = 0

    def tmux(self, *words: str) -> str:
        return self.sandbox.tmux(*words, server="user")

    def call(self, *command: str, pane: str = "") -> Result:
        """How a command ended that was typed into the person's shell."""
        self.calls += 1
        out, err, code = (self.sandbox.root / f"call-{self.calls}.{kind}" for kind in ("out", "err", "code"))
        line = f"{shlex.join(command)} >{out} 2>{err}; echo $? >{code}.part; mv {code}.part {code}"
        script = self.sandbox.root / f"call-{self.calls}.sh"
        script.write_text(line)
        self.sandbox.type_in(pane or self.pane, f". {script}", server="user")
        self.sandbox.wait_for(code.exists, 60, what=shlex.join(command))
        return Result(command, int(code.read_text()), out.read_text(), err.read_text())

    def new(self, *words: str, pane: str = "") -> dict[str, Any]:
        """The one worker that `ww new` made from inside the person's tmux."""
        done = self.call(*WW, "new", "--json", *words, pane=pane)
        assert done.code == 0, done
        [worker] = done.json["data"]["workers"]
        assert isinstance(worker, dict)
        return worker

    def theirs(self) -> dict[str, str]:
        """Everything on the server that is the person's."""
        fields = "@woodwind session_name session_id window_id window_index window_name window_active window_layout "
        fields += "pane_id pane_active pane_pid pane_width automatic-rename window_flags"
        panes = self.tmux("list-panes", "-a", "-F", "|".join(f"#{{{name}}}" for name in fields.split()))
        sessions = sorted({line.split("|")[1] for line in panes.splitlines() if line.startswith("|")})
        found = {
            "panes": "\n".join(line for line in panes.splitlines() if line.startswith("|")),
            "clients": self.tmux(
                "list-clients", "-F", "#{client_name} #{client_session} #{client_width} #{client_flags}"
            ),
            "server": self.tmux("show-options", "-s"),
            "global": self.tmux("show-options", "-g"),
            "windows": self.tmux("show-options", "-gw"),
            "hooks": self.tmux("show-hooks", "-g"),
            "environment": self.tmux("show-environment", "-g"),
            "keys": self.tmux("list-keys"),
            "buffers": self.tmux("list-buffers"),
        }
        for session in sessions:
            found[session] = self.tmux("show-options", "-A", "-t", f"={session}:")
            found[session] += self.tmux("show-environment", "-t", f"={session}")
        return found

    def pane_of(self, worker: dict[str, Any]) -> str:
        wanted = f"#{{==:#{{@woodwind}},{worker['id']}}}"
        panes = self.tmux("list-panes", "-a", "-f", wanted, "-F", "#{pane_id}").split()
        assert len(set(panes)) == 1, panes
        return panes[0]

    def shows(self, worker: dict[str, Any], words: str) -> str:
        """The worker's screen once these words are on it."""
        pane = self.pane_of(worker)
        self.sandbox.wait_for(lambda: words in self.sandbox.screen(pane, server="user"), what=words)
        return self.sandbox.screen(pane, server="user")

    def split(self, worker: dict[str, Any]) -> str:
        """A pane of the person's own in the worker's window."""
        beside = ("-t", self.pane_of(worker), "tail -f /dev/null")
        return self.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", *beside)

    def fact(self, worker: dict[str, Any], name: str) -> str:
        return self.sandbox.fact(self.pane_of(worker), name, server="user")


PLAIN = ""
INDEXES = "set -g base-index 1\nset -g pane-base-index 1\nset -g renumber-windows on\n"
SHELLS = "set -g default-command 'sh -c exit'\nset -g remain-on-exit off\nset -g automatic-rename on\n"
BROKEN = "set -g base-index 3\nthis-is no-command\n"
SLOW = "set -g base-index 3\nset -g no-such-option on\nrun-shell 'sleep 1'\nrun-shell 'exit 3'\n"
BUSY = (
    "set-hook -g session-created 'set -g @hooked 1'\nset -g window-size smallest\nset -g aggressive-resize on\n"
    "set -g detach-on-destroy off\nset -g allow-rename on\nset -g monitor-activity on\nset -g status off\n"
)
CONFIGURATIONS = {"plain": PLAIN, "indexes": INDEXES, "shells": SHELLS, "broken": BROKEN, "slow": SLOW, "busy": BUSY}


@pytest.mark.parametrize("conf", [pytest.param(conf, id=name) for name, conf in CONFIGURATIONS.items()])
def test_a_window_a_session_and_a_promotion(sandbox: Sandbox, repo: Path, conf: str) -> None:
    person = Person(sandbox, repo, conf)
    before = person.theirs()
    window = person.new("In a window", "-w")
    session = person.new("In a session")
    assert person.theirs() == before
    assert (window["launch"], session["launch"]) == ("window", "session")
    assert person.fact(window, "session_name") == "main"
    assert person.fact(session, "session_name") == "project-session"
    assert person.fact(window, "window_name") == "window"
    for worker in (window, session):
        shown = person.shows(worker, "toy got")
        assert worker["path"] in shown.replace("\n", "")
        assert person.fact(worker, "pane_dead") == "0"
    # They are found from outside this tmux too.
    assert {w["status"] for w in sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]} == {"unknown"}

    pid = person.fact(window, "pane_pid")
    promoted = person.call(*WW, "promote", "window", "--json")
    assert promoted.code == 0, promoted
    assert person.theirs() == before
    assert person.fact(window, "pane_pid") == pid
    assert person.fact(window, "session_name") == "project-window"
    assert person.fact(window, "session_windows") == "1"
    assert person.fact(window, "window_panes") == "1"
    assert "already" in person.call(*WW, "promote", "window").stderr
    both = person.call(*WW, "promote", "window", "session")
    assert both.code == 6
    assert [line for line in both.stdout.splitlines() if "was not moved" in line] == both.stdout.splitlines()
    [shown] = sandbox.ww("show", "window", "--json", cwd=repo, check=True).json["data"]
    assert (shown["launch"], shown["status"]) == ("session", "unknown")

    for worker in (window, session):
        assert person.call(*WW, "rm", worker["name"], "--yes").code == 0
    assert person.theirs() == before
    assert person.tmux("list-sessions", "-F", "#{session_name}") == "main"


def test_a_promotion_leaves_the_persons_own_pane_where_it_is(sandbox: Sandbox, repo: Path) -> None:
    person = Person(sandbox, repo, INDEXES)
    worker = person.new("In a window", "-w")
    split = person.tmux(
        "split-window", "-d", "-P", "-F", "#{pane_id}", "-t", person.pane_of(worker), "tail -f /dev/null"
    )
    window, pid = person.fact(worker, "window_id"), person.fact(worker, "pane_pid")
    assert person.call(*WW, "promote", "window").code == 0
    assert person.fact(worker, "pane_pid") == pid
    assert person.fact(worker, "session_name") == "project-window"
    assert sandbox.fact(split, "window_id", server="user") == window
    assert sandbox.fact(split, "session_name", server="user") == "main"
    assert sandbox.fact(split, "pane_dead", server="user") == "0"
    assert person.call(*WW, "rm", "window", "--yes").code == 0
    assert sandbox.fact(split, "pane_dead", server="user") == "0"


def test_a_person_who_shares_the_workers_window_keeps_it_when_the_worker_goes(sandbox: Sandbox, repo: Path) -> None:
    person = Person(sandbox, repo)
    worker = person.new("In a window", "-w")
    split = person.tmux(
        "split-window", "-d", "-P", "-F", "#{pane_id}", "-t", person.pane_of(worker), "tail -f /dev/null"
    )
    assert person.call(*WW, "rm", "window", "--yes").code == 0
    assert sandbox.fact(split, "pane_dead", server="user") == "0"


def test_grouped_sessions(sandbox: Sandbox, repo: Path) -> None:
    person = Person(sandbox, repo, INDEXES)
    person.tmux("new-session", "-d", "-t", "=main", "-s", "second")
    before = person.theirs()
    worker = person.new("In a window", "-w")
    assert person.theirs() == before
    [listed] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert listed["status"] == "unknown"
    pid = person.fact(worker, "pane_pid")
    assert person.call(*WW, "promote", "window").code == 0
    assert person.theirs() == before
    assert person.fact(worker, "pane_pid") == pid
    assert person.tmux("list-windows", "-t", "=project-window", "-F", "#{window_panes}") == "1"
    assert person.call(*WW, "rm", "window", "--yes").code == 0
    assert person.theirs() == before


def test_a_server_that_destroys_unattached_sessions(sandbox: Sandbox, repo: Path) -> None:
    person = Person(sandbox, repo)
    person.tmux("set-option", "-g", "destroy-unattached", "on")
    before = person.theirs()
    refused = person.call(*WW, "new", "x", "-w")
    assert refused.code == 1
    assert "destroy-unattached" in refused.stderr
    assert person.theirs() == before
    assert git(repo, "branch", "--format=%(refname:short)") == "main"
    worker = person.new("In a session")
    assert person.theirs() == before
    # Every client that goes makes tmux look for sessions without one: the worker's stays.
    assert person.tmux("show-options", "-v", "-t", "=project-session:", "destroy-unattached") == "off"
    sandbox.ww("log", "session", cwd=repo, check=True)
    sandbox.ww("show", "session", cwd=repo, check=True)
    assert person.fact(worker, "pane_dead") == "0"


def test_a_server_that_exits_when_nobody_is_attached(sandbox: Sandbox, repo: Path) -> None:
    person = Person(sandbox, repo)
    person.tmux("set-option", "-s", "exit-unattached", "on")
    before = person.theirs()
    done = person.call(*WW, "new", "In a session")
    assert done.code == 0
    assert "exit-unattached" in done.stderr
    refused = person.call(*WW, "new", "x", "-w")
    assert refused.code == 2
    assert "exit-unattached" in refused.stderr
    by_config = person.call("env", "WOODWIND_LAUNCH_IMPLEMENTATION=window", *WW, "new", "Another", "--json")
    assert by_config.json["data"]["workers"][0]["launch"] == "session"
    assert person.theirs() == before
    person.tmux("detach-client", "-s", "=main")
    sandbox.wait_for(lambda: sandbox.run("tmux", "-L", "user", "list-sessions").code != 0)
    assert {w["status"] for w in sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]} == {"unknown"}


def test_the_configuration_chooses_the_server(sandbox: Sandbox, repo: Path) -> None:
    person = Person(sandbox, repo)
    own = person.call("env", "WOODWIND_TMUX_SERVER=own", "WOODWIND_TMUX_SOCKET=mine", *WW, "new", "On ours")
    assert own.code == 0, own
    assert sandbox.tmux("list-sessions", "-F", "#{session_name}", server="mine") == "project-ours"
    refused = person.call("env", "WOODWIND_TMUX_SERVER=own", *WW, "new", "x", "-w")
    assert refused.code == 2
    assert "private tmux server" in refused.stderr
    user = person.call(
        "env", "WOODWIND_TMUX_SERVER=user", "WOODWIND_LAUNCH_IMPLEMENTATION=window", *WW, "new", "On theirs"
    )
    assert user.code == 0
    assert "theirs" in person.tmux("list-windows", "-t", "=main", "-F", "#{window_name}")
    # Both are listed, with different servers, and each is closed where it is.
    assert {w["status"] for w in sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]} == {"unknown"}
    sandbox.ww("rm", "ours", "theirs", "--yes", cwd=repo, check=True)
    assert "theirs" not in person.tmux("list-windows", "-t", "=main", "-F", "#{window_name}")
    assert sandbox.run("tmux", "-L", "mine", "list-sessions").code != 0


def test_a_window_opens_where_the_person_is_now(sandbox: Sandbox, repo: Path) -> None:
    person = Person(sandbox, repo)
    # The variable TMUX of the shell still names the session in which it was started.
    person.tmux("new-session", "-d", "-s", "other", "tail -f /dev/null")
    person.tmux("move-window", "-s", person.pane, "-t", "=other:")
    worker = person.new("In a window", "-w")
    assert person.fact(worker, "session_name") == "other"
    person.tmux("kill-session", "-t", "=main")
    worker = person.new("Once more", "-w")
    assert person.fact(worker, "session_name") == "other"


def test_attach_inside_tmux_switches_the_persons_client(sandbox: Sandbox, repo: Path) -> None:
    person = Person(sandbox, repo, INDEXES)
    session, window = person.new("In a session"), person.new("In a window", "-w")
    person.sandbox.type_in(person.pane, shlex.join([*WW, "attach", "session"]), server="user")
    sandbox.wait_for(lambda: person.tmux("list-clients", "-F", "#{client_session}") == "project-session")
    person.tmux("switch-client", "-t", "=main")
    person.sandbox.type_in(person.pane, shlex.join([*WW, "attach", "window"]), server="user")
    sandbox.wait_for(lambda: person.fact(window, "window_active") == "1")
    assert person.tmux("list-clients", "-F", "#{client_session}") == "main"
    assert person.fact(session, "pane_dead") == "0"


def test_attach_from_inside_tmux_to_a_worker_on_our_own_server(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("new", "Add a greeting", cwd=repo, check=True)
    person = Person(sandbox, repo)
    person.sandbox.type_in(person.pane, shlex.join([*WW, "attach", "add-greeting"]), server="user")
    sandbox.wait_for(lambda: sandbox.tmux("list-clients", "-F", "#{client_session}") == "project-add-greeting")
    sandbox.wait_for(lambda: "toy got" in sandbox.screen(person.terminal, server="terminal"))


def test_an_agent_may_make_a_window_beside_itself(sandbox: Sandbox, repo: Path) -> None:
    """A worker's own terminal is in tmux too: on our server, which is then the one around it."""
    worker = sandbox.ww("new", "--no-agent", "--name", "lead", "--json", cwd=repo, check=True).json["data"]["workers"][
        0
    ]
    pane = sandbox.tmux("list-panes", "-a", "-F", "#{pane_id}")
    sandbox.type_in(pane, shlex.join([*WW, "new", "Help out", "-w", "--agent", "toy"]))
    sandbox.wait_for(lambda: len(sandbox.tmux("list-windows", "-t", "=project-lead").splitlines()) == 2)
    sandbox.wait_for(lambda: len(sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]) == 2)
    [shown] = sandbox.ww("show", "help-out", "--json", cwd=repo, check=True).json["data"]
    assert shown["made_by"] == worker["id"]
    assert shown["launch"] == "window"
    assert sandbox.tmux("list-windows", "-t", "=project-lead", "-F", "#{window_active}") == "1\n0"


OWN = (
    INDEXES
    + SHELLS
    + "set -g destroy-unattached on\nset -s exit-unattached on\nset -g exit-empty on\nset -g no-such-option on\n"
    "run-shell 'sleep 1'\nset-hook -g session-created 'rename-window hooked'\nset -g default-size 30x7\n"
    "set -g status off\nset -g window-size latest\nset -g set-titles on\n"
)


def test_our_own_server_reads_the_persons_configuration_and_works(sandbox: Sandbox, repo: Path) -> None:
    (sandbox.home / ".tmux.conf").write_text(OWN)
    for task in ("First thing", "Second thing"):
        sandbox.ww("new", task, cwd=repo, check=True)
    assert sandbox.tmux("show-options", "-gv", "base-index") == "1"
    listed = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert [w["status"] for w in listed] == ["unknown", "unknown"]
    assert sandbox.tmux("list-panes", "-a", "-F", "#{pane_width}x#{pane_height}").splitlines() == ["200x50", "200x50"]
    sandbox.wait_for(lambda: "toy got" in sandbox.ww("log", "first", cwd=repo, check=True).stdout)
    sandbox.ww("rm", "first-thing", "--yes", cwd=repo, check=True)
    [left] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert left["status"] == "unknown"


def test_a_server_without_any_session_has_no_terminals(sandbox: Sandbox, repo: Path) -> None:
    """It stays so with this option; any other is so for the moment in which its last session has just been closed."""
    (sandbox.home / ".tmux.conf").write_text("set -s exit-empty off\n")
    sandbox.ww("new", "Add a greeting", cwd=repo, check=True)
    pane = sandbox.tmux("list-panes", "-a", "-F", "#{pane_id}")
    sandbox.tmux("kill-pane", "-t", pane)
    assert "no current target" in sandbox.run("tmux", "-L", "woodwind", "list-panes", "-a").stderr
    [worker] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert (worker["status"], worker["detail"]) == ("exited", "its terminal is gone")
    sandbox.ww("rm", "add-greeting", "--force", "--yes", cwd=repo, check=True)
    assert Server(f"{sandbox.env['TMUX_TMPDIR']}/tmux-{os.getuid()}/woodwind").watched() == set()
    sandbox.ww("new", "Another thing", cwd=repo, check=True)


def test_a_worker_whose_terminal_was_taken_over_is_not_called_running(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("new", "Add a greeting", cwd=repo, check=True)
    pane = sandbox.tmux("list-panes", "-a", "-F", "#{pane_id}")
    sandbox.tmux("respawn-pane", "-k", "-t", pane, "tail", "-f", "/dev/null")
    [worker] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert (worker["status"], worker["detail"]) == ("unknown", "another program runs in its terminal")
    sandbox.tmux("kill-pane", "-t", pane)
    [worker] = sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"]
    assert (worker["status"], worker["detail"]) == ("exited", "its terminal is gone")


def test_a_second_session_of_the_same_name_gets_a_number(sandbox: Sandbox, repo: Path) -> None:
    sandbox.tmux("new-session", "-d", "-s", "project-add-greeting", "tail -f /dev/null")
    sandbox.ww("new", "Add a greeting", cwd=repo, check=True)
    assert sandbox.tmux("list-sessions", "-F", "#{session_name}").splitlines() == [
        "project-add-greeting",
        "project-add-greeting-2",
    ]
    sandbox.ww("rm", "add-greeting", "--yes", cwd=repo, check=True)
    assert sandbox.tmux("list-sessions", "-F", "#{session_name}") == "project-add-greeting"


def test_the_sockets_folder_is_made_private(sandbox: Sandbox, repo: Path) -> None:
    sandbox.ww("new", "Add a greeting", cwd=repo, check=True)
    folder = Path(sandbox.env["TMUX_TMPDIR"], f"tmux-{os.getuid()}")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_paste_into_a_dead_pane_leaves_the_server_alive(sandbox: Sandbox) -> None:
    alive, dead = sandbox.run_in_pane("cat"), sandbox.run_in_pane("true")
    sandbox.exit_status(dead, timeout=60)
    mux = Server(f"{sandbox.env['TMUX_TMPDIR']}/tmux-{os.getuid()}/woodwind")
    for pane in (dead, alive):
        facts = {"exit_status": "", "session": "", "window": "", "title": "", "worker": "", "project": ""}
        mux.paste(Pane(id=pane, pid=0, dead=False, last_output=0, **facts), "words\n")
    sandbox.wait_for(lambda: sandbox.screen(alive).count("words") == 2, 60, what="the pasted words, typed and echoed")
    assert sandbox.tmux("list-buffers") == ""


def test_what_keeps_a_terminal_open_ends_with_it() -> None:
    """A respawn can come before it has its terminal: no signal reaches it then, and it would seem to be at work."""
    terminal, inside = os.openpty()
    placeholder = subprocess.Popen(PLACEHOLDER[1:], stdin=inside, stdout=inside, stderr=inside)
    os.close(inside)
    os.close(terminal)
    try:
        assert placeholder.wait(timeout=60) is not None
    finally:
        placeholder.kill()
        placeholder.wait()


def test_several_screens_are_read_by_one_call(sandbox: Sandbox) -> None:
    one, other = sandbox.run_in_pane("sh", "-c", "echo one; exec cat"), sandbox.run_in_pane("sh", "-c", "exec cat")
    sandbox.wait_for(lambda: "one" in sandbox.screen(one), 60, what="the first screen")
    mux = Server(f"{sandbox.env['TMUX_TMPDIR']}/tmux-{os.getuid()}/woodwind")
    facts = {"exit_status": "", "session": "", "window": "", "title": "", "project": ""}
    panes = [
        Pane(id=id, pid=0, dead=False, last_output=0, worker=f"w{n}", **facts) for n, id in enumerate((one, other))
    ]
    assert mux.texts(panes, lines=20) == {"w0": "one\n", "w1": ""}
    assert mux.texts(panes, lines=20) == {pane.worker: mux.text(pane, lines=20) for pane in panes}
    gone = Pane(id="%999", pid=0, dead=False, last_output=0, worker="w9", **facts)
    with pytest.raises(TmuxError):
        mux.texts([*panes, gone], lines=20)


def test_the_panes_of_one_worker_are_asked_for_alone(sandbox: Sandbox) -> None:
    for worker in ("wone", "wother"):
        sandbox.tmux("set-option", "-p", "-t", sandbox.run_in_pane("cat"), "@woodwind", worker)
    mux = Server(f"{sandbox.env['TMUX_TMPDIR']}/tmux-{os.getuid()}/woodwind")
    assert sorted(pane.worker for pane in mux.panes()) == ["wone", "wother"]
    assert [pane.worker for pane in mux.panes("wone")] == ["wone"]
    assert mux.panes("wnone") == []
    assert mux.panes("wone},#{@woodwind}") == [], "what is no id of ours is no format of tmux's either"


def test_a_program_does_not_inherit_the_title_of_the_one_before(sandbox: Sandbox) -> None:
    pane = sandbox.run_in_pane("sh", "-c", r"printf '\033]2;Ready\007'; read line")
    # Before it ends: tmux may lose what a program says in the very moment of its end.
    sandbox.wait_for(lambda: sandbox.fact(pane, "pane_title") == "Ready", what="the title")
    sandbox.type_in(pane, "")
    sandbox.exit_status(pane)
    sandbox.tmux("set-option", "-p", "-t", pane, "@woodwind", "w1")
    mux = Server(f"{sandbox.env['TMUX_TMPDIR']}/tmux-{os.getuid()}/woodwind")
    [found] = mux.panes()
    started = mux.start(found, Program(["cat", "-"], {"PATH": sandbox.env["PATH"]}))
    assert (started.dead, started.title) == (False, "")


def test_of_a_terminal_that_has_just_gone_nothing_is_kept(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    pane = sandbox.run_in_pane("cat")
    sandbox.run_in_pane("cat")
    sandbox.tmux("set-option", "-p", "-t", pane, "@woodwind", "w1")
    mux = Server(f"{sandbox.env['TMUX_TMPDIR']}/tmux-{os.getuid()}/woodwind")
    [found] = mux.panes()
    keep_text("w1", mux, found)
    [kept] = tmp_path.rglob("terminal.log")
    kept.unlink()
    sandbox.tmux("kill-pane", "-t", pane)
    keep_text("w1", mux, found)
    assert not list(tmp_path.rglob("terminal.log"))
