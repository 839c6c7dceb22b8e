"""Which agents to start."""

from woodwind.agents import registry as agents
from woodwind.agents.base import Agent
from woodwind.model.errors import UsageError
from woodwind.ops.context import Context


def choose_agents(ctx: Context, wanted: list[str], *, first: bool = False) -> list[Agent]:
    """The agents to start: by flag, configuration, or what is installed, of which a person may choose one."""
    config = ctx.loaded_config.config
    names = wanted or ([config.new.agent] if config.new.agent else [])
    if names:
        return [agents.find(name, config.agents) for name in names]
    found = agents.installed(config.agents, ctx.notes)
    if not found:
        raise agents.none_installed()
    if len(found) == 1 or first:
        return found[:1]
    listed = [a.name for a in found]
    if not ctx.pick:
        raise UsageError(
            f"several agents are installed ({', '.join(listed)}) and none was chosen",
            hint=f"Say --agent {listed[0]}, or set `agent` in [new] of the configuration.",
        )
    return [found[ctx.pick("Which agent?", listed)]]
