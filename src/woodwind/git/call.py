"""How git is called: in a chosen repository, with nothing of it or of the caller able to interfere."""

import os
from collections.abc import Mapping

from woodwind.base.files import held_locks
from woodwind.base.run import Conversation, Done, RunFailed, Running
from woodwind.model.errors import MissingTool

# The caller's GIT_* variables would point git elsewhere; only these say nothing about a repository.
_KEPT = (
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSL",
    "GIT_ASKPASS",
    "GIT_CONFIG",
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_TRACE",
)

# A hook or fsmonitor planted by an agent must not run for us, and a commit must survive a power loss.
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=committed",
    "core.quotePath=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "log.showSignature=false",
)


def environment() -> dict[str, str]:
    """The environment for git: the caller's, less what would redirect it."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k.startswith(_KEPT)}
    env.update(GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", LC_ALL="C")
    return env


def argv(*words: str) -> list[str]:
    """The program git with our settings and these words."""
    return ["git", *(w for s in _SETTINGS for w in ("-c", s)), *words]


def argv_with_hooks(*words: str) -> list[str]:
    """The same with the repository's own hooks, for where git would run them for the user too."""
    return ["git", *(w for s in _SETTINGS[1:] for w in ("-c", s)), *words]


def environment_with_hooks() -> dict[str, str]:
    """The environment for git whose hooks may be anybody's: their own language, git's messages in English."""
    env = environment()
    del env["LC_ALL"]
    env["LANG"] = os.environ.get("LC_ALL") or os.environ.get("LANG", "")
    env.update(LC_MESSAGES="C", GIT_EDITOR="true", GIT_SEQUENCE_EDITOR="true", GIT_MERGE_AUTOEDIT="no")
    return env


class Asked:
    """A git process with our settings that was started, and whose answer is still to be had.

    `words` begin with -C or --git-dir, so that the repository is explicit.
    """

    def __init__(self, *words: str, input: bytes = b"", env: Mapping[str, str] | None = None) -> None:
        self._words = words
        whole = {**environment(), **env} if env else environment()
        try:
            # It keeps our locks: where we are killed and it goes on, nobody clears up under its feet.
            self._running = Running(argv(*words), env=whole, input=input, keeping=held_locks())
        except MissingTool:
            hint = "Install git 2.38 or later, for example: apt install git"
            raise MissingTool("git was not found", hint=hint) from None

    def answer(self, *, ok: tuple[int, ...] | None = (0,), timeout: float | None = None) -> Done:
        """What it said; RunFailed in git's own words where its exit status is not in `ok` (None: any)."""
        try:
            return self._running.finish(ok=ok, timeout=timeout)
        except RunFailed as failure:
            verb = " ".join(self._words[_verb(self._words) :][:2])
            failure.message = f"git {verb}: {failure.done.complaint or f'exit status {failure.done.code}'}"
            failure.hint = lock_hint(failure.done.complaint) or failure.hint
            if "write" in failure.message:  # git does not always say why it could not
                failure.hint = "Is the disk full, or not writable?"
            raise


def git(
    *words: str,
    input: bytes = b"",
    ok: tuple[int, ...] | None = (0,),
    timeout: float | None = None,
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run git with our settings; `words` begin with -C or --git-dir, so that the repository is explicit."""
    return Asked(*words, input=input, env=env).answer(ok=ok, timeout=timeout)


def lock_hint(complaint: str) -> str:
    """What to do when git found a lock of another git; "" when it complains about something else."""
    _, found, rest = complaint.partition("Unable to create '")
    path, ended, _ = rest.partition("': File exists")
    if not (found and ended):
        return ""
    return f"Wait for the git that is at work there. If none is, a killed one left its lock: delete {path}"


def converse(*words: str) -> Conversation:
    """Start a git process that is talked to, such as fast-import."""
    return Conversation(argv(*words), env=environment(), keeping=held_locks())


def _verb(words: tuple[str, ...]) -> int:
    """Where git's own options end and its command begins."""
    n = 0
    while n < len(words) - 1 and words[n].startswith("-"):
        n += 2 if words[n] in ("-C", "-c", "--git-dir", "--work-tree") else 1
    return n
