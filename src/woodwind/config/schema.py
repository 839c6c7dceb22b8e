"""Every key that can be set: its type, its default and what it does.

The reference in docs/ and the commented file that a new user gets are made from these classes.
"""

from dataclasses import dataclass, field
from typing import Any


def key(default: Any, doc: str, *, choices: tuple[str, ...] = (), variable: str = "") -> Any:
    """A configuration key: its default, one sentence about it, and what it may be."""
    about = {"doc": doc, "choices": choices, "variable": variable}
    if isinstance(default, list | dict):
        return field(default_factory=default.copy, metadata=about)
    return field(default=default, metadata=about)


@dataclass(slots=True)
class New:
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


@dataclass(slots=True)
class Launch:
    """Where a worker's terminal opens, by kind of work."""

    implementation: str = key("session", "For workers that build something.", choices=("session", "window"))
    review: str = key("window", "For workers that review something.", choices=("session", "window"))


@dataclass(slots=True)
class Tmux:
    """The tmux server that the terminals live on."""

    server: str = key(
        "auto",
        "`user`: the tmux that you are in, `own`: a private server, `auto`: yours inside tmux, else the private one.",
        choices=("auto", "user", "own"),
    )
    socket: str = key("woodwind", "The name of the private server, as in `tmux -L woodwind`.")


@dataclass(slots=True)
class Trash:
    """Removed workers, kept whole until `ww trash prune`."""

    days: int = key(14, "How many days a removed worktree is kept before `ww trash prune` may delete it.")
    max_size: str = key("20 GB", "How much the trash of a project may hold before the oldest may be pruned early.")


@dataclass(slots=True)
class Output:
    """What commands print."""

    format: str = key(
        "human", "`json` makes --json the default.", choices=("human", "json"), variable="WOODWIND_FORMAT"
    )
    color: str = key("auto", "Colours: on a terminal, always or never.", choices=("auto", "always", "never"))


@dataclass(slots=True)
class Agent:
    """An agent of your own, or changes to a built-in one of the same name."""

    command: str = key("", "The program: a name on PATH, or a path; ~ and a path relative to this file's folder work.")
    args: list[str] = key([], "Arguments that always come first.")
    prompt: str = key(
        "argument",
        "How the first instructions reach it: as the last `argument`, behind a `flag`, or `none`.",
        choices=("argument", "flag", "none"),
    )
    prompt_flag: str = key("", 'The flag for `prompt = "flag"`, such as `--message`.')
    plan_args: list[str] = key([], "Arguments that make it plan without editing, for `ww new --plan-mode`.")
    env: dict[str, str] = key({}, "Variables to set for it. Not for secrets: use pass_env.")
    pass_env: list[str] = key([], "Names of variables to pass on from where `ww` is called.")
    paths: list[str] = key([], "Further places of the program, tried when it is not on PATH.")
    install: str = key("", "What to tell a user who does not have it.")


@dataclass(slots=True)
class Config:
    """The whole configuration, merged."""

    new: New = field(default_factory=New)
    launch: Launch = field(default_factory=Launch)
    tmux: Tmux = field(default_factory=Tmux)
    trash: Trash = field(default_factory=Trash)
    output: Output = field(default_factory=Output)
    agents: dict[str, Agent] = field(default_factory=dict)


SECTIONS: dict[str, type] = {"new": New, "launch": Launch, "tmux": Tmux, "trash": Trash, "output": Output}
