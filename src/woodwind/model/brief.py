"""The brief: the agent's first instructions, as one Markdown file in its worktree."""

from woodwind.model.text import clean

FOLDER = ".woodwind"
FILE = ".woodwind/brief.md"
POINTER = f"Read {FILE} and do the task that it describes."
GO_ON = f"Go on with the task in {FILE}."


def brief(*, task: str, branch: str, base_branch: str) -> str:
    """The text of the brief for a task that the user typed."""
    return (
        f"# Task\n\n{clean(task).strip()}\n\n"
        "# Where you are\n\n"
        f"You are in a git worktree of your own, on the branch `{branch}`, cut from `{base_branch}`. "
        "Other agents work in other worktrees of the same repository at the same time: stay in this folder, "
        "and leave other branches alone.\n\n"
        "# What to deliver\n\n"
        f"Commit your work to `{branch}` in small, well-described steps. Do not push and do not merge: "
        "your branch is landed from outside, after it was tested.\n"
    )
