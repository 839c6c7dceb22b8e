"""All agents by name: the built-in ones, those of the configuration, and those of installed packages."""

from functools import cache
from importlib import import_module

from woodwind.agents import packages
from woodwind.agents.base import Agent
from woodwind.model.errors import ConfigError, MissingTool, NotFound, WoodwindError
from woodwind.model.typed import TYPE_CHECKING

if TYPE_CHECKING:  # `ww ls` asks for built-in agents only, and need not load the configuration's schema
    from woodwind.config.schema import Agent as AgentConfig

# In the order of detection. A module is imported only when its agent is asked for.
BUILT_IN = {
    "claude": "woodwind.agents.claude:Claude",
    "codex": "woodwind.agents.codex:Codex",
    "opencode": "woodwind.agents.opencode:OpenCode",
    "pi": "woodwind.agents.pi:Pi",
    "gemini": "woodwind.agents.gemini:Gemini",
    "droid": "woodwind.agents.droid:Droid",
    "amp": "woodwind.agents.amp:Amp",
    "goose": "woodwind.agents.goose:Goose",
    "kiro": "woodwind.agents.kiro:Kiro",
    "aider": "woodwind.agents.aider:Aider",
    "openclaude": "woodwind.agents.openclaude:OpenClaude",
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


@cache
def shared(name: str) -> Agent | None:
    """The adapter of a built-in agent that all who only ask it something share: nobody may change it."""
    return built_in(name)


def find(name: str, configured: "dict[str, AgentConfig]") -> Agent:
    """The agent with this name, as configured; an error that lists the known ones otherwise."""
    agent = built_in(name) or packages.find(name)
    settings = configured.get(name)
    if settings is not None:
        return _configured(name, agent, settings)
    if agent is None:
        known = ", ".join(sorted({*BUILT_IN, *configured, *(e.name for e in packages.entries())}))
        raise NotFound(
            f"there is no agent {name!r}", code="no_agent", hint=f"Known: {known}. Define your own in [agents.{name}]."
        )
    return agent


def _configured(name: str, known: Agent | None, settings: "AgentConfig") -> Agent:
    agent = known or Agent()
    agent.name = name
    agent.command = settings.command or agent.command
    if not agent.command:
        raise ConfigError(f"[agents.{name}] has no `command`", hint='Set it, for example: command = "my-agent"')
    agent.prompt = settings.prompt or agent.prompt
    agent.prompt_flag = settings.prompt_flag or agent.prompt_flag
    if agent.prompt == "flag" and not agent.prompt_flag:
        raise ConfigError(
            f'[agents.{name}] has prompt = "flag" but no prompt_flag', hint='For example: prompt_flag = "--message"'
        )
    if settings.prompt_flag and agent.prompt != "flag":
        raise ConfigError(
            f'[agents.{name}] has a prompt_flag but prompt = "{agent.prompt}"', hint='Set prompt = "flag" too.'
        )
    if not known:
        agent.headless_flag = agent.prompt_flag
    agent.args = [*agent.args, *settings.args]
    agent.model_flag = settings.model_flag or agent.model_flag
    for key in ("plan_args", "headless_args", "session_args", "resume_args"):
        if getattr(settings, key) is not None:
            setattr(agent, key, getattr(settings, key))
    given = {"ask": settings.ask_args, "auto": settings.auto_args, "bypass": settings.bypass_args}
    agent.permissions = {**agent.permissions, **{mode: words for mode, words in given.items() if words is not None}}
    if settings.permissions and settings.permissions not in agent.permissions:
        raise ConfigError(
            f'[agents.{name}] has permissions = "{settings.permissions}", which it does not know',
            hint=f"It knows {', '.join(agent.permissions)}; {settings.permissions}_args would add it.",
        )
    agent.env = {**agent.env, **settings.env}
    agent.pass_env = [*agent.pass_env, *settings.pass_env]
    agent.paths = [*settings.paths, *agent.paths]
    agent.install = settings.install or agent.install
    return agent


def every(configured: "dict[str, AgentConfig]", notes: list[str]) -> list[Agent]:
    """All agents, in the order of detection; a package that cannot be used becomes a note."""
    found = {name: find(name, configured) for name in BUILT_IN}
    for entry in packages.entries():
        if entry.name in found:
            package = packages.package_of(entry)
            notes.append(f"the agent {entry.name} of the package {package} is not used: there is one of that name")
            continue
        try:
            agent = packages.load(entry)
        except WoodwindError as problem:
            notes.append(f"{problem.message}. {problem.hint}")
            continue
        settings = configured.get(entry.name)
        found[entry.name] = _configured(entry.name, agent, settings) if settings else agent
    own = {name: _configured(name, None, settings) for name, settings in configured.items() if name not in found}
    return [found.get(name) or own[name] for name in dict.fromkeys([*configured, *found])]


def installed(configured: "dict[str, AgentConfig]", notes: list[str]) -> list[Agent]:
    """The agents that are on this machine, in the order of detection; no agent is started for it."""
    return [agent for agent in every(configured, notes) if agent.detected and agent.program()]


def none_installed() -> MissingTool:
    """The error for a machine without any agent."""
    return MissingTool(
        "no agent is installed",
        hint="Install one, for example: npm install -g @anthropic-ai/claude-code. "
        "Or define yours in [agents.NAME], or try --agent rehearsal, which needs no account.",
    )
