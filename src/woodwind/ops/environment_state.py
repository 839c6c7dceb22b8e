"""How far the environments of workers are, as it is true now. `ww ls` imports this: mind what it costs."""

from woodwind.base.processes import is_running
from woodwind.ops.context import Context
from woodwind.store import environments
from woodwind.store.environments import Environment


def told(environment: Environment) -> tuple[str, str]:
    """(state, detail) as they are now: what was under way and has no process any more has failed."""
    if environment.state == "running" and not is_running(environment.pid, environment.pid_start):
        doing = f" while it did {environment.detail}" if environment.detail else ""
        return "failed", f"its process was killed{doing}"
    return environment.state, environment.detail


def unsettled(ctx: Context, project: str) -> dict[str, dict[str, str]]:
    """State and detail by worker, of those whose environment is not ready or has failed."""
    found = {environment.worker: told(environment) for environment in environments.unsettled(ctx.store, project)}
    return {worker: {"state": state, "detail": detail} for worker, (state, detail) in found.items()}
