"""What a run says to agents: sections of a brief, what failed, reminders; and the sign that nothing was to do."""

from collections.abc import Sequence

from woodwind.model.brief import FILE, fence
from woodwind.model.run import Task
from woodwind.model.text import clean, one_line

NOTHING = "NOTHING TO DO"
DECIDE = "Nobody is here to answer. Decide for yourself, go on, and say in your last message what you decided."
_MOST_OUTPUT = 6000


def says_nothing(words: str) -> bool:
    """Whether an agent's last words have the line that says there was nothing to do."""
    return any(line.strip(" \t*_`.!#>-").upper() == NOTHING for line in clean(words).splitlines())


def sections(goal: str, *, tracked: bool = False) -> list[tuple[str, str]]:
    """The sections that a task's brief gets because it is part of a run."""
    text = (
        "Nobody watches while you work: decide for yourself what the task leaves open, and say in your last message "
        "what you decided. End your turn only when the task is done and committed. "
        f"If there is nothing to change, make no commit, and let your last message have a line `{NOTHING}`."
    )
    if tracked:
        text = (
            "Nobody watches while you work: decide for yourself what the ticket leaves open. When it is done and "
            "committed, close the ticket in its tracker, and end your turn. "
            "It counts as done only when the tracker says so."
        )
    found = [("Part of a run", text)]
    if goal.strip():
        found.insert(0, ("The goal of the whole run", goal))
    return found


def mark(run: str, task: Task) -> str:
    """The first words of a message, by which it is found again if nobody wrote down that it was sent."""
    return f"[{run} {task.id} {task.delivery}]"


def message(run: str, task: Task, *, target: str, brief: str = "") -> str:
    """What an agent is told that goes on with a task: what failed, a reminder, a person's words, or just to go on."""
    if task.tell == "retry":
        text = _failed(task, target)
    elif task.tell == "remind":
        text = (
            "The tracker says that the ticket is still open. If it is done, commit and close it there. "
            "If not, finish it first. If you cannot, say why in your last message."
        )
    elif task.tell in ("", "go_on"):
        text = brief or f"Go on with the task in {FILE} where you left off, and finish it."
    else:
        text = task.tell
    return f"{mark(run, task)} {text}"


def _failed(task: Task, target: str) -> str:
    text = f"The task is not done yet: {clean(task.why).strip()}."
    if "conflict" in task.why:
        text += f" Merge `{target}` into your branch, settle the conflicts, run the checks and commit."
    elif "without a commit" in task.why:
        text += f" Do it and commit. If there is truly nothing to do, say so: a line `{NOTHING}` in your last message."
    else:
        text += " Find out why, mend it, run the checks yourself, and commit."
    if task.output.strip():
        shown = clean(task.output).strip()[-_MOST_OUTPUT:]
        text += f"\n\nWhat was seen:\n\n{(sign := fence(shown))}text\n{shown}\n{sign}"
    return text


def parent_summary(task: str, title: str, *, commits: Sequence[str], files: Sequence[str], words: str) -> str:
    """What a task's children are told of it."""
    lines = [f"{task}: {one_line(title)}"]
    if commits:
        lines += ["Commits:", *(f"- {one_line(subject)}" for subject in commits[:20])]
    if files:
        more = f" and {len(files) - 40} more" if len(files) > 40 else ""
        lines.append(f"Files: {', '.join(one_line(name) for name in files[:40])}{more}")
    if words.strip():
        lines += ["Its last words:", clean(words).strip()[:3000]]
    return "\n".join(lines)
