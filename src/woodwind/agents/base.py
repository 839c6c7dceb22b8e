"""What Woodwind needs to know about an agent: a class with defaults, so that a small agent is a small file."""

import os
from collections.abc import Callable, Mapping, Sequence

from woodwind.base.run import find_program, not_found
from woodwind.model.choice import ModelChoice
from woodwind.model.errors import MissingTool, UsageError
from woodwind.model.reading import Reading, Recorded
from woodwind.model.status import Status
from woodwind.model.typed import Any, NamedTuple


class Start(NamedTuple):
    """One start of an agent: what it is told, and how it may run."""

    prompt: str = ""
    session: str = ""  # the id of its own conversation, which we chose
    resume: bool = False  # go on with that conversation
    headless: bool = False  # no terminal: do the prompt, print, exit
    plan: bool = False
    model: ModelChoice = ModelChoice()
    permissions: str = "ask"
    repository: str = ""  # the main checkout, which trust is keyed on
    turn_command: Sequence[str] = ()  # to be run at the end of a turn, when we commit for the agent
    hook: str = ""  # the shell command that hands one event on, from its standard input; "" for no events
    allowed: Sequence[str] = ()  # tools that were allowed for good in this project, as its readings name them
    untrusted: bool = False  # the worktree is a stranger's code: nothing in it may set the agent up
    run_dir: str = ""  # a folder of ours, outside the repository, for the files of this start
    port: int = 0  # a free port of this machine, where the agent serves its events itself; otherwise 0


class Agent:
    """One kind of agent. Members set attributes, and override a method only where they differ."""

    name = ""
    command = ""
    args: Sequence[str] = ()
    env: Mapping[str, str] = {}
    pass_env: Sequence[str] = ()
    paths: Sequence[str] = ()
    install = ""
    checked = ""  # the version that this adapter was checked with; "" when it is only from documentation
    detected = True  # whether it is offered when no agent was named
    package = ""  # the installed package that it came with; "" for one of our own or of the configuration

    # Words that come before all others, such as a subcommand; without a terminal, headless_args stand there.
    terminal_args: Sequence[str] = ()
    # How the first instructions reach it: argument, flag, paste (into its terminal, once it is up), none.
    prompt = "argument"
    prompt_flag = ""
    # The words that make it do one prompt without a terminal; None when it cannot.
    headless_args: Sequence[str] | None = None
    headless_flag = ""  # the flag for the prompt there; "" for an argument
    plan_args: Sequence[str] = ()
    # Words that make it ignore settings, servers and instructions of the folder that it is in.
    untrusted_args: Sequence[str] = ()
    model_flag = ""
    provider_flag = ""  # where the provider has a flag of its own; otherwise it is written provider/model
    model_in_terminal = True  # False where it takes a model only without a terminal
    providers: Sequence[str] = ()  # the only providers whose models it takes; () for any
    thinking: Mapping[str, Sequence[str]] = {}
    # What it takes for each answer to "what may it do without asking"; a missing one it cannot do.
    permissions: Mapping[str, Sequence[str]] = {"ask": ()}
    # Words that give its conversation the id that we chose, and that go on with it; {session} stands for the id.
    # None when it cannot go on. Where they have no {session}, it goes on with the last one in the worktree.
    session_args: Sequence[str] = ()
    resume_args: Sequence[str] | None = None
    # Whether it can commit in a linked worktree with these permissions; otherwise we commit at the end of its turn.
    commits: Mapping[str, bool] = {}

    # Whether its own events tell of a prompt that it took, and of a turn's end.
    tells_submits = False
    tells_ends = False
    # Whether it queues a prompt that comes while it works, and tells of it by the name of the one that it is at.
    queues = False
    # Whether it serves its events itself, at a port that we choose: the daemon then reads them from `stream_url`.
    streams = False

    # Whether it keeps a record of its conversation that tells what it took and how that ended: see `recorded`.
    keeps_record = False

    # What a person would type or press in its terminal.
    clear = "/clear"
    exit = "/exit"
    interrupt: Sequence[str] = ("Escape",)
    # The keys that answer a permission question, by what is meant: allow, always, deny. A missing one it does not have.
    answers: Mapping[str, Sequence[str]] = {}

    def program(self) -> str:
        """The executable, by the caller's PATH and then the known places; "" when it is not installed."""
        found = find_program(self.command)
        for place in self.paths if not found else ():
            found = found or find_program(os.path.expanduser(place))
        return found

    def require_program(self) -> str:
        """The executable, or an error that says how to get it."""
        program = self.program()
        if program:
            return program
        if os.path.dirname(self.command) and os.path.exists(self.command):
            raise MissingTool(
                f"the agent {self.name} cannot be started: {self.command} is not executable",
                hint=f"chmod +x {self.command}",
            )
        hint = self.install or f"Install it, or set `command` in [agents.{self.name}]."
        first, _, rest = self.command.partition(" ")
        if rest and find_program(first):
            hint = f"`command` is the program: make it {first!r} in [agents.{self.name}], and the rest its `args`."
        raise MissingTool(f"the agent {self.name} is not installed: {not_found(self.command)}", hint=hint)

    def argv(self, start: Start) -> list[str]:
        """The program with its arguments."""
        words = [self.require_program(), *self.first_words(start), *self.own_args(start)]
        words += self.resume_words(start) if start.resume else self.session_words(start)
        words += self.trust_args(start)
        words += self.turn_args(start)
        words += self.untrusted_args if start.untrusted else ()
        if start.hook:
            words += self.event_args(start)
        if start.model.model:
            if not (start.headless or self.model_in_terminal):
                raise self.cannot("be given a model in a terminal", "Choose it there, or leave --model out.")
            words += self.model_args(start.model)
        if start.model.thinking:
            words += self.thinking_args(start.model.thinking)
        words += self.plan_words() if start.plan else self.permission_args(start)
        words += self.allow_args(start)
        return words + self.prompt_words(start)

    def variables(self, start: Start) -> Mapping[str, str]:
        """Variables to set for this start."""
        return self.env

    def prompt_words(self, start: Start) -> list[str]:
        """The words that carry the prompt; none where it is pasted later, or there is no prompt."""
        if not start.prompt:
            return []
        flag = self.headless_flag if start.headless else self.prompt_flag if self.prompt == "flag" else ""
        if start.headless or self.prompt in ("argument", "flag"):
            return [flag, start.prompt] if flag else [start.prompt]
        return []

    def first_words(self, start: Start) -> Sequence[str]:
        """The words that come before all others."""
        if not start.headless:
            return self.terminal_args
        if self.headless_args is None:
            raise self.cannot("run without a terminal", "Leave --headless out, or choose another agent.")
        return self.headless_args

    def own_args(self, start: Start) -> Sequence[str]:
        """The words that it is always given: ours, and those of the configuration."""
        return self.args

    def session_words(self, start: Start) -> Sequence[str]:
        """Words that give its own conversation the id that we chose; none where it takes no id."""
        return [word.replace("{session}", start.session) for word in self.session_args] if start.session else ()

    def resume_words(self, start: Start) -> Sequence[str]:
        """Words that go on with its conversation."""
        if self.resume_args is None:
            raise self.cannot(
                "go on with an earlier conversation", "`ww resume --fresh` starts it anew in its worktree."
            )
        return [word.replace("{session}", start.session) for word in self.resume_args]

    def trust_args(self, start: Start) -> Sequence[str]:
        """Words that keep its first-run questions about this repository away."""
        return ()

    def turn_args(self, start: Start) -> Sequence[str]:
        """Words that make it run `start.turn_command` at the end of a turn, with its last words as JSON."""
        return ()

    def model_args(self, choice: ModelChoice) -> Sequence[str]:
        """Words that choose the model."""
        if not self.model_flag:
            raise self.cannot("be given a model", "Leave --model out, or choose another agent.")
        if self.provider_flag and choice.provider:
            return (self.provider_flag, choice.provider, self.model_flag, choice.model)
        if not self.providers:
            return (self.model_flag, f"{choice.provider}/{choice.model}" if choice.provider else choice.model)
        if choice.provider and choice.provider not in self.providers:
            raise self.cannot(f"use models of {choice.provider}", f"It knows only {', '.join(self.providers)}.")
        return (self.model_flag, choice.model)

    def thinking_args(self, level: str) -> Sequence[str]:
        """Words that choose how hard it thinks."""
        if level not in self.thinking:
            known = ", ".join(self.thinking)
            raise self.cannot(f"think at the level {level}", f"It knows: {known}." if known else "Leave the level out.")
        return self.thinking[level]

    def permission_args(self, start: Start) -> Sequence[str]:
        """Words for what it may do without asking."""
        if start.permissions not in self.permissions:
            known = " or ".join(self.permissions)
            raise self.cannot(f"run with permissions {start.permissions!r}", f"Use --permissions {known}.")
        return self.permissions[start.permissions]

    def allow_args(self, start: Start) -> Sequence[str]:
        """Words that let it use `start.allowed` without asking; none where it cannot be told."""
        return ()

    def plan_words(self) -> Sequence[str]:
        """Words that make it plan without editing."""
        if not self.plan_args:
            raise self.cannot(
                "plan without editing", f"Leave --plan-mode out, or set plan_args in [agents.{self.name}]."
            )
        return self.plan_args

    def cannot(self, what: str, hint: str) -> UsageError:
        """The error for a wish that this agent cannot fulfil."""
        return UsageError(f"the agent {self.name} cannot {what}", hint=hint, code="agent_cannot")

    def event_files(self, start: Start) -> Mapping[str, str]:
        """Files that its events need, by name: written into `start.run_dir` before it is started."""
        return {}

    def stream_url(self, start: Start) -> str:
        """Where it serves its events, as Server-Sent Events over HTTP on `start.port`; "" where it does not."""
        return ""

    def listener(self) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
        """What makes of each event of one stream what is put into the spool: None for those that tell nothing."""
        return lambda payload: payload if self.reading(payload, 0) is not None else None

    def event_args(self, start: Start) -> Sequence[str]:
        """Words that make it hand its events to `start.hook`, for this run only."""
        return ()

    def answer_keys(self, answer: str, screen: str) -> Sequence[str]:
        """The keys for allow, always or deny at the question that its screen shows; () where it has no such choice."""
        return self.answers.get(answer, ())

    def words_keys(self, screen: str) -> Sequence[str] | None:
        """The keys that go before an answer in words, at the question on its screen; None where it takes no words."""
        return ()

    def reading(self, payload: Mapping[str, Any], at: int) -> Reading | None:
        """What one of its events tells; None where it tells nothing about its status."""
        return None

    def recorded(self, environ: Mapping[str, str], folder: str, since: int) -> Recorded | None:
        """What its own record tells since a time, of the agent with this environment in this folder; None for none."""
        return None

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        """What the terminal's title proves about the agent; None when it proves nothing."""
        return None
