"""What agents may do without asking: who decides, who is asked, and where it is shown."""

import sys
from pathlib import Path

import pytest

from woodwind.testing.evidence import rows
from woodwind.testing.repo import make_repo
from woodwind.testing.sandbox import Sandbox
from woodwind.testing.workers import listed, names, rehearse

WW = (sys.executable, "-m", "woodwind")
NEW = ("new", "Work", "--agent", "rehearsal", "--name")


def allowed(box: Sandbox, repo: Path, name: str, *words: str) -> str:
    """The permissions that a new worker got."""
    box.ww(*NEW, name, *words, cwd=repo, check=True)
    return str(listed(box, repo, name)["permissions"])


def user_config(box: Sandbox, text: str) -> None:
    file = Path(box.env["XDG_CONFIG_HOME"], "woodwind", "config.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def answer(box: Sandbox, repo: Path, *words: str, type: str = "", press: str = "") -> tuple[int, str]:
    """How a command on a terminal ended that was answered this at its question, and what it showed."""
    pane = box.run_in_pane(*WW, *words, server="terminal", cwd=repo, env={"TMUX": ""}, until_shown=True)
    if type or press:
        asks = "What may agents do in this project without asking you?"
        box.wait_for(lambda: asks in box.screen(pane, server="terminal"), what="the question")
        if type:
            box.type_in(pane, type, server="terminal")
        else:
            box.press(pane, press, server="terminal")
    return box.exit_status(pane, server="terminal"), box.screen(pane, server="terminal", history=True)


def test_flag_before_user_before_project_before_ask(sandbox: Sandbox, repo: Path) -> None:
    assert allowed(sandbox, repo, "one") == "ask"  # without a terminal nobody is asked, and the safe answer holds
    assert rows(sandbox, "SELECT permissions FROM project") == [("",)]
    code, screen = answer(sandbox, repo, *NEW, "two", type="2")
    assert code == 0, screen
    assert listed(sandbox, repo, "two")["permissions"] == "auto"
    assert allowed(sandbox, repo, "three") == "auto"
    user_config(sandbox, '[agents.rehearsal]\npermissions = "bypass"\n')
    assert allowed(sandbox, repo, "four") == "bypass"
    assert allowed(sandbox, repo, "five", "--permissions", "ask") == "ask"
    assert rows(sandbox, "SELECT permissions FROM project") == [("auto",)]
    assert sandbox.ww(*NEW, "six", "--permissions", "all", cwd=repo).code == 2
    shown = sandbox.ww("ls", cwd=repo, check=True).stdout.splitlines()
    agents = {line.split()[0]: line for line in shown[1:]}
    assert "rehearsal (auto)" in agents["two"]
    assert "rehearsal (bypass)" in agents["four"]
    assert "(ask)" not in agents["five"]


def test_a_person_is_asked_once_per_project(sandbox: Sandbox, repo: Path) -> None:
    code, screen = answer(sandbox, repo, *NEW, "one", type="7\n\n2")
    assert code == 0, screen
    for n, word in enumerate(("ask", "auto", "bypass"), 1):
        assert f"{n}. {word}" in screen
    assert listed(sandbox, repo, "one")["permissions"] == "auto"
    code, screen = answer(sandbox, repo, *NEW, "two")
    assert (code, "What may agents do" in screen) == (0, False)
    assert listed(sandbox, repo, "two")["permissions"] == "auto"
    other = make_repo(sandbox.home / "other")
    code, screen = answer(sandbox, other, *NEW, "one", type="1")
    assert code == 0, screen
    assert listed(sandbox, other, "one")["permissions"] == "ask"
    # Said before, not asked: by a flag, by the user's configuration, or with --yes.
    third = make_repo(sandbox.home / "third")
    assert answer(sandbox, third, *NEW, "one", "--permissions", "auto")[0] == 0
    assert answer(sandbox, third, *NEW, "two", "--yes")[0] == 0
    assert listed(sandbox, third, "two")["permissions"] == "ask"
    user_config(sandbox, '[agents.rehearsal]\npermissions = "bypass"\n')
    assert answer(sandbox, third, *NEW, "three")[0] == 0
    assert [row[0] for row in rows(sandbox, "SELECT permissions FROM project ORDER BY name")] == ["ask", "auto", ""]


@pytest.mark.parametrize("key", ["C-c", "C-d"])
def test_a_question_that_is_not_answered_leaves_nothing(sandbox: Sandbox, repo: Path, key: str) -> None:
    code, screen = answer(sandbox, repo, *NEW, "one", press=key)
    assert code == 130, screen
    assert "interrupted" in screen
    assert names(sandbox, repo) == []
    assert rows(sandbox, "SELECT permissions FROM project") == [("",)]
    assert answer(sandbox, repo, *NEW, "one", type="1")[0] == 0


def test_they_reach_the_agent(sandbox: Sandbox, repo: Path) -> None:
    """With `ask` the rehearsal agent asks before an edit; with `auto` it does not."""
    asking = rehearse(sandbox, repo, "write file.txt text", name="one")
    free = rehearse(sandbox, repo, "write file.txt text", name="two", words=("--permissions", "auto"))
    sandbox.wait_for((Path(free["path"]) / "file.txt").exists, what="the file of the free one")
    sandbox.wait_for(lambda: listed(sandbox, repo, "one")["status"] == "asking", what="the question")
    assert not (Path(asking["path"]) / "file.txt").exists()


def test_an_answer_that_an_agent_cannot_follow(sandbox: Sandbox, repo: Path) -> None:
    """What was answered for the project may be more than another agent can be told: then it is less, and said."""
    assert answer(sandbox, repo, *NEW, "one", type="2")[0] == 0
    done = sandbox.ww("new", "Work", "--agent", "toy", "--name", "two", cwd=repo, check=True)
    assert listed(sandbox, repo, "two")["permissions"] == "ask"
    assert "toy cannot run with permissions auto" in done.stderr
    refused = sandbox.ww("new", "Work", "--agent", "toy", "--name", "three", "--permissions", "auto", cwd=repo)
    assert refused.code == 2
    assert names(sandbox, repo) == ["one", "two"]


def test_a_project_cannot_set_them(sandbox: Sandbox, repo: Path) -> None:
    (repo / "woodwind.toml").write_text('[agents.rehearsal]\npermissions = "bypass"\n')
    refused = sandbox.ww(*NEW, "one", "--json", cwd=repo)
    assert refused.code == 2
    assert "agents.rehearsal.permissions" in refused.json["error"]["message"]
    assert "config.toml" in refused.json["error"]["hint"]
    assert names(sandbox, repo) == []
