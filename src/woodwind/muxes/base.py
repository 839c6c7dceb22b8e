"""What a terminal multiplexer can do for us: the protocol that tmux, and others after it, fulfil."""

from collections.abc import Mapping, Sequence

from woodwind.model.typed import NamedTuple, Protocol

HEADLESS = "headless:"  # how the name of a "server" without terminals begins
# What an agent must not take over from whoever happens to start it, or the server that it is on.
SCRUBBED = ("GIT_", "WOODWIND_", "TMUX", "CLAUDECODE", "CLAUDE_CODE_")


class Pane:
    """One terminal that carries a worker's tag, as the multiplexer tells it now."""

    __slots__ = (
        *("dead", "exit_status", "id", "last_output", "pid", "project", "session", "title", "uncollected", "window"),
        "worker",
    )

    def __init__(
        self,
        *,
        worker: str,
        project: str,
        id: str,
        pid: int,
        dead: bool,
        exit_status: str,
        session: str,
        window: str,
        last_output: int,
        title: str,
    ) -> None:
        self.worker = worker
        self.project = project
        self.id = id
        self.pid = pid
        self.dead = dead
        self.exit_status = exit_status
        self.session = session
        self.window = window
        self.last_output = last_output  # seconds since 1970
        self.title = title
        self.uncollected = False  # the terminal is closed, and its program was not known to have ended


class Program(NamedTuple):
    """A program for a pane: its words, the variables that it gets, and those that it must not have."""

    argv: Sequence[str]
    env: Mapping[str, str]
    unset: Sequence[str] = ()


class Watching(Protocol):
    """Somebody looks at a pane, and is told when it prints."""

    def __enter__(self) -> "Watching": ...

    def __exit__(self, *exc: object) -> None: ...

    def wait(self, timeout: float) -> bool:
        """Whether it printed within `timeout` seconds."""
        ...


class Tailing(Protocol):
    """A pane's output as it comes, for a loop that waits on descriptors."""

    def open(self) -> bool:
        """Begin; False when it cannot be had."""
        ...

    def fileno(self) -> int:
        """The descriptor to wait on."""
        ...

    def drain(self) -> bool:
        """Take all that was printed; False when there is no more to come."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Mux(Protocol):
    """One server of a multiplexer."""

    server: str

    def panes(self, worker: str = "") -> list[Pane]:
        """Every pane that carries a worker's tag, or this worker's; none when the server does not run."""
        ...

    def open_session(
        self, *, worker: str, project: str, name: str, folder: str, program: Program | None = None
    ) -> Pane:
        """A terminal in a session of its own, tagged, that stays when its process ends; a placeholder for None."""
        ...

    def open_window(
        self, *, worker: str, project: str, name: str, folder: str, session: str, program: Program | None = None
    ) -> Pane:
        """The same in a new window of the session that a pane or session id names; nobody's focus moves."""
        ...

    def start(self, pane: Pane, program: Program) -> Pane:
        """Replace the placeholder by a program: argv as it is, with its variables; no shell in between."""
        ...

    def own_session(self, pane: Pane, *, name: str) -> Pane:
        """Move a pane, with its running process, into a session of its own."""
        ...

    def text(self, pane: Pane, *, lines: int) -> str:
        """The last lines that the terminal shows or has scrolled away."""
        ...

    def texts(self, panes: Sequence[Pane], *, lines: int) -> dict[str, str]:
        """The same of several terminals at once, by worker; an error where one of them is gone."""
        ...

    def screen(self, pane: Pane) -> str:
        """What the terminal shows now, with the escape sequences of its colours."""
        ...

    def paste(self, pane: Pane, text: str) -> None:
        """Put a text of any length into the terminal as a paste, leaving any copy mode first; no Enter."""
        ...

    def press(self, pane: Pane, *keys: str) -> None:
        """Press keys, by tmux's names for them."""
        ...

    def watch(self, pane: Pane) -> Watching:
        """Be told when the pane prints."""
        ...

    def tail(self, pane: Pane) -> Tailing | None:
        """The pane's output as it comes, to be opened; None where it cannot be had."""
        ...

    def watched(self) -> set[str]:
        """The windows that people have before them, by their ids."""
        ...

    def kill(self, pane: Pane) -> None:
        """Close the terminal and end its program, which is gone then, unless it does not heed that or we run in it."""
        ...

    def attach_argv(self, pane: Pane, *, inside: bool) -> list[str]:
        """The program that brings a person to the pane; `inside`: their terminal is in this server already."""
        ...
