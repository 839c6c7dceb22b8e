"""A person at the terminal may overrule the critic, and then counting begins anew."""

from pathlib import Path

import pytest

from woodwind.model.errors import NeedsPerson, Refused
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.critic import judge
from woodwind.ops.projects import current
from woodwind.store import denials
from woodwind.testing.repo import commit
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import new_worker


def test_a_person_is_asked_and_may_overrule(sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = new_worker(sandbox, repo)
    commit(tree, "Marked", {"app.py": "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> other\n"})
    for name, value in sandbox.env.items():
        monkeypatch.setenv(name, value)
    asked: list[str] = []

    def context(answer: bool | None) -> Context:
        def confirm(question: str) -> bool:
            asked.append(question)
            return bool(answer)

        return Context(
            str(repo), sandbox.env, person=answer is not None, confirm=confirm if answer is not None else None
        )

    def judged(answer: bool | None) -> tuple[int, int]:
        ctx = context(answer)
        try:
            project = current(ctx)
            worker = find_worker(ctx, project, "worker-one")
            try:
                judge(ctx, worker, "merge")
            finally:
                counts = denials.count(ctx.store, project, worker.id)
            return counts
        finally:
            ctx.close()

    for _ in range(2):
        with pytest.raises(Refused):
            judged(None)
    with pytest.raises(NeedsPerson):
        judged(None)
    with pytest.raises(Refused):  # a person who says no is refused, and not sent for a person
        judged(False)
    assert "a conflict marker" in asked[-1]
    assert judged(True) == (0, 0)
    with pytest.raises(Refused):
        judged(None)
