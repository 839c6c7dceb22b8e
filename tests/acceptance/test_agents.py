"""`ww agents`, and an agent that comes with a package."""

import os
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from woodwind.agents.registry import BUILT_IN
from woodwind.testing.sandbox import Sandbox

PLUGIN = Path(__file__).parents[1] / "plugins" / "woodwind-echo-agent"


@pytest.fixture
def plugin(sandbox: Sandbox) -> Path:
    """The folder into which the example package is installed, as an installer would write it."""
    folder = sandbox.home / "site"
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"{name} = {place}" for name, place in project["entry-points"]["woodwind.agents"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[woodwind.agents]", *lines]) + "\n")
    for module in PLUGIN.glob("*.py"):
        shutil.copy(module, folder)
    sandbox.env["PYTHONPATH"] += os.pathsep + str(folder)
    return folder


def stub(sandbox: Sandbox, name: str) -> Path:
    path = sandbox.home / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch '{sandbox.home}/started'\nexec cat\n")
    path.chmod(0o755)
    sandbox.env["PATH"] = os.pathsep.join([str(path.parent), sandbox.env["PATH"]])
    return path


def test_all_agents_without_starting_any(sandbox: Sandbox, repo: Path) -> None:
    codex = stub(sandbox, "codex")
    done = sandbox.ww("agents", "--json", cwd=repo, check=True)
    assert done.stderr == ""
    agents = {agent["name"]: agent for agent in done.json["data"]}
    assert {*agents} == {*BUILT_IN, "toy"}
    assert (agents["codex"]["installed"], agents["codex"]["path"]) == (True, str(codex))
    assert agents["codex"]["checked"] == "0.166.0"
    assert agents["codex"]["cannot_commit_with"] == ["ask", "auto"]
    assert agents["pi"]["permissions"] == ["bypass"]
    assert agents["goose"]["checked"] == ""
    assert (agents["amp"]["model"], agents["claude"]["model"]) == (False, True)
    assert (agents["toy"]["origin"], agents["toy"]["headless"], agents["toy"]["resume"]) == (
        "configuration",
        False,
        False,
    )
    shown = sandbox.ww("agents", cwd=repo, check=True).stdout
    [line] = [line for line in shown.splitlines() if line.startswith("codex ")]
    assert line.split() == ["codex", "built-in", "0.166.0", "ask", "auto", "bypass", "yes", "yes", "yes", str(codex)]
    assert "goose       built-in       not checked" in shown
    assert not (sandbox.home / "started").exists()


def test_one_agent(sandbox: Sandbox, repo: Path) -> None:
    with (repo / "woodwind.toml").open("a") as file:
        file.write('[agents.kiro]\ncommand = "kiro-of-mine"\ninstall = "Ask the one in the next room."\n')
    shown = sandbox.ww("agents", "kiro", cwd=repo, check=True).stdout
    assert "built-in, changed in the configuration" in shown
    assert "no: there is no program 'kiro-of-mine' on PATH" in shown
    assert "Ask the one in the next room." in shown
    assert "not checked" in shown
    assert sandbox.ww("agents", "codex", "--json", cwd=repo, check=True).json["data"]["name"] == "codex"
    unknown = sandbox.ww("agents", "nobody", cwd=repo)
    assert (unknown.code, "there is no agent 'nobody'" in unknown.stderr) == (3, True)


def test_outside_of_a_repository(sandbox: Sandbox) -> None:
    assert "claude" in sandbox.ww("agents", cwd=sandbox.home, check=True).stdout


def test_an_agent_from_a_package(sandbox: Sandbox, repo: Path, plugin: Path) -> None:
    agents = {agent["name"]: agent for agent in sandbox.ww("agents", "--json", cwd=repo, check=True).json["data"]}
    assert (agents["echo"]["origin"], agents["echo"]["package"]) == ("package", "woodwind-echo-agent")
    done = sandbox.ww("new", "Say hello", "--agent", "echo", "--json", cwd=repo, check=True)
    name = done.json["data"]["workers"][0]["name"]
    sandbox.wait_for(
        lambda: "echo was told: Read .woodwind/brief.md" in sandbox.ww("log", name, cwd=repo, check=True).stdout
    )
    sandbox.ww("send", name, "and again", cwd=repo, check=True)
    sandbox.wait_for(lambda: "and again" in sandbox.ww("log", name, cwd=repo, check=True).stdout)


def test_a_broken_package_is_a_note(sandbox: Sandbox, repo: Path, plugin: Path) -> None:
    (plugin / "woodwind_echo_agent.py").write_text("raise ImportError('half of it is missing')\n")
    done = sandbox.ww("agents", cwd=repo, check=True)
    assert "claude" in done.stdout
    assert "the agent echo of the package woodwind-echo-agent cannot be used" in done.stderr
    assert "half of it is missing" in done.stderr
    assert "Traceback" not in done.stderr
    started = sandbox.ww("new", "x", "--agent", "echo", cwd=repo)
    assert started.code == 1
    assert "Update woodwind-echo-agent or remove it." in started.stderr
    sandbox.ww("new", "x", "--agent", "toy", cwd=repo, check=True)


def test_a_built_in_agent_is_found_without_a_search_for_packages(sandbox: Sandbox, repo: Path) -> None:
    code = (
        "import sys; from woodwind.agents import registry; registry.find('codex', {}).name;"
        "sys.exit('importlib.metadata' in sys.modules)"
    )
    sandbox.run(sys.executable, "-c", code, cwd=repo, check=True)
