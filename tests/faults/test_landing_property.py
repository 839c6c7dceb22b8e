"""Random histories and dirty states: whatever is landed or undone, nothing is lost, and what it says is true."""

import os
import random
from pathlib import Path

import pytest

from woodwind.testing.evidence import leftovers, manifest
from woodwind.testing.repo import GitError, commit, git, make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker

LONG = os.environ.get("WOODWIND_FAULTS") == "long"
STEPS = 500 if LONG else 24
SEEDS = [7, 8, 9, 10] if LONG else [7]
FILES = [f"{letter}.txt" for letter in "abcdefghijkl"]
WORKERS = ("one", "two", "three")
# Red where two texts meet that are fine alone; what was green is written down by its tree.
VERIFY = "git rev-parse 'HEAD^{tree}' >> ~/looked-at; ! grep -qs EVIL a.txt || ! grep -qs EVIL b.txt"


class World:
    """A repository with three workers, and a person who edits in its checkout."""

    def __init__(self, box: Sandbox, chance: random.Random) -> None:
        self.box, self.chance = box, chance
        self.repo = make_repo(box.home / "project", files={name: f"{name}\n" * 30 for name in FILES})
        (self.repo / ".git" / "info" / "exclude").write_text("woodwind.toml\n*.secret\n")
        toy = '[new]\nagent = "toy"\n[agents.toy]\ncommand = "cat"\nprompt = "none"\n'
        (self.repo / "woodwind.toml").write_text(f"{toy}[verify]\ncommand = '''{VERIFY}'''\n")
        self.trees = {name: new_worker(box, self.repo, name) for name in WORKERS}
        self.green = {git(self.repo, "rev-parse", "main^{tree}")}

    def edit(self, folder: Path) -> None:
        """Change, add or delete something."""
        name = self.chance.choice([*FILES, "new.txt", "dir/deep.txt", "key.secret"])
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if path.exists() and self.chance.random() < 0.2:
            path.unlink()
            return
        lines = path.read_text().splitlines() if path.exists() else [""] * 30
        lines[self.chance.randrange(len(lines))] = self.chance.choice(["EVIL", str(self.chance.random())])
        path.write_text("\n".join(lines) + "\n")

    def person(self) -> None:
        """What the person has in the checkout: edited, staged, untracked and ignored files; now and then a commit."""
        for _ in range(self.chance.randrange(3)):
            self.edit(self.repo)
        if self.chance.random() < 0.3:
            git(self.repo, "add", "--all")
        if self.chance.random() < 0.3:
            commit(self.repo, "By a person")
            self.green.add(git(self.repo, "rev-parse", "main^{tree}"))
        elif self.chance.random() < 0.3:
            git(self.repo, "reset", "--quiet", "--hard")
            git(self.repo, "clean", "-fdxq", "-e", "woodwind.toml")

    def agent(self, name: str) -> None:
        """What an agent does: edits, mostly commits them, and now and then takes in what is new."""
        tree = self.trees[name]
        for _ in range(self.chance.randrange(1, 3)):
            self.edit(tree)
        if self.chance.random() < 0.8:
            commit(tree, f"By {name}")
            if self.chance.random() < 0.4:
                try:
                    git(tree, "merge", "--quiet", "-X", "ours", "-m", "What is new", "main")
                except GitError:
                    git(tree, "reset", "--quiet", "--hard")

    def look(self) -> dict[str, object]:
        """All that nobody may lose: dirty files of the checkout, the workers' files and branches."""
        dirty = git(self.repo, "status", "--porcelain", "-z", "--untracked-files=all", "--ignored", "--no-renames")
        paths = [entry[3:] for entry in dirty.split("\0") if entry and "woodwind.toml" not in entry]
        # A file that is only missing has nothing to lose: git makes it again where a landing changes it.
        files = {p: (self.repo / p).read_bytes() for p in paths if (self.repo / p).is_file()}
        staged = git(self.repo, "diff", "--cached", "--binary", "--no-renames", "--diff-filter=d")
        gone = git(self.repo, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=D").split()
        trees = {name: {k: v for k, v in manifest(tree).items() if k != b".git"} for name, tree in self.trees.items()}
        return {"files": files, "staged": staged, "deleted": gone, "trees": trees}


@pytest.mark.timeout(14400 if LONG else 240)
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost_and_what_it_says_is_true(sandbox: Sandbox, seed: int) -> None:
    chance = random.Random(seed)
    world = World(sandbox, chance)
    moved = 0
    for step in range(STEPS):
        world.person()
        name = chance.choice(WORKERS)
        world.agent(name)
        tips = {n: git(tree, "rev-parse", "HEAD") for n, tree in world.trees.items()}
        before, main = world.look(), git(world.repo, "rev-parse", "main")
        deleted = git(world.repo, "diff", "--cached", "--name-only", "--no-renames", "--diff-filter=D").split()
        words = chance.choice([("merge", name), ("merge", name, "--squash"), ("merge", name, "--rebase"), ("undo",)])
        done = sandbox.ww(*words, cwd=world.repo)
        now = git(world.repo, "rev-parse", "main")
        told = f"step {step}: {done}"
        assert done.code in (0, 1, 3, 6), told
        assert "Traceback" not in done.stderr, told
        assert (now != main) == (done.code == 0), told
        # The checkout has not lost a byte of what was not committed, and neither has a worker.
        # A deletion that was staged is done where what landed deletes that file too.
        before["deleted"] = [p for p in deleted if git(world.repo, "ls-tree", now, p)]
        assert world.look() == before, told
        for n, tip in tips.items():
            assert git(world.trees[n], "rev-parse", "HEAD") == tip, told
        looked_at = (
            set((sandbox.home / "looked-at").read_text().split()) if (sandbox.home / "looked-at").exists() else set()
        )
        tree = git(world.repo, "rev-parse", f"{now}^{{tree}}")
        if done.code == 0:
            assert tree in looked_at | world.green, told
            world.green.add(tree)
            moved += 1
            evil = [n for n in ("a.txt", "b.txt") if "EVIL" in show(world.repo, f"{now}:{n}")]
            assert words[0] == "undo" or len(evil) < 2, told
        assert leftovers(sandbox, world.repo) == [], told
        if "conflicts with" in done.stderr and chance.random() < 0.7:  # its agent starts over
            git(world.trees[name], "reset", "--quiet", "--hard", "main")
    assert moved >= STEPS // 12
    assert git(world.repo, "fsck", "--no-dangling", "--no-progress") == ""


def show(repo: Path, what: str) -> str:
    listed = git(repo, "ls-tree", *what.split(":"))
    return git(repo, "show", what) if listed else ""
