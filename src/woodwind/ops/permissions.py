"""What an agent may do without asking: the flag, the user's configuration, or the project's one answer."""

from woodwind.agents.base import Agent
from woodwind.ops.context import Context
from woodwind.store import projects

_ANSWERS = {
    "ask": "ask   - every command and edit, as the agent does by itself",
    "auto": "auto  - edits freely, and asks before commands that may do harm",
    "bypass": "bypass - everything; only for a machine or sandbox that you can lose",
}


def permissions_for(ctx: Context, project: str, agent: Agent | None, flag: str, *, untrusted: bool = False) -> str:
    """ask, auto or bypass. A person is asked once per project; without one, `ask` is the safe answer.

    Beside a stranger's code nothing is done without asking, unless the flag says so.
    """
    if agent is None or (untrusted and not flag and "ask" in agent.permissions):
        return "ask"
    settings = ctx.loaded_config.config.agents.get(agent.name)
    chosen = flag or (settings.permissions if settings else "")
    if chosen:
        return chosen
    answered = projects.permissions(ctx.store, project)
    if answered and answered not in agent.permissions and "ask" in agent.permissions:
        # It was answered for the project, maybe with another agent in mind; less is always safe.
        ctx.notes.append(f"{agent.name} cannot run with permissions {answered}, as answered for this project: it asks")
        return "ask"
    if answered:
        return answered
    possible = [p for p in _ANSWERS if p in agent.permissions]
    if not ctx.pick or len(possible) < 2:
        return "ask"
    answer = possible[
        ctx.pick("What may agents do in this project without asking you?", [_ANSWERS[p] for p in possible])
    ]
    projects.set_permissions(ctx.store, project, answer)
    return answer
