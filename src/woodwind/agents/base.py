"""What Woodwind needs to know about an agent: a class with defaults, so that a small agent is a small file."""

import os
from collections.abc import Mapping, Sequence

from woodwind.base.run import find_program
from woodwind.model.errors import MissingTool, UsageError
from woodwind.model.status import Status


class Agent:
    """One kind of agent. Members set attributes and override a method only where they differ."""

    name = ""
    command = ""
    args: Sequence[str] = ()
    prompt = "argument"  # how the first instructions reach it: argument, flag, none
    prompt_flag = ""
    plan_args: Sequence[str] = ()
    env: Mapping[str, str] = {}
    pass_env: Sequence[str] = ()
    paths: Sequence[str] = ()
    install = ""
    checked = ""  # the version that this adapter was checked with
    detected = True  # whether it is offered when no agent was named

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
        raise MissingTool(
            f"the agent {self.name} is not installed: there is no program {self.command!r} on PATH",
            hint=self.install or f"Install it, or set `command` in [agents.{self.name}].",
        )

    def argv(self, *, prompt: str, session: str, plan: bool) -> list[str]:
        """The program with its arguments, for a first start."""
        words = [self.require_program(), *self.args, *self.session_args(session)]
        if plan:
            if not self.plan_args:
                raise UsageError(
                    f"the agent {self.name} has no plan mode",
                    hint=f"Leave --plan-mode out, or set plan_args in [agents.{self.name}].",
                )
            words += self.plan_args
        if self.prompt == "argument":
            words.append(prompt)
        elif self.prompt == "flag":
            words += [self.prompt_flag, prompt]
        return words

    def session_args(self, session: str) -> Sequence[str]:
        """Arguments that give the agent's own conversation the id that we chose."""
        return ()

    def status_from_title(self, title: str) -> tuple[Status, str] | None:
        """What the terminal's title proves about the agent; None when it proves nothing."""
        return None
