"""All agents by name: the built-in ones, and those of the configuration."""

from importlib import import_module
from typing import TYPE_CHECKING

from woodwind.agents.base import Agent
from woodwind.model.errors import ConfigError, MissingTool, NotFound

if TYPE_CHECKING:  # `ww ls` asks for built-in agents only, and need not load the configuration's schema
    from woodwind.config.schema import Agent as AgentConfig

# In the order of detection. A module is imported only when its agent is asked for.
BUILT_IN = {
    "claude": "woodwind.agents.claude:Claude",
    "rehearsal": "woodwind.agents.rehearsal:Rehearsal",
}


def built_in(name: str) -> Agent | None:
    """A fresh adapter of a built-in agent."""
    place = BUILT_IN.get(name)
    if not place:
        return None
    module, _, cls = place.partition(":")
    agent = getattr(import_module(module), cls)()
    assert isinstance(agent, Agent)
    return agent


def find(name: str, configured: "dict[str, AgentConfig]") -> Agent:
    """The agent with this name, as configured; an error that lists the known ones otherwise."""
    agent = built_in(name)
    settings = configured.get(name)
    if agent is None and settings is None:
        known = ", ".join(sorted({*BUILT_IN, *configured}))
        raise NotFound(
            f"there is no agent {name!r}", code="no_agent", hint=f"Known: {known}. Define your own in [agents.{name}]."
        )
    if settings is None:
        assert agent is not None
        return agent
    return _configured(name, agent or Agent(), settings)


def _configured(name: str, agent: Agent, settings: "AgentConfig") -> Agent:
    agent.name = name
    agent.command = settings.command or agent.command
    if not agent.command:
        raise ConfigError(f"[agents.{name}] has no `command`", hint='Set it, for example: command = "my-agent"')
    if settings.prompt == "flag" and not settings.prompt_flag:
        raise ConfigError(
            f'[agents.{name}] has prompt = "flag" but no prompt_flag', hint='For example: prompt_flag = "--message"'
        )
    if type(agent) is Agent or settings.prompt != "argument":
        agent.prompt = settings.prompt
        agent.prompt_flag = settings.prompt_flag
    agent.args = [*agent.args, *settings.args]
    agent.plan_args = settings.plan_args or agent.plan_args
    agent.env = {**agent.env, **settings.env}
    agent.pass_env = [*agent.pass_env, *settings.pass_env]
    agent.paths = [*settings.paths, *agent.paths]
    agent.install = settings.install or agent.install
    return agent


def installed(configured: "dict[str, AgentConfig]") -> list[Agent]:
    """The agents that are on this machine, in the order of detection; no agent is started for it."""
    found = []
    for name in dict.fromkeys([*configured, *BUILT_IN]):
        agent = find(name, configured)
        if agent.detected and agent.program():
            found.append(agent)
    return found


def none_installed() -> MissingTool:
    """The error for a machine without any agent."""
    return MissingTool(
        "no agent is installed",
        hint="Install one, for example: npm install -g @anthropic-ai/claude-code. "
        "Or define yours in [agents.NAME], or try --agent rehearsal, which needs no account.",
    )
