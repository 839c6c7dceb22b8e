"""A tmux server: the user's own or our private one. Panes are found by their tag, never by a remembered id."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence

from woodwind.base import paths
from woodwind.base.clock import new_id
from woodwind.base.processes import ancestors, is_running, start_time
from woodwind.model.errors import MissingTool, Refused
from woodwind.model.typed import TYPE_CHECKING
from woodwind.muxes.base import SCRUBBED, Pane, Program
from woodwind.muxes.tmux.client import TmuxError, ask, literal, tell

if TYPE_CHECKING:
    from woodwind.muxes.tmux.tail import Tail

TAG = "@woodwind"
PROJECT_TAG = "@woodwind_project"
SIZE = ("-x", "200", "-y", "50")
# Two words or more, so that tmux starts it without a shell. It reads its terminal, so that it ends with it.
PLACEHOLDER = ("--", "cat", "-")
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


# How often a server that is just going away is asked again.
_LOOKS = 20
# Seconds that a program has, once its terminal is closed, to tell its hooks and to end.
_PATIENCE = 5.0
# So many terminals are read by one call.
_AT_ONCE = 50
# How long it is waited, in seconds, before a status that tmux has not collected is asked for again.
_UNTIL_COLLECTED = (0.0, 0.02, 0.1, 0.2)
_Then = Callable[[str], list[tuple[str, ...]]]


def socket_path(name: str) -> str:
    """The socket of the server that `tmux -L name` means."""
    folder = os.path.join(os.environ.get("TMUX_TMPDIR") or "/tmp", f"tmux-{os.getuid()}")
    return os.path.join(os.path.realpath(folder), name)


def _last(pane: Pane, shown: list[str], lines: int) -> str:
    """The last lines of a screen, without the empty ones at its end."""
    _drop_empty_end(shown)
    if pane.dead and shown and shown[-1].startswith("Pane is dead"):
        # No word of the program's: tmux puts it at the bottom, a screen of empty lines below what that has said.
        shown.pop()
        _drop_empty_end(shown)
    return "".join(f"{line.rstrip()}\n" for line in shown[-lines:])


def _drop_empty_end(shown: list[str]) -> None:
    while shown and not shown[-1].strip():
        shown.pop()


class Watch:
    """Somebody looks at a pane: a look four times a second is soon enough for a person."""

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to let go of."""

    def wait(self, timeout: float) -> bool:
        time.sleep(min(timeout, 0.25))
        return True


class Server:
    """One tmux server, addressed by its socket."""

    def __init__(self, socket: str, *, private: bool = False) -> None:
        self.server = socket
        self.private = private

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

    def panes(self, worker: str = "") -> list[Pane]:
        if not os.path.exists(self.server):
            return []
        return [pane for pane in self._collected("-a", worker=worker) if worker in ("", pane.worker)]

    def _collected(self, *which: str, worker: str = "") -> list[Pane]:
        """The tagged panes among `which`, with the exit status of those whose program has ended."""
        found = self._listed(*which, worker=worker)
        # A tmux with utempter forks a helper when a terminal closes, and ignores SIGCHLD meanwhile: the status of a
        # program that ended just then is never collected. Any later SIGCHLD makes tmux collect all that have ended.
        # And a program's terminal is closed a moment before it has ended.
        gone: set[int] = set()  # those that were collected before the last listing: what it says about them is final
        for pause in _UNTIL_COLLECTED:
            open_ends = [pane for pane in _open_ends(found) if pane.pid not in gone]
            if not open_ends:
                break
            waiting = [pane for pane in open_ends if start_time(pane.pid)]
            gone.update(pane.pid for pane in open_ends if pane not in waiting)
            if waiting:
                with contextlib.suppress(OSError):
                    os.kill(found[0][1], signal.SIGCHLD)
                _await_ends(waiting, pause)
            found = self._listed(*which, worker=worker)
        for pane in _open_ends(found):
            pane.uncollected = pane.pid not in gone
        seen: dict[str, Pane] = {}
        for pane, _ in found:
            seen.setdefault(pane.id, pane)  # sessions of a group show the same pane once each
        return list(seen.values())

    def _listed(self, *which: str, worker: str = "") -> list[tuple[Pane, int]]:
        """The tagged panes among `which`, in every session that shows them, each with the pid of the server."""
        # Of hundreds, one takes tmux half the time. An id of ours is letters and digits; what is not stays out of it.
        tagged = f"#{{==:#{{{TAG}}},{worker}}}" if worker.isascii() and worker.isalnum() else f"#{{{TAG}}}"
        for attempt in range(1, _LOOKS + 1):
            try:
                lines = self._ask("list-panes", *which, "-f", tagged, "-F", _FORMAT)
                return [listed for listed in map(_pane, lines) if listed]
            except (TmuxError, MissingTool) as error:
                if error.code == "tmux_empty" or not self.running():
                    return []
                if error.code != "tmux_gone" or attempt == _LOOKS:
                    raise
                time.sleep(0.05)  # its last session was just closed: it takes clients for a moment longer
        raise AssertionError

    def watched(self) -> set[str]:
        if not os.path.exists(self.server):
            return set()
        try:
            lines = self._ask("list-clients", "-F", "#{client_control_mode} #{window_id}")
        except (TmuxError, MissingTool) as error:
            if error.code != "tmux_empty" and self.running():
                raise
            return set()
        return {line.partition(" ")[2] for line in lines if line.startswith("0 ")}

    def option(self, name: str, target: str = "") -> str:
        """The value of an option in effect, for the server or a session."""
        words = ("-A", "-t", target, name) if target else ("-s", name)
        return " ".join(self._ask("show-options", "-qv", *words))

    def open_session(
        self, *, worker: str, project: str, name: str, folder: str, program: Program | None = None
    ) -> Pane:
        # In one breath: a session without its tag would be nobody's, and one without its option might be closed.

        def then(target: str) -> list[tuple[str, ...]]:
            return [*self._tags(target, worker, project), *_respawn(target, program), _list_panes(target)]

        made, *listed = self._new_session(name, folder, then)
        return self._find(made, listed)

    def open_window(
        self, *, worker: str, project: str, name: str, folder: str, session: str, program: Program | None = None
    ) -> Pane:
        # Named by a pane, because a window may have moved to another session since its $TMUX was set.
        [session] = self._ask("display-message", "-p", "-t", session, "#{session_id}")
        if self.option("destroy-unattached", session) not in ("", "off"):
            raise Refused(
                "a window in your session would be closed when you detach: destroy-unattached is set there",
                hint="Use a session of its own (-s), or unset destroy-unattached.",
            )
        # In one breath, so that a kill leaves no window without its tag; until it has one, its name tells which it is.
        place = ("-t", f"{session}:", "-n", worker, "-c", literal(folder))
        new = f"{session}:={worker}"
        made, *listed = tell(
            self.server,
            ("new-window", "-d", "-P", "-F", "#{pane_id}", *place, *PLACEHOLDER),
            *self._tags(new, worker, project),
            *_respawn(new, program),
            _list_panes(new),
            ("rename-window", "-t", new, name),
        )
        return self._find(made, listed)

    def start(self, pane: Pane, program: Program) -> Pane:
        # The title that the last program left would be taken for a word of the new one.
        untitled = ("select-pane", "-t", pane.id, "-T", "")
        listed = tell(self.server, untitled, *_respawn(pane.id, program), _list_panes(pane.id))
        return self._find(pane.id, listed)

    def own_session(self, pane: Pane, *, name: str) -> Pane:
        [placeholder] = self._new_session(name, "/")
        [session] = self._ask("display-message", "-p", "-t", placeholder, "#{session_id}")
        try:
            tell(self.server, ("break-pane", "-d", "-s", pane.id, "-t", f"{session}:", "-n", name))
        finally:
            self._ask("kill-pane", "-t", placeholder)
        return self._find(pane.id)

    def text(self, pane: Pane, *, lines: int) -> str:
        return _last(pane, self._ask("capture-pane", "-p", "-J", "-t", pane.id, "-S", f"-{lines}"), lines)

    def texts(self, panes: Sequence[Pane], *, lines: int) -> dict[str, str]:
        found: dict[str, str] = {}
        end = new_id("end")  # a line that no terminal can foresee
        for start in range(0, len(panes), _AT_ONCE):
            some = panes[start : start + _AT_ONCE]
            words: list[str] = []
            for pane in some:
                words += ["capture-pane", "-p", "-J", "-t", pane.id, "-S", f"-{lines}", ";"]
                words += ["display-message", "-p", "-t", pane.id, end, ";"]
            shown = self._ask(*words[:-1])
            if shown.count(end) != len(some):
                raise TmuxError("tmux: what several terminals show could not be told apart")
            for pane in some:
                where = shown.index(end)
                found[pane.worker] = _last(pane, shown[:where], lines)
                del shown[: where + 1]
        return found

    def screen(self, pane: Pane) -> str:
        return "\n".join(self._ask("capture-pane", "-p", "-e", "-t", pane.id))

    def paste(self, pane: Pane, text: str) -> None:
        self._leave_mode(pane)
        buffer = f"woodwind-{os.getpid()}"
        # Asked and pasted in one breath: tmux 3.3a crashes, with every worker on it, at a paste into a dead pane.
        paste = f"paste-buffer -p -d -b {buffer} -t {pane.id}"
        tell(
            self.server,
            ("set-buffer", "-b", buffer, "--", text),
            ("if-shell", "-F", "-t", pane.id, "#{pane_dead}", f"delete-buffer -b {buffer}", paste),
        )

    def press(self, pane: Pane, *keys: str) -> None:
        self._leave_mode(pane)
        self._ask("send-keys", "-t", pane.id, *keys)

    def _leave_mode(self, pane: Pane) -> None:
        """In copy mode keys would go to tmux instead of the program."""
        if self._ask("display-message", "-p", "-t", pane.id, "#{pane_in_mode}") != ["0"]:
            self._ask("send-keys", "-t", pane.id, "-X", "cancel")

    def watch(self, pane: Pane) -> Watch:
        return Watch()

    def tail(self, pane: Pane) -> "Tail":
        from woodwind.muxes.tmux.tail import Tail  # for the control plane only

        return Tail(self.server, pane.id, paths.runtime_dir())

    def kill(self, pane: Pane) -> None:
        # Whom we run in is not waited for: as it ends, it may end us in the middle of what this is a part of.
        begun = "" if pane.pid in ancestors(os.getpid()) else start_time(pane.pid)
        try:
            self._ask("kill-pane", "-t", pane.id)
        except TmuxError:
            # Gone already is as good; one that is still there must not pass for closed.
            if any((other.id, other.pid) == (pane.id, pane.pid) for other in self.panes()):
                raise
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline and is_running(pane.pid, begun):
            time.sleep(0.01)  # what it writes at its end belongs to the folder that its worker is put away with

    def attach_argv(self, pane: Pane, *, inside: bool) -> list[str]:
        self._ask("select-window", "-t", pane.window)
        self._ask("select-pane", "-t", pane.id)
        verb = "switch-client" if inside else "attach-session"
        return ["tmux", "-u", "-S", self.server, verb, "-t", pane.session]

    def _find(self, pane_id: str, listed: Sequence[str] = ()) -> Pane:
        """The pane with this id: from lines that were just listed, or by looking again where they tell too little."""
        told = [found[0] for found in map(_pane, listed) if found]
        if any(pane.id == pane_id and pane.dead and not pane.exit_status for pane in told) or not told:
            told = self._collected("-t", pane_id)  # those of its window: all of them take 5 ms where 200 run
        for pane in told:
            if pane.id == pane_id:
                return pane
        raise TmuxError("tmux: the terminal went away while its program was started", code="tmux_gone")

    def _tags(self, target: str, worker: str, project: str) -> list[tuple[str, ...]]:
        """The commands that make a pane a worker's."""
        options = {PROJECT_TAG: project, TAG: worker, "remain-on-exit": "on"}
        return [("set-option", "-p", "-t", target, name, value) for name, value in options.items()]

    def _new_session(self, name: str, folder: str, then: _Then = lambda target: []) -> list[str]:
        """The pane of a new session of ours, and what `then` prints; a taken name gets a number.

        Where no server is, one is started.
        """
        os.makedirs(os.path.dirname(self.server), mode=0o700, exist_ok=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith(SCRUBBED) or k == "TMUX_TMPDIR"}
        stay = [("set-option", "-s", "exit-unattached", "off")] if self.private else []
        for n in range(1, 1000):
            free = name if n == 1 else f"{name}-{n}"
            place = ("-s", free, "-n", name, "-c", literal(folder))
            made = ("new-session", "-d", "-E", "-P", "-F", "#{pane_id}", *SIZE, *place, *PLACEHOLDER)
            stays = ("set-option", "-t", f"={free}:", "destroy-unattached", "off")
            try:
                return self._started([made, *stay, stays, *then(f"={free}:")], env)
            except TmuxError as error:
                if "duplicate session" not in error.message:
                    raise
        raise TmuxError(f"tmux: no free session name for {name}")

    def _started(self, commands: list[tuple[str, ...]], env: Mapping[str, str]) -> list[str]:
        for attempt in range(1, _LOOKS + 1):
            try:
                return tell(self.server, *commands, env=env, start=True)
            except TmuxError as error:
                # A server that is just going away takes the client and drops it.
                if error.code != "tmux_gone" or attempt == _LOOKS:
                    raise
                time.sleep(0.05)
        raise AssertionError

    def _ask(self, *words: str) -> list[str]:
        return ask(self.server, *words)


def _open_ends(listed: Sequence[tuple[Pane, int]]) -> list[Pane]:
    """Those whose terminal is closed, and of whose program tmux does not tell how it ended."""
    return [pane for pane, _ in listed if pane.dead and not pane.exit_status]


def _await_ends(panes: Sequence[Pane], seconds: float) -> None:
    """Wait until tmux has collected these programs, or for so long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(start_time(pane.pid) for pane in panes):
        time.sleep(0.005)


def _respawn(target: str, program: Program | None) -> list[tuple[str, ...]]:
    """The command that puts a program in the placeholder's place; none for None."""
    if program is None:
        return []
    variables = [w for name, value in program.env.items() for w in ("-e", f"{name}={value}")]
    without = [w for name in program.unset for w in ("-u", name)]
    # `env` would take a program with = in its path for one more variable.
    through = ["sh", "-c", 'exec "$@"', "sh"] if "=" in program.argv[0] else []
    return [("respawn-pane", "-k", "-t", target, *variables, "--", "env", *without, *through, *program.argv)]


def _list_panes(target: str) -> tuple[str, ...]:
    """The command that lists the tagged panes of a window."""
    return ("list-panes", "-t", target, "-f", f"#{{{TAG}}}", "-F", _FORMAT)


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
