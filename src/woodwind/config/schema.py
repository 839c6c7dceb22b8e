"""Every key that can be set: its type, its default and what it does.

The reference in docs/ and the commented file that a new user gets are made from these classes.
"""

from woodwind.model.typed import Any


class Key:
    """A configuration key: its name, its default, and what is to be known about it."""

    __slots__ = ("default", "metadata", "name")

    def __init__(self, default: Any, metadata: dict[str, Any]) -> None:
        self.name = ""
        self.default = default
        self.metadata = metadata

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def shape(self) -> Any:
        """A value of the key's type: its default, or an empty list for a list that is not even empty by default."""
        return [] if self.default is None else self.default


def key(default: Any, doc: str, *, choices: tuple[str, ...] = (), variable: str = "") -> Any:
    """A configuration key: its default, one sentence about it, and what it may be."""
    return Key(default, {"doc": doc, "choices": choices, "variable": variable})


class Section:
    """The values of some keys, at their defaults at first. Dataclasses would cost every `ww new` 20 ms."""

    def __init__(self) -> None:
        for f in fields(type(self)):
            setattr(self, f.name, f.default.copy() if isinstance(f.default, list | dict) else f.default)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


def fields(section: type[Section]) -> list[Key]:
    """The keys of a section, in their order."""
    return [value for value in vars(section).values() if isinstance(value, Key)]


class New(Section):
    """`ww new`: what a worker gets when no flag says otherwise."""

    agent: str = key("", "The agent to start; empty: the one that is installed, or a question when there are several.")
    model: str = key("", "The model, as provider/model[:thinking], for agents that take one; empty: the agent's own.")
    base: str = key("", "What branches are cut from; empty: the repository's default branch, `@`: the current one.")
    prefix: str = key(
        "auto", "The first part of generated branch names; `auto`: the kind of task (feat, fix, docs, …)."
    )
    path: str = key(
        "../{repo}.worktrees/{name}",
        "Where worktrees are made, from {repo}, {branch} and {name}; relative to the repository's folder.",
    )


class Launch(Section):
    """Where a worker's terminal opens, by kind of work."""

    implementation: str = key("session", "For workers that build something.", choices=("session", "window"))
    review: str = key("window", "For workers that review something.", choices=("session", "window"))


class Tmux(Section):
    """The tmux server that the terminals live on."""

    server: str = key(
        "auto",
        "`user`: the tmux that you are in, `own`: a private server, `auto`: yours inside tmux, else the private one.",
        choices=("auto", "user", "own"),
    )
    socket: str = key("woodwind", "The name of the private server, as in `tmux -L woodwind`.")


class Verify(Section):
    """The project's own checks, which the merged result has to pass before a branch moves."""

    command: str = key("", "What is run, by `sh -c`, on the merged files; status 0 means that they are good.")
    setup: str = key(
        "",
        "What makes the environment for it, by `sh -c`, once per lane and again when a lock file changes; empty: "
        "installed by the kind of project, as for a new worker.",
    )
    timeout: int = key(1800, "How many seconds the command may take; 0: as long as it likes.")


class Land(Section):
    """`ww merge`, `ww ship`, `ww pr`: how and where work lands."""

    method: str = key(
        "merge",
        "`merge`: a merge commit, `rebase`: its commits anew, `squash`: one commit.",
        choices=("merge", "rebase", "squash"),
    )
    via: str = key(
        "local",
        "`local`: the branch in this repository moves, `push`: the remote's does, `pr`: a pull request is opened.",
        choices=("local", "push", "pr"),
    )
    remote: str = key("origin", "The remote for `push` and `pr`.")


class Tickets(Section):
    """Trackers that tasks come from."""

    timeout: int = key(30, "How many seconds a tracker has for one answer.")


class Brief(Section):
    """What agents are told at first, besides their task."""

    context: list[str] = key(
        ["woodwind/context/*.md"], "Files of the project that go into every brief, as patterns below its top folder."
    )
    templates: str = key(
        "woodwind/templates", "The folder with the project's own templates, NAME.md each, below its top folder."
    )


class Trash(Section):
    """Removed workers, kept whole until `ww trash prune`."""

    days: int = key(14, "How many days a removed worktree is kept before `ww trash prune` may delete it.")
    max_size: str = key("20 GB", "How much the trash of a project may hold before the oldest may be pruned early.")


class Limits(Section):
    """How much may run at once, over all projects; what is too much waits in a queue."""

    workers: int = key(0, "How many agents may run at once; 0: no limit.")
    memory: str = key("", "How much memory all agents together may take before further ones wait; empty: no limit.")


class Cleanup(Section):
    """`ww cleanup`: workers that nobody touches any more."""

    days: int = key(14, "How many days a worker must have been idle.")


class Forecast(Section):
    """`ww forecast`: conflicts that are seen before anything is merged."""

    tell: bool = key(True, "Tell the younger of two workers that collide, between its turns, once per collision.")


class Daemon(Section):
    """The process that watches agents while no command runs. Only in your own file."""

    start: str = key(
        "auto", "`auto`: commands start it when there is something to watch; `never`: only `ww daemon start` does.",
        choices=("auto", "never"),
    )  # fmt: skip
    idle_minutes: int = key(10, "After how many minutes with nothing to watch it ends by itself; 0: never.")


class Critic(Section):
    """What is looked at before work lands or goes away: each check can block, warn, or be off."""

    overlaps: str = key("warn", "Collisions with the target or other workers.", choices=("block", "warn", "off"))
    uncommitted: str = key("block", "`ww merge` of a worker with uncommitted files.", choices=("block", "warn", "off"))
    empty: str = key("block", "Landing nothing.", choices=("block", "warn", "off"))
    unmerged: str = key(
        "block",
        "Files in conflict, or a merge or the like that is not finished.",
        choices=("block", "warn", "off"),
    )
    markers: str = key("block", "Conflict markers in a file.", choices=("block", "warn", "off"))
    secrets: str = key("block", "Keys and tokens.", choices=("block", "warn", "off"))
    large: str = key("block", "Files larger than `large_size`.", choices=("block", "warn", "off"))
    large_size: str = key("20 MB", "How large a new file may be.")
    debug: str = key("warn", "Breakpoints and debug output.", choices=("block", "warn", "off"))


class Environment(Section):
    """What a new worktree gets besides its files: dependencies, environment files, caches and ports."""

    install: str = key(
        "auto", "Install dependencies by the kinds of project that are found, or not at all.", choices=("auto", "off")
    )
    commands: list[str] = key(
        [], "Shell commands that install instead of what is found; from a project's file once you approved them."
    )
    folders: list[str] = key([], "Further folders of the repository to look into for projects and .env files.")
    wait: bool = key(False, "Start the agent only when all is installed, instead of at once.")
    timeout: int = key(1800, "How many seconds one command may take; 0: as long as it likes.")
    env_files: bool = key(True, "Copy the .env files that git ignores, with paths changed to the worktree's.")
    caches: list[str] = key(
        ["node_modules", "target"], "Ignored folders to clone copy-on-write, where the file system can."
    )
    copy_caches: str = key("", "Copy a cache of up to this size where it cannot be cloned; empty: do not.")
    ports: int = key(10, "How many ports each worker gets for itself, from WOODWIND_PORT on; 0: none.")
    port_from: int = key(20000, "The first port that may be given out.")
    port_to: int = key(29999, "The last port that may be given out.")


class Hooks(Section):
    """Shell commands around a worker's life; from a project's file they run once you approved their text."""

    setup: str = key("", "Runs in a new worktree after its dependencies are installed.")
    teardown: str = key("", "Runs in a worktree before `ww rm` parks it.")
    timeout: int = key(300, "How many seconds a hook may take.")
    on: dict[str, str] = key(
        {},
        'Commands by the kind of event, such as `"turn.done" = "say done"`; each gets the event as JSON on its '
        "standard input. Written as [hooks.on].",
    )


class Roles(Section):
    """The models of agents that work for Woodwind itself, as provider/model[:thinking]; empty: the agent's own."""

    planner: str = key("", "Breaks a goal down into a plan: `ww plan`.")


class Notify(Section):
    """Telling you what happens while you look elsewhere; the daemon does it. Only in your own file."""

    on: bool = key(True, "Whether to tell you at all.")
    events: list[str] = key(
        ["asking", "done", "failed"], "What to tell: asking (somebody needs you), done, failed, exited."
    )
    desktop: bool = key(True, "On the desktop, by `notify-send` or `terminal-notifier` where one is installed.")
    tmux: bool = key(True, "On the status line of every tmux client at a server that has workers.")
    command: str = key("", "A shell command of yours that gets each message as a JSON object on its standard input.")
    quiet: bool = key(True, "Not about a worker whose terminal you are looking at.")


class Output(Section):
    """What commands print."""

    format: str = key(
        "human", "`json` makes --json the default.", choices=("human", "json"), variable="WOODWIND_FORMAT"
    )
    color: str = key("auto", "Colours: on a terminal, always or never.", choices=("auto", "always", "never"))


class Control(Section):
    """The control plane, `ww` alone."""

    theme: str = key(
        "auto",
        "Its colours; `auto` asks the terminal for its background, the *-ansi ones use the terminal's own palette.",
        choices=("auto", "dark", "light", "dark-ansi", "light-ansi"),
    )
    background: str = key(
        "auto",
        "What is behind the text, for the theme `auto`: asked of the terminal, or told here.",
        choices=("auto", "dark", "light"),
    )
    preview: bool = key(True, "Whether it opens with the terminal of the selected worker beside or below the list.")


class Agent(Section):
    """An agent of your own, or changes to a built-in one of the same name."""

    command: str = key("", "The program: a name on PATH, or a path; ~ and a path relative to this file's folder work.")
    args: list[str] = key([], "Arguments that always come first.")
    prompt: str = key(
        "",
        "How the first instructions reach it: as the last `argument`, behind a `flag`, by `paste` into its terminal, "
        "or `none`; empty: the built-in agent's way, and `argument` for your own.",
        choices=("", "argument", "flag", "paste", "none"),
    )
    prompt_flag: str = key("", 'The flag for `prompt = "flag"`, such as `--message`.')
    plan_args: list[str] | None = key(None, "Arguments that make it plan without editing, for `ww new --plan-mode`.")
    headless_args: list[str] | None = key(
        None, "Arguments that make it do one prompt without a terminal and exit; left out: your own agent cannot."
    )
    model_flag: str = key("", "The flag for a model, such as `--model`; empty: your own agent takes none.")
    session_args: list[str] | None = key(
        None, "Arguments that give its conversation an id of ours, which stands where {session} is."
    )
    resume_args: list[str] | None = key(
        None, "Arguments that go on with its conversation, {session}, or the last one in the folder."
    )
    ask_args: list[str] | None = key(None, "Arguments for the permissions `ask`, which your own agent always has.")
    auto_args: list[str] | None = key(
        None, "Arguments for the permissions `auto`; left out: your own agent does not have them."
    )
    bypass_args: list[str] | None = key(
        None, "Arguments for the permissions `bypass`; left out: your own agent does not have them."
    )
    permissions: str = key(
        "",
        "What it may do without asking; empty: as you answered for the project. Only in your own file.",
        choices=("", "ask", "auto", "bypass"),
    )
    env: dict[str, str] = key({}, "Variables to set for it. Not for secrets: use pass_env.")
    pass_env: list[str] = key([], "Names of variables to pass on from where `ww` is called.")
    paths: list[str] = key([], "Further places of the program, tried when it is not on PATH.")
    install: str = key("", "What to tell a user who does not have it.")


class Config(Section):
    """The whole configuration, merged."""

    def __init__(self) -> None:
        self.new = New()
        self.launch = Launch()
        self.tmux = Tmux()
        self.verify = Verify()
        self.land = Land()
        self.tickets = Tickets()
        self.brief = Brief()
        self.trash = Trash()
        self.limits = Limits()
        self.cleanup = Cleanup()
        self.forecast = Forecast()
        self.daemon = Daemon()
        self.critic = Critic()
        self.environment = Environment()
        self.hooks = Hooks()
        self.notify = Notify()
        self.roles = Roles()
        self.output = Output()
        self.control = Control()
        self.agents: dict[str, Agent] = {}


# What concerns the user's machine as a whole: a repository, which anyone may have made, cannot set it.
USER_ONLY = ("daemon", "notify")
SECTIONS: dict[str, type[Section]] = {
    "new": New,
    "launch": Launch,
    "tmux": Tmux,
    "limits": Limits,
    "verify": Verify,
    "land": Land,
    "tickets": Tickets,
    "brief": Brief,
    "trash": Trash,
    "cleanup": Cleanup,
    "forecast": Forecast,
    "daemon": Daemon,
    "critic": Critic,
    "environment": Environment,
    "hooks": Hooks,
    "notify": Notify,
    "roles": Roles,
    "output": Output,
    "control": Control,
}
