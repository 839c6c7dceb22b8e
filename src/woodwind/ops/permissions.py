"""What an agent may do without asking: the flag, the user's configuration, or the project's one answer."""

from woodwind.agents.base import Agent
from woodwind.ops.context import Context
from woodwind.store import projects

_ANSWERS = {
    "ask": "ask   - every command and edit, as the agent does by itself",
    "auto": "auto  - edits freely, and asks before commands that may do harm",
    "bypass": "bypass - everything; only for a machine or sandbox that you can lose",
}


def permissions_for(ctx: Context, project: str, agent: Agent, flag: str) -> str:
    """ask, auto or bypass. A person is asked once per project; without one, `ask` is the safe answer."""
    settings = ctx.loaded_config.config.agents.get(agent.name)
    chosen = flag or (settings.permissions if settings else "") or projects.permissions(ctx.store, project)
    if chosen:
        return chosen
    possible = [p for p in _ANSWERS if p in agent.permissions]
    if not ctx.pick or len(possible) < 2:
        return "ask"
    answer = possible[
        ctx.pick("What may agents do in this project without asking you?", [_ANSWERS[p] for p in possible])
    ]
    projects.set_permissions(ctx.store, project, answer)
    return answer
