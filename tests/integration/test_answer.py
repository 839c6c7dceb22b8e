"""An answer counts when the agent has gone on, however little was seen of that."""

from pathlib import Path
from typing import Any

import pytest

from woodwind.ops import answer
from woodwind.ops.address import find_worker
from woodwind.ops.context import Context
from woodwind.ops.projects import current
from woodwind.ops.reaction import await_reaction
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import listed, rehearse, wait_until


def test_an_agent_that_asks_the_next_thing_before_anybody_looks_was_answered(
    sandbox: Sandbox, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rehearse(sandbox, repo, "write a.txt x", "commit Add a", words=("--permissions", "ask"))
    first = wait_until(sandbox, repo, "asking")["question"]
    for name, value in sandbox.env.items():
        monkeypatch.setenv(name, value)

    def asks_another() -> bool:
        question = listed(sandbox, repo)["question"]
        return bool(question) and question["id"] != first["id"]

    def late(*words: Any, **more: Any) -> bool:
        sandbox.wait_for(asks_another, what="the second question")
        return await_reaction(*words, **more)

    monkeypatch.setattr(answer, "await_reaction", late)
    ctx = Context(str(repo), sandbox.env)
    try:
        told = answer.answer(ctx, find_worker(ctx, current(ctx), "worker-one"), "allow", question=first["id"])
    finally:
        ctx.close()
    assert told["question"]["id"] == first["id"]
    assert listed(sandbox, repo)["question"]["tool"] == "commit"
