"""Starting a worker from the control plane's form."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext

from woodwind.agents import registry
from woodwind.daemon.client import ensure_daemon
from woodwind.ops import tickets
from woodwind.ops.brief import template_names
from woodwind.ops.choose_agents import choose_agents
from woodwind.ops.context import Context
from woodwind.ops.create import create
from woodwind.ops.free_names import Request
from woodwind.ops.permissions import permissions_for
from woodwind.ops.projects import current
from woodwind.tui.new_worker import Wish


def choices(cwd: str) -> tuple[list[str], list[str]]:
    """The agents that are installed, and the templates."""
    with closing(Context(cwd, os.environ)) as ctx:
        found = registry.installed(ctx.loaded_config.config.agents, ctx.notes)
        return [agent.name for agent in found], template_names(ctx)


def start(cwd: str, wish: Wish, ask: Callable[[str], bool]) -> str:
    """Start a worker as the form says; returns what to tell the person."""
    with closing(Context(cwd, os.environ, person=True, confirm=ask)) as ctx:
        [agent] = choose_agents(ctx, [wish.agent] if wish.agent else [], first=True)
        agent.require_program()
        project = current(ctx)
        request = Request(wish.task, base=wish.base, model=wish.model, template=wish.template)
        source, _, number = wish.ticket.partition(":")
        if wish.ticket:
            request = request._replace(task="", prompt=wish.task)
        asked: AbstractContextManager[Request]
        if source == "github-pr":
            asked = tickets.pulled(ctx, request, number, goes_on=False)
        else:
            fetched = tickets.of_ticket(request, tickets.fetch(ctx, wish.ticket)) if wish.ticket else request
            asked = nullcontext(fetched)
        with asked as whole:
            allowed = permissions_for(ctx, project, agent, "", untrusted=whole.untrusted)
            worker = create(ctx, project, whole._replace(permissions=allowed), agent)
        ensure_daemon(os.environ)
        return "\n".join([f"{worker.name} started: {worker.agent} on {worker.worktree.branch}", *ctx.notes])
