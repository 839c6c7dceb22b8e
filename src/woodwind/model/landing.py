"""Landings: what was asked for, and the words that commits and people get. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from woodwind.model.text import clean, one_line
from woodwind.model.worker import Worker

# How often a target may move away under a landing before it gives up.
MOST_TRIES = 5
STRATEGIES = ("ours", "theirs")
# Files that say which packages an environment has: when one changes, a lane's environment is made anew.
LOCK_FILES = frozenset(
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lockb bun.lock deno.lock "
    "poetry.lock uv.lock pdm.lock Pipfile.lock requirements.txt Cargo.lock go.sum Gemfile.lock composer.lock "
    "mix.lock pubspec.lock gradle.lockfile packages.lock.json flake.lock conda-lock.yml".split()
)


class LandRequest(NamedTuple):
    """What was asked for; "" means: as configured, or as recorded with the worker."""

    target: str = ""
    method: str = ""
    strategy: str = ""
    message: str = ""
    verify: bool = True
    keep: bool = True
    commit_dirty: bool = False
    leave_conflicts: bool = False
    via: str = ""


class Verification(NamedTuple):
    """Whether the project's checks passed on a tree, and where their output is.

    `command` is "" when there is none; then nothing was run, and nothing passed. `reused` tells that the same tree
    had passed before. `why` says how it failed.
    """

    passed: bool
    command: str
    output_path: str = ""
    reused: bool = False
    why: str = ""


def merge_message(worker: Worker, commits: Sequence[str], *, method: str, message: str = "") -> str:
    """The message of a landing's own commit: what was given, or one made from the task."""
    if message:
        return clean(message).strip()
    title = one_line(worker.title or worker.task, 72) or worker.name
    if method == "squash":
        body = "\n".join(f"- {one_line(subject, 100)}" for subject in reversed(commits)) if len(commits) > 1 else ""
        return f"{title}\n\n{body}".strip()
    return f"Merge {worker.worktree.branch}: {title}"


def dirty_message(worker: Worker, message: str = "") -> str:
    """The message for what a worker had not committed."""
    return clean(message).strip() or one_line(worker.title or worker.task, 72) or f"Work of {worker.name}"


def pull_request_body(worker: Worker, commits: Sequence[Mapping[str, str]]) -> str:
    """The text of a pull request: the task, the commits, and its ticket, which it refers to and does not close.

    The task stands in a block of code: a `fixes #3` in it, which may be anybody's words, closes nothing there.
    """
    task = clean(worker.task).strip()[:4000]
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", task)), default=0))
    parts = [f"{fence}text\n{task}\n{fence}"] if task else []
    if commits:
        lines = [f"- `{one_line(c['subject'], 100).replace('`', chr(39))}` ({c['commit'][:10]})" for c in commits[:50]]
        parts.append("Commits:\n\n" + "\n".join(lines))
    source, _, id = worker.origin.partition(":")
    if source == "github" and id.isdecimal():
        parts.append(f"Refers to #{id}.")
    elif worker.url:
        parts.append(f"Refers to {one_line(worker.url, 300)}")
    return "\n\n".join(parts) + "\n"


def listed(files: Sequence[str], most: int = 5) -> str:
    """Some names in a line, and how many more there are."""
    more = f" and {len(files) - most} more" if len(files) > most else ""
    return ", ".join(clean(name).replace("\n", " ") for name in files[:most]) + more
