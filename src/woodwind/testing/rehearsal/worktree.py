"""The actions on files and commits, kept inside the worktree that the agent was started in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from woodwind.testing.rehearsal.script import Action

BRIEF = ".woodwind/brief.md"
# Runs a command and gives its exit status and output.
Capture = Callable[[Sequence[str]], tuple[int | None, str]]


class ActionError(Exception):
    """An action that could not be done; the message says what was wanted and what was found."""


def top(start: Path) -> Path:
    """The worktree's top folder: the nearest one upward that has `.git`, or the start itself."""
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
    return start


def brief(start: Path) -> str | None:
    """The content of the brief that is nearest upward within the worktree, or None."""
    last = top(start)
    for folder in (start, *start.parents):
        path = folder / BRIEF
        if path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
        if folder == last:
            break
    return None


def inside(path: str) -> Path:
    """The path as a real one inside the worktree; refused if it leads out of it or into git's own folder."""
    root = top(Path.cwd()).resolve()
    # The last part stays as it is: deleting a link deletes the link, and only writing follows it.
    wanted = Path.cwd() / path
    found = wanted.parent.resolve() / wanted.name
    for place in (found, found.resolve()):
        if not place.is_relative_to(root) or place == root or wanted.name in ("", "..", "."):
            raise ActionError(f"refused: {path} is outside of the worktree {root}")
        if ".git" in place.relative_to(root).parts:
            raise ActionError(f"refused: {path} is in git's own folder")
    return found


def edit(action: Action) -> str:
    """Does one of write, append, delete and replace; says what was done."""
    path = inside(action.path)
    if action.verb == "delete":
        path.unlink()
        return f"deleted {action.path}"
    if action.verb == "replace":
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read()
        if action.text not in text:
            raise ActionError(f"{action.path} does not contain {action.text!r}")
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(text.replace(action.text, action.new, 1))
        return f"changed {action.path}"
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = "a" if action.verb == "append" else "w"
    with path.open(mode, encoding="utf-8", newline="") as file:
        file.write(action.text)
    return f"{'added to' if mode == 'a' else 'wrote'} {action.path}"


def commit(message: str, capture: Capture) -> str:
    """Commits everything in the worktree; says the new commit's short id."""
    identity: list[str] = []
    for key, value in (("user.name", "Rehearsal"), ("user.email", "rehearsal@example.invalid")):
        if capture(["git", "config", key])[0] != 0:
            identity += ["-c", f"{key}={value}"]
    for argv in (["add", "-A"], ["commit", "--quiet", f"--message={message}"]):
        status, output = capture(["git", *identity, *argv])
        if status != 0:
            raise ActionError(f"git {argv[0]} failed: {output.strip() or f'exit status {status}'}")
    status, output = capture(["git", "rev-parse", "--short", "HEAD"])
    if status != 0:
        raise ActionError(f"git cannot name the new commit: {output.strip()}")
    return f"committed {output.strip()}: {message}"
