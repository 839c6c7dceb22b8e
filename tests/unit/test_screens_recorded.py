"""What the agents' screens tell: recorded from the real programs, scrubbed."""

from pathlib import Path

import pytest

from woodwind.agents import screens

FOLDER = Path(__file__).with_name("screens")
TOLD = {
    "claude-bypass": ("asking", "bypass warning"),
    "claude-error": ("failed", "error"),
    "claude-idle": ("idle", "prompt"),
    "claude-interrupted": ("interrupted", "interruption"),
    "claude-permission": ("asking", "question"),
    "claude-question": ("asking", "question"),
    "claude-streaming": ("working", "spinner"),
    "claude-trust": ("asking", "trust"),
    "claude-working": ("working", "spinner"),
    "codex-error": ("failed", "error"),
    "codex-hooks": ("asking", "hooks"),
    "codex-idle": ("idle", "turn's end"),
    "codex-interrupted": ("interrupted", "interruption"),
    "codex-permission": ("asking", "question"),
    # Words that come in look like words that came: its title tells the difference.
    "codex-streaming": None,
    "codex-trust": ("asking", "trust"),
    "codex-working": ("working", "status line"),
    "gemini-error": ("failed", "error"),
    "gemini-idle": ("idle", "prompt"),
    "gemini-interrupted": ("interrupted", "interruption"),
    "gemini-permission": ("asking", "question"),
    "gemini-working": ("working", "spinner"),
    "pi-error": ("idle", "prompt"),
    "pi-idle": ("idle", "prompt"),
    "pi-interrupted": ("idle", "prompt"),
    "pi-working": ("working", "spinner"),
}


def test_every_recorded_screen_is_looked_at() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(TOLD)


@pytest.mark.parametrize("name", TOLD)
def test_what_a_screen_tells(name: str) -> None:
    rules = screens.rules_of(name.partition("-")[0])
    assert rules
    shown = screens.read(rules, (FOLDER / f"{name}.txt").read_text())
    assert (shown and (shown.tells.value, shown.rule)) == TOLD[name]


@pytest.mark.parametrize(
    "name, text",
    [
        ("claude-permission", "Do you want to proceed?"),
        ("claude-question", "Which colour?"),
        ("codex-permission", "Would you like to run the following command?"),
        ("gemini-permission", "Allow execution of [Shell]?"),
        ("gemini-error", "scripted error 400"),
        ("codex-error", "experiencing high demand"),
        ("claude-error", "API Error: 500"),
        ("claude-trust", "choose Yes in its terminal"),
    ],
)
def test_what_a_person_is_told(name: str, text: str) -> None:
    rules = screens.rules_of(name.partition("-")[0])
    assert rules
    shown = screens.read(rules, (FOLDER / f"{name}.txt").read_text())
    assert shown
    assert text in shown.text


def test_nothing_personal_is_recorded() -> None:
    for path in FOLDER.glob("*.txt"):
        assert not any(word in path.read_text() for word in ("/tmp/", "/root", "/dev/shm", "sk-")), path


@pytest.mark.parametrize("name", ["gemini-idle", "pi-idle", "gemini-error"])
def test_an_empty_input_line_is_no_draft(name: str) -> None:
    rules = screens.rules_of(name.partition("-")[0])
    assert rules
    screen = (FOLDER / f"{name}.txt").read_text()
    assert screens.draft_of(rules, screen) == ""
    typed = screen.replace(">   Type your message or @path/to/file", "> half a thought")
    assert screens.draft_of(rules, typed) == ("half a thought" if typed != screen else "")
