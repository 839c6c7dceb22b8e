"""All commands: where each lives and what it is for."""

from woodwind.model.typed import NamedTuple


class Command(NamedTuple):
    """One command: its module, its group in the help, and one line about it."""

    module: str
    group: str
    summary: str


def _at(name: str, group: str, summary: str) -> Command:
    return Command(f"woodwind.cli.commands.{name}", group, summary)


COMMANDS = {
    "control": _at("control", "Work", "the control plane: who needs you, at a glance; `ww` alone opens it too"),
    "new": _at("new", "Work", "start a worker: a branch, a worktree, a terminal and an agent on a task"),
    "branch": _at("branch", "Work", "start a worker on a branch in this checkout, instead of a worktree"),
    "brief": _at("brief", "Work", "show what an agent was told at first, or would be told"),
    "ls": _at("ls", "Work", "list the workers, and who needs you"),
    "show": _at("show", "Work", "all that is known about a worker"),
    "attach": _at("attach", "Work", "go to a worker's terminal"),
    "log": _at("log", "Work", "what a worker's terminal shows and has shown"),
    "path": _at("path", "Work", "the folder of a worker's worktree"),
    "send": _at("send", "Work", "give an agent a message"),
    "answer": _at("answer", "Work", "answer the question that an agent shows"),
    "wait": _at("wait", "Work", "wait until agents have ended their turns"),
    "explain": _at("explain", "Work", "why a worker has the status that it has"),
    "next": _at("next", "Work", "go to whoever has waited longest for you"),
    "pause": _at("pause", "Work", "interrupt an agent; everything is kept"),
    "resume": _at("resume", "Work", "go on with a paused or exited agent, in its own conversation"),
    "diff": _at("diff", "Work", "what a worker changed since it left its base"),
    "sync": _at("sync", "Work", "bring the base's new commits into workers; conflicts are found first"),
    "shell": _at("shell", "Work", "a shell in a worker's folder"),
    "exec": _at("exec", "Work", "run a command in a worker's folder"),
    "promote": _at("promote", "Work", "turn a worker's window into a session of its own"),
    "forecast": _at("forecast", "Land", "which workers collide with each other or with their target"),
    "queue": _at("queue", "Land", "who is ready to land, in the best order; --ship lands them together"),
    "review": _at("review", "Land", "what a worker did, line by line, with comments that go to its agent"),
    "critic": _at("critic", "Land", "what speaks against shipping, merging or deleting a worker"),
    "merge": _at("merge", "Land", "merge a worker's work, verify it, and move its target; the worker is kept"),
    "ship": _at("ship", "Land", "land a worker's work, then stop its agent and put its worktree away"),
    "pr": _at("pr", "Land", "push a worker's branch and open a pull request for it"),
    "plan": _at("plan", "Runs", "let an agent break a goal down into a plan file, or check one"),
    "run": _at("run", "Runs", "carry out a plan; status, stop, resume, report of any run"),
    "runs": _at("runs", "Runs", "list the runs and loops"),
    "loop": _at("loop", "Runs", "work through the tickets of epics, one after the other"),
    "rm": _at("rm", "Tidy up", "remove a worker; its worktree is parked whole, nothing is deleted"),
    "restore": _at("restore", "Tidy up", "bring a removed worker back"),
    "undo": _at("undo", "Tidy up", "undo the last landing or removal, or any one by its id"),
    "history": _at("history", "Tidy up", "every landing and removal, and what each changed"),
    "cleanup": _at("cleanup", "Tidy up", "remove workers that have been idle for long"),
    "trash": _at("trash", "Tidy up", "list removed workers, or delete old ones for good"),
    "init": _at("init", "Set up", "give a project its settings, context for briefs, and a skill for agents"),
    "agents": _at("agents", "Set up", "list the agents: which are installed, and what each can do"),
    "config": _at("config", "Set up", "show, check or edit the configuration"),
    "daemon": _at("daemon", "Set up", "the process that watches agents: start, stop, status, restart, logs"),
    "tmux": _at("tmux", "Set up", "keys, a status-line segment and a popup for your own tmux"),
    "hooks": _at("hooks", "Set up", "which commands of the project may run here: list, approve, revoke"),
    "db": _at("db", "Set up", "look after the store: health, vacuum, purge, backup"),
    "demo": _at("demo", "Set up", "see it work: four scripted agents in a sample repository"),
    "doctor": _at("doctor", "Set up", "find what is missing, wrong or left over, and mend it"),
    "completion": _at("completion", "Set up", "a completion script for bash, zsh or fish"),
    "version": _at("version", "Set up", "the version of Woodwind and of the programs it uses"),
    "help": _at("help", "Set up", "this list, or the help of a command"),
}
ALIASES = {"n": "new", "list": "ls", "s": "attach", "switch": "attach", "m": "merge", "delete": "rm", "remove": "rm"}
