"""Words that programs say to `ww`, not people: completion scripts and the hooks of agents."""

import os
import sys

from woodwind.model.errors import WoodwindError


def names(_argv: list[str]) -> int:
    """Print the workers' names, one a line."""
    from woodwind.ops.names import worker_names

    sys.stdout.write("".join(f"{name}\n" for name in worker_names(os.getcwd())))
    return 0


def agents(_argv: list[str]) -> int:
    """Print the names of configured agents, one a line; a completion script knows the built-in ones."""
    from woodwind.ops.agent_names import agent_names

    sys.stdout.write("".join(f"{name}\n" for name in agent_names(os.getcwd())))
    return 0


def tmux_status(_argv: list[str]) -> int:
    """Print the segment of tmux's status line; nothing where that fails, because a status line shows no errors."""
    from woodwind.ops.context import Context
    from woodwind.ops.tmux_status import segment

    ctx = Context("/", os.environ)
    try:
        sys.stdout.write(f"{segment(ctx)}\n")
    except (WoodwindError, OSError):
        return 1
    finally:
        ctx.close()
    return 0


def turn_ended(_argv: list[str]) -> int:
    """Commit what an agent left at the end of its turn, which standard input tells of as JSON.

    Always 0, because an agent may take more for an objection.
    """
    import json  # 9 ms, and completion and status lines are to be quick

    from woodwind.ops.context import Context
    from woodwind.ops.crash import log_error
    from woodwind.ops.turn_commit import commit_turn

    ctx = Context(os.getcwd(), os.environ)
    try:
        payload = json.loads(sys.stdin.read())
        words = payload.get("last_assistant_message") if isinstance(payload, dict) else ""
        commit_turn(ctx, ctx.caller, words if isinstance(words, str) else "")
    except (WoodwindError, OSError, ValueError) as error:
        log_error(error)
    finally:
        ctx.close()
    return 0


WORDS = {"__names": names, "__agents": agents, "__tmux-status": tmux_status, "__turn-ended": turn_ended}
