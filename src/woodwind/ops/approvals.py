"""Texts from a project's file that run on this machine: only once the user approved exactly these."""

from woodwind.base import paths
from woodwind.model.errors import Refused, UsageError
from woodwind.model.text import clean
from woodwind.model.typed import Any, NamedTuple
from woodwind.ops.context import Context
from woodwind.store import approvals

_KEYS = {"install": "environment.commands", "setup": "hooks.setup", "teardown": "hooks.teardown"}
NAMES = tuple(_KEYS)
_declined: set[str] = set()


class Hook(NamedTuple):
    """A text that would run, and where it is from; `foreign` ones are not the user's own."""

    name: str
    text: str
    source: str
    foreign: bool

    @property
    def hides(self) -> bool:
        """Whether a terminal would show another text than the one that runs: part of it may be an escape sequence."""
        return clean(self.text) != self.text

    @property
    def digest(self) -> str:
        """What an approval is kept under: another text has another one."""
        import hashlib  # 3 ms, which a `ww new` without hooks need not pay

        return hashlib.sha256(f"{self.name}\0{self.text}".encode()).hexdigest()


def hooks(ctx: Context) -> list[Hook]:
    """What is configured to run here, each with its source."""
    loaded, found = ctx.loaded_config, []
    config = loaded.config
    values = {
        "install": "\n".join(config.environment.commands),
        "setup": config.hooks.setup,
        "teardown": config.hooks.teardown,
    }
    values |= {f"on.{event}": command for event, command in config.hooks.on.items()}
    for name, text in values.items():
        source = loaded.sources.get(_key(name), "")
        if text.strip():
            found.append(Hook(name, text, source, source != paths.config_file() and not source.startswith("$")))
    return found


def _key(name: str) -> str:
    return _KEYS.get(name) or f"hooks.{name}"


def _may_run(ctx: Context, project: str, hook: Hook) -> bool:
    if not hook.foreign:
        return True
    return not hook.hides and approvals.is_approved(ctx.store, project, hook.name, hook.digest)


def lifecycle(ctx: Context, project: str) -> dict[str, str]:
    """The commands of [hooks.on] that may run, by the kind of event."""
    mine = [hook for hook in hooks(ctx) if hook.name.startswith("on.")]
    return {hook.name.removeprefix("on."): hook.text for hook in mine if _may_run(ctx, project, hook)}


def allowed(ctx: Context, project: str, *, names: tuple[str, ...] = NAMES, ask: bool = False) -> dict[str, str]:
    """The texts that may run, by the hook's name; a person is asked, once, and anybody else is told what may not."""
    runnable = {}
    for hook in hooks(ctx):
        if hook.name not in names:
            continue
        if _may_run(ctx, project, hook):
            runnable[hook.name] = hook.text
        elif hook.hides:
            ctx.notes.append(f"{_hidden(hook)}, so it does not run")
        elif ask and ctx.confirm and hook.digest not in _declined:
            question = f"{hook.source} wants to run this as {_KEYS[hook.name]}:\n\n{hook.text.rstrip()}\n\nAllow it?"
            if ctx.confirm(question):
                _approve(ctx, project, [hook])
                runnable[hook.name] = hook.text
            else:
                _declined.add(hook.digest)
        elif hook.digest not in _declined:
            _declined.add(hook.digest)
            ctx.notes.append(f"{_KEYS[hook.name]} of {hook.source} is not approved, so it does not run: ww hooks list")
    return runnable


def _hidden(hook: Hook) -> str:
    return f"{_key(hook.name)} of {hook.source} has control characters, which hide a part of it on a screen"


def _approve(ctx: Context, project: str, found: list[Hook]) -> None:
    with ctx.store.transaction() as db:
        for hook in found:
            approvals.approve(db, project, hook.name, hook.digest)


def listed(ctx: Context, project: str) -> list[dict[str, Any]]:
    """Every hook with its text and whether it may run."""
    return [
        {
            "hook": hook.name,
            "text": ascii(hook.text) if hook.hides else hook.text,
            "source": hook.source,
            "may_run": _may_run(ctx, project, hook),
            "needs_approval": hook.foreign,
        }
        for hook in hooks(ctx)
    ]


def decide(ctx: Context, project: str, names: list[str], *, approve: bool) -> list[dict[str, Any]]:
    """Approve the texts of these hooks as they are now (none named: of all), or take approvals back."""
    known = [*_KEYS, *(hook.name for hook in hooks(ctx) if hook.name not in _KEYS)]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"there is no hook {unknown[0]!r}", hint=f"Known are {', '.join(known)}.")
    if approve:
        wanted = [hook for hook in hooks(ctx) if hook.foreign and (not names or hook.name in names)]
        for hook in wanted:
            if hook.hides:
                raise Refused(_hidden(hook), code="hidden_text", hint=f"What is really there: {hook.text!a}")
        _approve(ctx, project, wanted)
    else:
        with ctx.store.transaction() as db:
            for name in names or known:
                approvals.revoke(db, project, name)
    return listed(ctx, project)
