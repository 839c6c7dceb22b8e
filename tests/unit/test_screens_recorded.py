"""What the agents' screens tell: recorded from the real programs, scrubbed."""

from pathlib import Path

import pytest

from woodwind.agents import screens

FOLDER = Path(__file__).with_name("screens")
TOLD = {
    "aider-error": ("failed", "error"),
    "aider-idle": ("idle", "prompt"),
    "aider-interrupted": ("interrupted", "interruption"),
    "aider-question": ("asking", "question"),
    "aider-working": ("working", "its own words below the prompt"),
    "claude-agents": ("working", "its own agents"),
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
    "codex-login": ("asking", "login"),
    "codex-permission": ("asking", "question"),
    # Words that come in look like words that came: its title tells the difference.
    "codex-streaming": None,
    "codex-trust": ("asking", "trust"),
    "codex-working": ("working", "status line"),
    "gemini-error": ("failed", "error"),
    "gemini-idle": ("idle", "prompt"),
    "gemini-interrupted": ("interrupted", "interruption"),
    "gemini-login": ("asking", "login"),
    "gemini-permission": ("asking", "question"),
    "gemini-working": ("working", "spinner"),
    "gemini-yolo": ("failed", "error"),
    "opencode-denied": ("interrupted", "cut short"),
    "opencode-error": ("failed", "error"),
    "opencode-idle": ("idle", "prompt"),
    "opencode-interrupted": ("interrupted", "interruption"),
    "opencode-permission": ("asking", "permission"),
    "opencode-question": ("asking", "question"),
    "opencode-working": ("working", "status line"),
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
        ("aider-error", "scripted error 400"),
        ("aider-question", "Add file to the chat?"),
        ("opencode-error", "scripted error 400"),
        ("opencode-permission", "Shell command"),
        ("opencode-question", "Which colour?"),
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


@pytest.mark.parametrize(
    "name", ["gemini-idle", "pi-idle", "gemini-error", "opencode-idle", "opencode-error", "aider-idle"]
)
def test_an_empty_input_line_is_no_draft(name: str) -> None:
    rules = screens.rules_of(name.partition("-")[0])
    assert rules
    screen = (FOLDER / f"{name}.txt").read_text()
    assert screens.draft_of(rules, screen) == ""
    typed = screen.replace(">   Type your message or @path/to/file", "> half a thought")
    assert screens.draft_of(rules, typed) == ("half a thought" if typed != screen else "")


@pytest.mark.parametrize(
    "name, empty, typed",
    [
        ("aider-idle", "\n>\n", "\n> half a thought\n"),
        ("gemini-yolo", " *   Type your message or @path/to/file\n", " * half a thought\n"),
        ("opencode-idle", "  ┃\n  ┃\n  ┃\n  ┃  Build", "  ┃\n  ┃  half a thought\n  ┃\n  ┃  Build"),
    ],
)
def test_what_is_typed_is_a_draft(name: str, empty: str, typed: str) -> None:
    rules = screens.rules_of(name.partition("-")[0])
    assert rules
    screen = "\n".join(line.rstrip() for line in (FOLDER / f"{name}.txt").read_text().rstrip().split("\n")) + "\n"
    assert empty in screen
    assert screens.draft_of(rules, screen.replace(empty, typed)) == "half a thought"
    assert screens.has_input_line(rules, screen)
    assert not screens.has_input_line(rules, screen.replace(empty, "\n⠙ Resuming session...\n"))
