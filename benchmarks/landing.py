"""A landing beside what bare git needs for the same: a merge in a fresh worktree, and a fast-forward."""

from benchmarks.budgets import Row
from benchmarks.scene import Scene
from benchmarks.timing import Variant, race
from woodwind.testing.repo import commit, git

_WORKER = "stand-worker"


def landing(scene: Scene, rounds: int) -> Row:
    """`ww merge` of one worker, without a command that verifies, whose time is the project's own."""
    tree = scene.sandbox.home / "project.worktrees" / _WORKER
    tip = commit(tree, "Change a part", {"src/part1.py": "print('changed')\n"})
    base = git(scene.repo, "rev-parse", "main")
    fresh = str(scene.sandbox.home / "project.worktrees" / "bare")

    def bare() -> list[list[str]]:
        merge = [scene.git, "-C", fresh, "merge", "--quiet", "--no-ff", "-m", "Merge", tip]
        return [
            [scene.git, "worktree", "add", "--quiet", "-b", "bare-merge", fresh, "main"],
            merge,
            [scene.git, "merge", "--quiet", "--ff-only", "bare-merge"],
        ]

    def put_back() -> None:
        git(scene.repo, "reset", "--quiet", "--hard", base)

    def tidy_bare() -> None:
        put_back()
        git(scene.repo, "worktree", "remove", "--force", fresh)
        git(scene.repo, "branch", "--quiet", "-D", "bare-merge")

    ours = Variant(lambda: [[scene.ww, "merge", _WORKER, "--no-verify"]], put_back)
    times = race({"limit": Variant(bare, tidy_bare), "merge": ours}, rounds, cwd=str(scene.repo), env=scene.env)
    return Row("ww merge", times["merge"], "git worktree add, merge, merge --ff-only", times["limit"], 0)
