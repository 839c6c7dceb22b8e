"""A tmux server: the user's own or our private one. Panes are found by their tag, never by a remembered id."""

import contextlib
import os
import signal
from collections.abc import Mapping, Sequence

from woodwind.base.run import RunFailed, find_program, run
from woodwind.model.errors import MissingTool, Refused
from woodwind.muxes.base import Pane
from woodwind.muxes.tmux.control import Control, TmuxError, Watch, literal

TAG = "@woodwind"
PROJECT_TAG = "@woodwind_project"
SIZE = ("-x", "200", "-y", "50")
# Two words or more, so that tmux starts it without a shell.
_PLACEHOLDER = ("--", "tail", "-f", "/dev/null")
_FIELDS = (
    TAG,
    "pane_id",
    "pane_pid",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
    "session_id",
    "window_id",
    "window_activity",
    PROJECT_TAG,
    "pid",
    "pane_title",
)
_FORMAT = "|".join(f"#{{{name}}}" for name in _FIELDS)
# What a private server must not take over from whoever happens to start it.
_SCRUBBED = ("GIT_", "WOODWIND_", "TMUX", "CLAUDECODE", "CLAUDE_CODE_")


def socket_path(name: str) -> str:
    """The socket of the server that `tmux -L name` means."""
    folder = os.path.join(os.environ.get("TMUX_TMPDIR") or "/tmp", f"tmux-{os.getuid()}")
    return os.path.join(os.path.realpath(folder), name)


class Server:
    """One tmux server, addressed by its socket."""

    def __init__(self, socket: str, *, private: bool = False) -> None:
        self.server = socket
        self.private = private
        self._control: Control | None = None

    def running(self) -> bool:
        """Whether a server answers on the socket."""
        # Its import costs 4 ms, a third of the interpreter's start: only where a command of tmux has failed.
        import socket as sockets

        with contextlib.closing(sockets.socket(sockets.AF_UNIX)) as probe:
            try:
                probe.connect(self.server)
            except OSError:
                return False
        return True

    def panes(self) -> list[Pane]:
        if not self._control and not os.path.exists(self.server):
            return []
        return self._collected("-a")

    def _collected(self, *which: str) -> list[Pane]:
        """The tagged panes among `which`, with the exit status of those whose program has ended."""
        found = self._listed(*which)
        # A tmux with utempter forks a helper when a terminal closes, and ignores SIGCHLD meanwhile: the status of a
        # program that ended just then is never collected. Any later SIGCHLD makes tmux collect all that have ended.
        if any(pane.dead and not pane.exit_status for pane, _ in found):
            with contextlib.suppress(OSError):
                os.kill(found[0][1], signal.SIGCHLD)
            found = self._listed(*which)
        seen: dict[str, Pane] = {}
        for pane, _ in found:
            seen.setdefault(pane.id, pane)  # sessions of a group show the same pane once each
        return list(seen.values())

    def _listed(self, *which: str) -> list[tuple[Pane, int]]:
        """The tagged panes among `which`, in every session that shows them, each with the pid of the server."""
        try:
            lines = self._ask("list-panes", *which, "-f", f"#{{{TAG}}}", "-F", _FORMAT)
        except (TmuxError, MissingTool):
            if self.running():
                raise
            return []
        return [listed for listed in map(_pane, lines) if listed]

    def option(self, name: str, target: str = "") -> str:
        """The value of an option in effect, for the server or a session."""
        words = ("-A", "-t", target, name) if target else ("-s", name)
        return " ".join(self._ask("show-options", "-qv", *words))

    def has_session(self, session: str) -> bool:
        """Whether the session with this id is there."""
        try:
            self._ask("has-session", "-t", session)
        except TmuxError:
            return False
        return True

    def open_session(self, *, worker: str, project: str, name: str, folder: str) -> Pane:
        self._connect_by_new_session(name, folder)
        assert self._control
        pane_id, session = self._control.opened[0].split(" ")
        if self.private:
            self._ask("set-option", "-s", "exit-unattached", "off")
        self._ask("set-option", "-t", session, "destroy-unattached", "off")
        return self._tagged(pane_id, worker, project)

    def open_window(self, *, worker: str, project: str, name: str, folder: str, session: str) -> Pane:
        # Named by a pane, because a window may have moved to another session since its $TMUX was set.
        [session] = self._ask("display-message", "-p", "-t", session, "#{session_id}")
        if self.option("destroy-unattached", session) not in ("", "off"):
            raise Refused(
                "a window in your session would be closed when you detach: destroy-unattached is set there",
                hint="Use a session of its own (-s), or unset destroy-unattached.",
            )
        self._connect(["attach-session", *Control.FLAGS, "-t", session])
        made = self._ask(
            "new-window",
            "-d",
            "-P",
            "-F",
            "#{pane_id}",
            "-t",
            f"{session}:",
            "-n",
            name,
            "-c",
            literal(folder),
            *_PLACEHOLDER,
        )
        return self._tagged(made[0], worker, project)

    def start(self, pane: Pane, argv: Sequence[str], *, env: Mapping[str, str], unset: Sequence[str]) -> Pane:
        variables = [w for name, value in env.items() for w in ("-e", f"{name}={value}")]
        without = [w for name in unset for w in ("-u", name)]
        # `env` would take a program with = in its path for one more variable.
        through = ["sh", "-c", 'exec "$@"', "sh"] if "=" in argv[0] else []
        self._ask("respawn-pane", "-k", "-t", pane.id, *variables, "--", "env", *without, *through, *argv)
        return self._find(pane.id)

    def own_session(self, pane: Pane, *, name: str) -> Pane:
        self._connect_by_new_session(name, "/")
        assert self._control
        placeholder, session = self._control.opened[0].split(" ")
        self._ask("set-option", "-t", session, "destroy-unattached", "off")
        self._ask("break-pane", "-d", "-s", pane.id, "-t", f"{session}:", "-n", name)
        self._ask("kill-pane", "-t", placeholder)
        return self._find(pane.id)

    def text(self, pane: Pane, *, lines: int) -> str:
        shown = self._ask("capture-pane", "-p", "-J", "-t", pane.id, "-S", f"-{lines}")
        while shown and not shown[-1].strip():
            shown.pop()
        return "".join(f"{line.rstrip()}\n" for line in shown[-lines:])

    def paste(self, pane: Pane, text: str) -> None:
        if not self._control:
            # A text does not fit into a command line; over the connection it does.
            self._connect(["attach-session", *Control.FLAGS, "-t", pane.session])
        self._leave_mode(pane)
        buffer = f"woodwind-{os.getpid()}"
        self._ask("set-buffer", "-b", buffer, "--", text)
        self._ask("paste-buffer", "-p", "-d", "-b", buffer, "-t", pane.id)

    def press(self, pane: Pane, *keys: str) -> None:
        self._leave_mode(pane)
        self._ask("send-keys", "-t", pane.id, *keys)

    def _leave_mode(self, pane: Pane) -> None:
        """In copy mode keys would go to tmux instead of the program."""
        if self._ask("display-message", "-p", "-t", pane.id, "#{pane_in_mode}") != ["0"]:
            self._ask("send-keys", "-t", pane.id, "-X", "cancel")

    def watch(self, pane: Pane) -> Watch:
        return Watch(self.server, pane.session, pane.id)

    def kill(self, pane: Pane) -> None:
        with contextlib.suppress(TmuxError):  # gone already is as good
            self._ask("kill-pane", "-t", pane.id)

    def attach_argv(self, pane: Pane, *, inside: bool) -> list[str]:
        self._ask("select-window", "-t", pane.window)
        self._ask("select-pane", "-t", pane.id)
        verb = "switch-client" if inside else "attach-session"
        return ["tmux", "-u", "-S", self.server, verb, "-t", pane.session]

    def close(self) -> None:
        if self._control:
            self._control.close()
            self._control = None

    def _find(self, pane_id: str) -> Pane:
        for pane in self._collected("-t", pane_id):  # those of its window: all of them take 5 ms where 200 run
            if pane.id == pane_id:
                return pane
        raise TmuxError("tmux: the terminal went away while its program was started", code="tmux_gone")

    def _tagged(self, pane_id: str, worker: str, project: str) -> Pane:
        self._ask("set-option", "-p", "-t", pane_id, PROJECT_TAG, project)
        self._ask("set-option", "-p", "-t", pane_id, TAG, worker)
        self._ask("set-option", "-p", "-t", pane_id, "remain-on-exit", "on")
        return self._find(pane_id)

    def _connect_by_new_session(self, name: str, folder: str) -> None:
        """Connect by opening a session of ours; a taken name gets a number."""
        made = ("-P", "-F", "#{pane_id} #{session_id}")
        for n in range(1, 1000):
            free = name if n == 1 else f"{name}-{n}"
            words = [
                "new-session",
                *Control.FLAGS,
                *made,
                *SIZE,
                "-s",
                free,
                "-n",
                name,
                "-c",
                literal(folder),
                *_PLACEHOLDER,
            ]
            try:
                self._connect(words)
                return
            except TmuxError as error:
                if "duplicate session" not in error.message:
                    raise
        raise TmuxError(f"tmux: no free session name for {name}")

    def _connect(self, opening: list[str]) -> None:
        self.close()
        if not find_program("tmux"):
            raise missing_tmux()
        os.makedirs(os.path.dirname(self.server), mode=0o700, exist_ok=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith(_SCRUBBED) or k == "TMUX_TMPDIR"}
        for attempt in (1, 2, 3):
            try:
                self._control = Control(self.server, opening, env=env)
                return
            except TmuxError as error:
                # A server that is just going away takes the connection and drops it.
                if error.code != "tmux_gone" or attempt == 3:
                    raise

    def _ask(self, *words: str) -> list[str]:
        """One command: over the connection when there is one, else as one process, which costs the same."""
        if self._control:
            return self._control.command(*words)
        try:
            done = run(["tmux", "-u", "-N", "-S", self.server, *words], timeout=30)
        except RunFailed as error:
            raise TmuxError(f"tmux: {error.done.complaint or 'command refused'}") from None
        except MissingTool:
            raise missing_tmux() from None
        return done.text.splitlines()


def missing_tmux() -> MissingTool:
    """The error for a machine without tmux."""
    return MissingTool("tmux was not found", hint="Install tmux 3.2 or later, for example: apt install tmux")


def _pane(line: str) -> tuple[Pane, int] | None:
    fields = line.split("|", len(_FIELDS) - 1)
    if len(fields) != len(_FIELDS) or not fields[2].isdecimal():
        return None
    worker, pane_id, pid, dead, status, signalled, session, window, activity, project, server, title = fields
    how = f"status {status}" if status else f"signal {signalled}" if signalled else ""
    pane = Pane(
        worker=worker,
        project=project,
        id=pane_id,
        pid=int(pid),
        dead=dead == "1",
        exit_status=how,
        session=session,
        window=window,
        last_output=int(activity or 0),
        title=title,
    )
    return pane, int(server)
