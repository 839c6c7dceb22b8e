"""Every agent is started by the real `ww new`, as a stub that writes down what it got; a snapshot tells what is right.

UPDATE_SNAPSHOTS=1 writes the snapshot again. Look at the difference before you commit it.
"""

import fcntl
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from woodwind.agents.base import Agent, Start
from woodwind.agents.registry import BUILT_IN, built_in
from woodwind.model.brief import FILE
from woodwind.model.errors import UsageError
from woodwind.testing.sandbox import Sandbox

SNAPSHOTS = Path(__file__).parents[1] / "snapshots" / "agents.json"
AGENTS = [name for name in BUILT_IN if name != "rehearsal"]
MODELS = {
    "opencode": "anthropic/sonnet",
    "pi": "anthropic/sonnet:high",
    "codex": "local/scripted:low",
    "aider": "o/m:low",
}
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
PORT = re.compile(r"--port \d+")
GIVEN = "given by the caller"
# It writes down what it got, says a word so that it counts as started, and then what was typed into its terminal.
STUB = f"""#!{sys.executable}
import json, os, sys

def write(**more):
    path = os.path.abspath(__file__) + ".json"
    names = [n for n in os.environ if os.environ[n] == {GIVEN!r} or n.startswith(("WOODWIND_", "GOOSE_", "OPENCODE_"))]
    brief = open({FILE!r}).read().splitlines()[:3]
    got = {{"argv": sys.argv, "env": {{n: os.environ[n] for n in sorted(names)}}, {FILE!r}: brief, **more}}
    with open(path + ".new", "w") as file:
        json.dump(got, file)
    os.rename(path + ".new", path)

write()
print("ready", flush=True)
write(typed=sys.stdin.readline().rstrip("\\n"))
sys.stdin.read()
"""


@pytest.fixture
def programs(sandbox: Sandbox) -> Path:
    """A folder that is the whole PATH: what Woodwind itself needs, and no agent."""
    folder = sandbox.home / "bin"
    folder.mkdir()
    for name in ("git", "tmux", "sh", "cat", "env", "tail"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    sandbox.env["PATH"] = str(folder)
    return folder


def install(programs: Path, *names: str) -> None:
    for name in names:
        stub = programs / agent_of(name).command
        stub.write_text(STUB)
        stub.chmod(0o755)


def agent_of(name: str) -> Agent:
    agent = built_in(name)
    assert agent
    return agent


def cases(agent: Agent) -> dict[str, list[str]]:
    """The calls that are compared: what the agent can do, by the words behind `ww new`."""
    first = next(iter(agent.permissions))
    found = {f"--permissions {mode}": ["--permissions", mode] for mode in agent.permissions}
    if agent.model_flag and agent.model_in_terminal:
        model = MODELS.get(agent.name, "sonnet:high" if agent.thinking else "sonnet")
        found[f"--model {model}"] = ["--permissions", first, "--model", model]
    if agent.plan_args:
        found["--plan-mode"] = ["--permissions", first, "--plan-mode"]
    return found


def launched(sandbox: Sandbox, repo: Path, programs: Path, agent: Agent, words: list[str]) -> dict[str, str]:
    """What the stub got, with all that differs between runs replaced."""
    record = programs / f"{agent.command}.json"
    record.unlink(missing_ok=True)
    given = dict.fromkeys(agent.pass_env, GIVEN)
    done = sandbox.ww("new", "Say hello", "--agent", agent.name, *words, "--json", cwd=repo, env=given, check=True)
    [worker] = done.json["data"]["workers"]
    got = sandbox.wait_for(lambda: _read(record, typed=agent.prompt == "paste"))
    assert got[FILE][:3] == ["# Task", "", "Say hello"]
    env = got["env"]
    assert env.pop("WOODWIND_WORKER") == worker["id"]
    assert all(env.pop(f"WOODWIND_{name}") for name in ("PROJECT", "SOCKET", "AUTOMATED", "PORT", "PORTS"))
    assert {name for name, value in env.items() if value == GIVEN} == set(agent.pass_env)
    spool = Path(env.pop("WOODWIND_SPOOL"))
    assert spool.is_dir()
    words = [_without_hook(word, str(spool)) for word in got["argv"]]
    argv = PORT.sub("--port <port>", UUID.sub("<session>", shlex.join(words)))
    places = {str(programs): "<bin>", str(repo): "<repo>", sys.executable: "<python>", str(spool.parent): "<worker>"}
    for path, placeholder in places.items():
        argv = argv.replace(path, placeholder)
    found = {"argv": argv}
    more = [f"{name}={_without_hook(value, str(spool))}" for name, value in env.items() if value != GIVEN]
    return found | ({"sets": " ".join(more)} if more else {}) | ({"typed": got["typed"]} if "typed" in got else {})


def _without_hook(text: str, spool: str) -> str:
    """A text in which the command that hands on events, however its quotes are written, is only named."""
    text = re.sub(r"sha256:[0-9a-f]{64}", "<hash>", text)
    return re.sub(rf"\{{ d='{re.escape(spool)}'.*?\|\|:", "<hook>", text)


def words_of(agent: Agent, start: Start) -> str:
    """The words of a start that `ww new` has no option for, or why it cannot be."""
    try:
        return shlex.join(["<bin>/" + agent.command, *agent.argv(start)[1:]])
    except UsageError as error:
        return error.message


def _read(path: Path, *, typed: bool) -> Any:
    got = json.loads(path.read_text()) if path.exists() else {}
    return got if "typed" in got or not typed else {}


def compare(name: str, found: Mapping[str, Any]) -> None:
    """Compare with the committed snapshot, or write it."""
    if not os.environ.get("UPDATE_SNAPSHOTS"):
        assert found == json.loads(SNAPSHOTS.read_text())[name], "if this is right: UPDATE_SNAPSHOTS=1"
        return
    with SNAPSHOTS.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(SNAPSHOTS.read_text()) if SNAPSHOTS.exists() else {}
        known = {agent: found if agent == name else known.get(agent, {}) for agent in AGENTS}
        SNAPSHOTS.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n")
    SNAPSHOTS.with_suffix(".lock").unlink(missing_ok=True)


@pytest.mark.parametrize("name", AGENTS)
def test_what_an_agent_gets(
    sandbox: Sandbox, repo: Path, programs: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_of(name)
    install(programs, name)
    found: dict[str, Any] = {"passed on": " ".join(sorted(agent.pass_env))}
    found |= {how: launched(sandbox, repo, programs, agent, words) for how, words in cases(agent).items()}
    monkeypatch.setenv("PATH", str(programs))
    start = Start("Go on.", "<session>", permissions=next(iter(agent.permissions)), repository="<repo>")
    found["headless"] = words_of(agent, start._replace(headless=True))
    found["resume"] = words_of(agent, start._replace(resume=True, prompt=""))
    found["resume with a message"] = words_of(agent, start._replace(resume=True))
    found["headless resume"] = words_of(agent, start._replace(resume=True, headless=True))
    compare(name, found)


def test_a_variable_that_the_caller_does_not_have_is_not_there(sandbox: Sandbox, repo: Path, programs: Path) -> None:
    install(programs, "claude")
    for given in ({"ANTHROPIC_API_KEY": GIVEN}, {}):
        (programs / "claude.json").unlink(missing_ok=True)
        sandbox.ww("new", "Say hello", "--agent", "claude", cwd=repo, env=given, check=True)
        got = sandbox.wait_for(lambda: _read(programs / "claude.json", typed=False))
        assert ("ANTHROPIC_API_KEY" in got["env"]) == bool(given)


@pytest.mark.parametrize(
    "words, code, said",
    [
        (["--agent", "amp", "--permissions", "bypass", "--model", "opus"], 2, "amp cannot be given a model"),
        (["--agent", "droid", "--model", "opus"], 2, "droid cannot be given a model in a terminal"),
        (["--agent", "claude", "--model", "openai/gpt"], 2, "claude cannot use models of openai"),
        (["--agent", "gemini", "--model", "pro:high"], 2, "gemini cannot think at the level high"),
        (["--agent", "claude", "--model", "opus:minimal"], 2, "claude cannot think at the level minimal"),
        (["--agent", "claude", "--model", "opus:hard"], 2, "'hard' is not a level of thinking"),
        (["--agent", "claude", "--model", "a b"], 2, "'a b' is not a model"),
        (["--agent", "opencode", "--model", "sonnet"], 2, "cannot find the model 'sonnet' without its provider"),
        (["--agent", "pi", "--permissions", "ask"], 2, "pi cannot run with permissions 'ask'"),
        (["--agent", "pi"], 2, "Use --permissions bypass."),
        (["--agent", "aider", "--permissions", "bypass"], 2, "aider cannot run with permissions 'bypass'"),
        (["--agent", "codex", "--plan-mode"], 2, "codex cannot plan without editing"),
        (["--agent", "nobody"], 3, "Known: aider, amp, claude, codex, droid, gemini, goose, kiro, openclaude"),
        (["--agent", "kiro"], 4, "https://kiro.dev/docs/cli"),
        (["--no-agent", "--model", "opus"], 2, "--no-agent contradicts"),
    ],
)
def test_bad_input(sandbox: Sandbox, repo: Path, programs: Path, words: list[str], code: int, said: str) -> None:
    install(programs, *(name for name in AGENTS if name != "kiro"))
    done = sandbox.ww("new", "x", *words, cwd=repo)
    assert (done.code, said in done.stderr) == (code, True), done
    assert sandbox.ww("ls", "--json", cwd=repo, check=True).json["data"] == []
    assert not (repo.parent / "project.worktrees").exists()


def test_two_agents_and_none_chosen(sandbox: Sandbox, repo: Path, programs: Path) -> None:
    (repo / "woodwind.toml").unlink()
    nothing = sandbox.ww("new", "x", cwd=repo)
    assert nothing.code == 4
    assert "no agent is installed" in nothing.stderr
    install(programs, "codex", "claude")
    done = sandbox.ww("new", "x", cwd=repo)
    assert done.code == 2
    assert "several agents are installed (claude, codex) and none was chosen" in done.stderr
    assert "--agent claude" in done.stderr


def test_who_says_which_agent(sandbox: Sandbox, repo: Path, programs: Path) -> None:
    project, user = repo / "woodwind.toml", sandbox.home / ".config" / "woodwind" / "config.toml"
    install(programs, "claude", "codex", "gemini", "goose")
    user.parent.mkdir(parents=True)

    def chosen(*words: str) -> str:
        done = sandbox.ww("new", "x", *words, "--json", cwd=repo, check=True)
        return str(done.json["data"]["workers"][0]["agent"])

    project.write_text('[new]\nagent = "codex"\n')
    user.write_text('[new]\nagent = "gemini"\n')
    assert chosen("--agent", "goose") == "goose"
    assert chosen() == "codex"
    project.unlink()
    assert chosen() == "gemini"
    user.unlink()
    for name in ("codex", "gemini", "goose"):
        (programs / name).unlink()
    assert chosen() == "claude"


def test_a_project_cannot_grant_permissions(sandbox: Sandbox, repo: Path, programs: Path) -> None:
    install(programs, "claude")
    setting = '[agents.claude]\npermissions = "bypass"\n'
    (repo / "woodwind.toml").write_text(setting)
    done = sandbox.ww("new", "x", "--agent", "claude", cwd=repo)
    assert done.code == 2
    assert "a project cannot set agents.claude.permissions" in done.stderr
    (repo / "woodwind.toml").unlink()
    user = sandbox.home / ".config" / "woodwind" / "config.toml"
    user.parent.mkdir(parents=True, exist_ok=True)
    user.write_text(setting)
    sandbox.ww("new", "x", "--agent", "claude", cwd=repo, check=True)
    got = sandbox.wait_for(lambda: _read(programs / "claude.json", typed=False))
    assert "bypassPermissions" in got["argv"]


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_the_real_agent_is_the_version_that_was_checked(sandbox: Sandbox, name: str) -> None:
    agent = agent_of(name)
    if not agent.program():
        pytest.skip(f"{name} is not on PATH: nothing says that its adapter still fits (checked: {agent.checked})")
    told = sandbox.run(agent.program(), "--version", check=True).stdout
    assert agent.checked in told.split(), f"check the adapter with {told.strip()}, then change `checked`"
