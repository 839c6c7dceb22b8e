"""The story in docs/story.md, told by the real program: UPDATE_SNAPSHOTS=1 writes the document again."""

import os
import re
from pathlib import Path

from woodwind.testing.daemons import ON
from woodwind.testing.desk import Desk
from woodwind.testing.repo import git, sample_project
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import names, rehearse

KEPT = Path(__file__).parents[2] / "docs" / "story.md"
SIZE = (112, 18)
OWN_SETTINGS = """\
[new]
agent = "rehearsal"
[agents.rehearsal]
permissions = "auto"
[control]
preview = false
"""
TASK = [
    "Translate the greetings",
    "rehearse: ask Translate them to French first?",
    "rehearse: write docs/translation.md First: {answer}",
    "rehearse: commit Note the order of translations",
]
HEAD = """\
# A story

An afternoon with the control plane, as the program painted it: a worker is started, its question answered, a collision
seen before it hurts, the queue shipped, and one of its landings taken back. The agents are the built-in
[rehearsal agent](glossary.md), which plays the lines that begin with `rehearse:`. A test,
`tests/acceptance/test_control_story.py`, tells this story with the real program in a real terminal, and wrote it down.
"""


class Story:
    """Frames with their captions. What differs from one telling to the next is made the same."""

    def __init__(self) -> None:
        self.chapters: list[str] = []

    def frame(self, caption: str, text: str) -> None:
        """Add a picture."""
        lines = [re.sub(r"▌.*", "", line).rstrip() for line in text.rstrip().splitlines()]  # without passing remarks
        picture = "\n".join(lines)
        picture = re.sub(r"(?<=\s)\d+[mhd]  +", lambda age: "now".ljust(len(age[0])), picture)
        picture = re.sub(r"\b[0-9a-f]{7,40} → [0-9a-f]{7,40}\b", "1f2e3d4c5b → 6a7b8c9d0e", picture)
        self.chapters.append(f"{caption}\n\n```text\n{picture}\n```\n")

    @property
    def text(self) -> str:
        """The whole document."""
        return "\n".join([HEAD, *self.chapters])


def test_the_story(sandbox: Sandbox) -> None:
    repo = sample_project(sandbox.home / "chimes")
    (repo / "woodwind.toml").write_text('[verify]\ncommand = "python3 -m unittest -q"\n')
    (repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n")
    own = Path(sandbox.env["XDG_CONFIG_HOME"], "woodwind", "config.toml")
    own.parent.mkdir(parents=True)
    own.write_text(OWN_SETTINGS)
    story = Story()
    before = git(repo, "rev-parse", "main")

    desk = Desk(sandbox, repo, size=SIZE)
    desk.shows("no workers: n starts one")
    desk.press("n")
    desk.shows("A new worker.")
    for line in TASK:
        desk.type(line)
        desk.press("Enter")
    shown = desk.shows("Note the order of translations", "Start (Ctrl-S)")
    story.frame("`ww` in a project without workers, and `n` for a new one.", shown)
    desk.press("C-s")
    desk.shows("NEEDS YOU 1", "Translate them to French first?")
    change = "replace chimes/greet.py name.lower() =>"
    rehearse(sandbox, repo, f"{change} name", "commit Keep the capital letter", name="fix-greetings", env=ON)
    rehearse(sandbox, repo, f"{change} name.upper()", "commit Shout", name="shout", env=ON)
    rehearse(sandbox, repo, "think 3600", name="count-bells", env=ON)
    shown = desk.shows(
        *("NEEDS YOU 1", "Translate them to French first?", "READY TO SHIP 2", "collides with shout"),
        *("IN FLIGHT 1", "count-bells"),
    )
    story.frame(
        "Three more were started. The first asks; two are ready, and would collide: seen before anything lands.", shown
    )
    desk.select("translate-greetings")
    desk.press("y")
    desk.shows("translate-greetings asks:")
    desk.type("Yes, French, then Italian.")
    story.frame("`y` answers.", desk.shows("Yes, French, then Italian."))
    desk.press("C-s")
    story.frame("It went on, and is ready, too.", desk.shows("READY TO SHIP 3", without="NEEDS YOU"))

    done = sandbox.ww("queue", "--ship", "--yes", cwd=repo, timeout=120)
    assert done.code == 6, done  # two landed, one needs a person
    story.frame("All of them at once, in a shell beside it: `ww queue --ship --yes`.", done.stdout)
    shown = desk.shows("NEEDS YOU 1", "fix", "BACKGROUND 2", "landed in main", without="READY TO SHIP")
    story.frame("Two landed, merged and verified together. The collision fell out, and says why.", shown)
    assert (repo / "docs" / "translation.md").exists()

    landed = git(repo, "rev-parse", "main")
    desk.select("translate-greetings landed")
    desk.press("z")
    story.frame("`z` takes a landing back. What lands or destroys asks first.", desk.shows("Take this back"))
    desk.press("y")
    shown = desk.shows("the landing of translate-greetings in main was", "READY TO SHIP 1")
    story.frame("The worker is back with all of its work, and `main` is without it.", shown)
    assert not (repo / "docs" / "translation.md").exists()
    assert git(repo, "rev-parse", "main") not in (before, landed)
    assert "translate-greetings" in names(sandbox, repo)

    if os.environ.get("UPDATE_SNAPSHOTS"):
        KEPT.write_text(story.text, encoding="utf-8")
    kept, told = KEPT.read_text(encoding="utf-8"), story.text
    assert _essence(kept) == _essence(told)


def _essence(document: str) -> list[str]:
    """Captions, heads and the beginnings of rows: what does not hang on who was faster."""
    marks = tuple("!✓●")
    found = [line for line in document.splitlines() if line.startswith(("`", "Three", "It went", "Two", "The worker"))]
    rows = {line[4:].split("  ")[0] for line in document.splitlines() if line[2:3] in marks and line[3:4] == " "}
    return [*found, *sorted(rows)]
