"""`ww agents`: what is known about each agent, without starting any."""

from woodwind.agents import registry
from woodwind.agents.base import Agent
from woodwind.model.typed import Any
from woodwind.ops.context import Context


def entries(ctx: Context) -> list[dict[str, Any]]:
    """All agents, in the order of detection."""
    return [_entry(ctx, agent) for agent in registry.every(ctx.loaded_config.config.agents, ctx.notes)]


def entry(ctx: Context, name: str) -> dict[str, Any]:
    """One agent by its name."""
    return _entry(ctx, registry.find(name, ctx.loaded_config.config.agents))


def _entry(ctx: Context, agent: Agent) -> dict[str, Any]:
    settings = ctx.loaded_config.config.agents.get(agent.name)
    origin = "package" if agent.package else "built-in" if agent.name in registry.BUILT_IN else "configuration"
    program = agent.program()
    return {
        "name": agent.name,
        "installed": bool(program),
        "path": program,
        "checked": agent.checked,
        "origin": origin,
        "package": agent.package,
        "configured": settings is not None,
        "command": agent.command,
        "install": agent.install,
        "prompt": agent.prompt,
        "plan": bool(agent.plan_args),
        "model": bool(agent.model_flag),
        "model_in_terminal": bool(agent.model_flag and agent.model_in_terminal),
        "providers": list(agent.providers),
        "thinking": list(agent.thinking),
        "permissions": list(agent.permissions),
        "default_permissions": settings.permissions if settings else "",
        "cannot_commit_with": [mode for mode, can in agent.commits.items() if not can],
        "headless": agent.headless_args is not None,
        "resume": agent.resume_args is not None,
        "pass_env": list(dict.fromkeys(agent.pass_env)),
    }
