"""`ww history`: every landing and removal, what it changed, and whether it was undone."""

from typing import Any

from woodwind.ops.context import Context
from woodwind.store import landings, removals


def history(ctx: Context, project: str, *, failed: bool = False) -> list[dict[str, Any]]:
    """What landed and what was removed in a project, newest first; with `failed`, also what did not land."""
    entries = [_landing(one) for one in landings.of_project(ctx.store, project) if failed or one.state != "failed"]
    for removal, name, undone in removals.history(ctx.store, project):
        entries.append(
            {
                **_landing(
                    landings.begun(removal.worker, id=removal.id, name=name, kind="remove", at=removal.removed_at)
                ),
                "state": "undone" if undone else "done",
                "path": removal.path,
            }
        )
    return sorted(entries, key=lambda entry: str(entry["at"]), reverse=True)


def _landing(one: landings.Landing) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "state": one.state,
        "name": one.name,
        "worker": "" if one.run else one.worker,
        "run": one.run,
        "at": one.at.isoformat(),
        "target": one.target,
        "via": one.via,
        "method": one.method,
        "from": one.old,
        "to": one.new,
        "commits": one.commits,
        "verified": one.verified,
        "command": one.command,
        "output": one.output,
        "undoes": one.undoes,
        "why": one.why,
        "path": "",
    }
