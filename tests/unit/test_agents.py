"""Adapters: what each says about itself, what the configuration changes, and what packages bring."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from woodwind.agents import packages, registry
from woodwind.agents.base import Agent, Start
from woodwind.config.schema import Agent as Settings
from woodwind.model.choice import PERMISSIONS, THINKING, ModelChoice
from woodwind.model.errors import ConfigError, NotFound, UsageError, WoodwindError
from woodwind.model.status import Status

NAMES = "claude codex opencode pi gemini droid aider amp goose kiro openclaude".split()


def agent_of(name: str) -> Agent:
    agent = registry.built_in(name)
    assert agent
    return agent


def settings(**keys: Any) -> Settings:
    made = Settings()
    for name, value in keys.items():
        assert hasattr(made, name)
        setattr(made, name, value)
    return made


@pytest.fixture(autouse=True)
def no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """What happens to be installed beside the tests must not change them."""
    monkeypatch.setattr(packages, "entries", list)


def test_all_are_there() -> None:
    assert {*registry.BUILT_IN} == {*NAMES, "rehearsal"}


@pytest.mark.parametrize("name", registry.BUILT_IN)
def test_an_adapter_is_complete(name: str) -> None:
    agent = agent_of(name)
    assert agent.name == name
    assert agent.command
    assert agent.install or name == "rehearsal"
    assert agent.prompt in ("argument", "flag", "paste", "none")
    assert bool(agent.prompt_flag) == (agent.prompt == "flag")
    assert agent.permissions
    assert set(agent.permissions) <= set(PERMISSIONS)
    assert set(agent.commits) <= set(agent.permissions)
    assert set(agent.thinking) <= set(THINKING)
    assert not agent.thinking or agent.model_flag, "a level of thinking comes with a model"
    assert len(set(agent.pass_env)) == len(agent.pass_env)
    assert all(place.startswith("~/") for place in agent.paths), "a place outside of home is on PATH, or differs"
    assert not any(word.isupper() and "KEY" in word for word in agent.args), "no secrets in the argv"


@pytest.mark.parametrize(
    "name, title, status",
    [
        ("claude", "◐ Adding a greeting", Status.WORKING),
        ("claude", "◑ Adding a greeting", Status.WORKING),
        ("claude", "✳ Adding a greeting", None),
        ("codex", "⠧ project", Status.WORKING),
        ("codex", "[ . ] Action Required | project", Status.ASKING),
        ("codex", "project", None),
        ("codex", "[draft] project", None),
        ("gemini", "◇ Ready (project)", Status.READY),
        ("gemini", "✦ Working… (project)", Status.WORKING),
        ("gemini", "✋ Action Required (project)", Status.ASKING),
        ("gemini", "project", None),
        ("openclaude", "◐ Adding a greeting", None),
        ("pi", "π - project", None),
        *((name, "", None) for name in NAMES),
    ],
)
def test_what_a_title_proves(name: str, title: str, status: Status | None) -> None:
    told = agent_of(name).status_from_title(title)
    assert (told[0] if told else None) is status


@pytest.mark.parametrize("mode, can", [("ask", False), ("auto", False), ("bypass", True)])
def test_codex_commits_only_outside_of_its_sandbox(mode: str, can: bool) -> None:
    assert agent_of("codex").commits[mode] is can


def test_codex_trust_is_valid_toml_whatever_the_path() -> None:
    import tomllib

    path = 'C:\\a "b" ü ' + "\N{SNAKE}"
    _, words = agent_of("codex").trust_args(Start(repository=path))
    assert tomllib.loads(words) == {"projects": {path: {"trust_level": "trusted"}}}


@pytest.mark.parametrize(
    "name, choice, words",
    [
        ("claude", ModelChoice("anthropic", "opus"), ["--model", "opus"]),
        ("codex", ModelChoice("openai", "gpt"), ["--model", "gpt"]),
        ("codex", ModelChoice("local", "m"), ["-c", 'model_provider="local"', "--model", "m"]),
        ("gemini", ModelChoice("google", "pro"), ["--model", "pro"]),
        ("goose", ModelChoice("openai", "gpt"), ["--provider", "openai", "--model", "gpt"]),
        ("opencode", ModelChoice("openrouter", "x/y"), ["--model", "openrouter/x/y"]),
        ("openclaude", ModelChoice("ollama", "llama3:8b"), ["--provider", "ollama", "--model", "llama3:8b"]),
        ("aider", ModelChoice("", "sonnet"), ["--model", "sonnet"]),
    ],
)
def test_models(name: str, choice: ModelChoice, words: list[str]) -> None:
    assert list(agent_of(name).model_args(choice)) == words


def test_thinking_is_translated() -> None:
    assert list(agent_of("pi").thinking_args("none")) == ["--thinking", "off"]
    assert list(agent_of("codex").thinking_args("off")) == ["-c", 'model_reasoning_effort="none"']
    with pytest.raises(UsageError, match="gemini cannot think at the level low"):
        agent_of("gemini").thinking_args("low")


def test_droid_has_other_words_without_a_terminal() -> None:
    droid = agent_of("droid")
    assert list(droid.permission_args(Start(permissions="bypass"))) == ["--auto", "high"]
    assert list(droid.permission_args(Start(permissions="bypass", headless=True))) == ["--skip-permissions-unsafe"]


def test_every_key_of_an_agent_of_ones_own_counts() -> None:
    own = settings(
        command="sh",
        args=["a"],
        prompt="flag",
        prompt_flag="--say",
        plan_args=["plan"],
        headless_args=["batch"],
        model_flag="--brain",
        session_args=["--id={session}"],
        resume_args=["--again", "{session}"],
        ask_args=["careful"],
        auto_args=[],
        bypass_args=["--yolo"],
        permissions="auto",
        env={"A": "1"},
        pass_env=["B"],
        paths=["~/x"],
        install="Make it.",
    )
    agent = registry.find("own", {"own": own})

    def words(**start: Any) -> list[str]:
        return agent.argv(Start("P", "S", **start))[1:]

    assert words() == ["a", "--id=S", "careful", "--say", "P"]
    assert words(permissions="auto") == ["a", "--id=S", "--say", "P"]
    assert words(permissions="bypass", resume=True) == ["a", "--again", "S", "--yolo", "--say", "P"]
    assert words(plan=True) == ["a", "--id=S", "plan", "--say", "P"]
    assert words(headless=True) == ["batch", "a", "--id=S", "careful", "--say", "P"]
    assert words(model=ModelChoice("p", "m")) == ["a", "--id=S", "--brain", "p/m", "careful", "--say", "P"]
    assert agent.variables(Start()) == {"A": "1"}
    assert (list(agent.pass_env), list(agent.paths), agent.install) == (["B"], ["~/x"], "Make it.")


def test_an_agent_of_ones_own_has_only_what_was_said() -> None:
    agent = registry.find("own", {"own": settings(command="sh")})
    assert agent.argv(Start("P", "S"))[1:] == ["P"]
    for start in (
        Start("P", headless=True),
        Start("P", resume=True),
        Start("P", plan=True),
        Start("P", permissions="auto"),
        Start("P", permissions="bypass"),
        Start("P", model=ModelChoice("", "m")),
        Start("P", model=ModelChoice("", "", "high")),
    ):
        with pytest.raises(UsageError, match="the agent own cannot"):
            agent.argv(start)


def test_a_built_in_agent_is_changed_key_by_key(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = settings(command="sh", args=["--x"], prompt="argument", ask_args=[], session_args=[], model_flag="-m")
    gemini = registry.find("gemini", {"gemini": changes})
    start = Start("P", "S", model=ModelChoice("", "pro"))
    assert gemini.argv(start)[1:] == ["--x", "--skip-trust", "-m", "pro", "P"]
    assert gemini.argv(start._replace(permissions="auto"))[1:][-3:] == ["--approval-mode", "auto_edit", "P"]
    assert agent_of("gemini").prompt == "flag", "the class itself was changed"


@pytest.mark.parametrize(
    "keys, said",
    [
        ({}, "has no `command`"),
        ({"command": "x", "prompt": "flag"}, "no prompt_flag"),
        ({"command": "x", "prompt_flag": "--say"}, 'a prompt_flag but prompt = "argument"'),
        ({"command": "x", "permissions": "auto"}, 'permissions = "auto", which it does not know'),
    ],
)
def test_settings_that_do_not_fit(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        registry.find("own", {"own": settings(**keys)})


def test_an_unknown_agent() -> None:
    with pytest.raises(NotFound) as caught:
        registry.find("nobody", {"own": settings(command="x")})
    assert all(name in caught.value.hint for name in [*NAMES, "own"])


class Packaged(Agent):
    """Stands for the class of a package."""

    command = "sh"


class Clumsy(Agent):
    """A class that cannot be made."""

    def __init__(self) -> None:
        raise RuntimeError("no luck")


def entry(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, value, packages.GROUP)


def test_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    offered = [
        entry("absent", "no_such_module_at_all:Agent"),
        entry("claude", f"{__name__}:Packaged"),
        entry("clumsy", f"{__name__}:Clumsy"),
        entry("good", f"{__name__}:Packaged"),
        entry("number", "math:pi"),
    ]
    monkeypatch.setattr(packages, "entries", lambda: offered)
    monkeypatch.setitem(__import__("sys").modules, __name__, __import__("types").SimpleNamespace(**globals()))
    notes: list[str] = []
    found = {agent.name: agent for agent in registry.every({"good": settings(args=["--x"])}, notes)}
    assert {*found} == {*registry.BUILT_IN, "good"}
    assert found["good"].package
    assert list(found["good"].args) == ["--x"]
    assert not found["claude"].package
    assert "No module named 'no_such_module_at_all'" in notes[0]
    assert "the agent claude of the package" in notes[1]
    assert "RuntimeError: no luck" in notes[2]
    assert "math:pi is not a subclass of woodwind.agents.base.Agent" in notes[3]
    with pytest.raises(WoodwindError, match="the agent number of the package math cannot be used"):
        registry.find("number", {})
    with pytest.raises(NotFound) as caught:
        registry.find("nobody", {})
    assert "good" in caught.value.hint
