"""Which keys answer a question: read from the choices on the screen, because they differ."""

import pytest

from woodwind.agents.choices import choices, keys_for

CLAUDE = """
 Do you want to proceed?
 \N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} 1. Yes
   2. Yes, and always allow access to /home/person/project from this project
   3. Yes, and switch to auto mode · auto mode handles these prompts for you
   4. No

 Esc to cancel · Tab to amend
"""
NO_ALWAYS = """
 Do you want to proceed?
 \N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT} 1. Yes
   2. Yes, and switch to auto mode · auto mode handles these prompts for you
   3. No
"""
GEMINI = """
│ Allow execution of [Shell]?      │
│ ● 1. Allow once                  │
│   2. Allow for this session      │
│   3. No, suggest changes (esc)   │
"""
CODEX = """
› 1. Yes, proceed (y)
  2. Yes, and don't ask again for commands that start with `git add` (p)
  3. No, and tell Codex what to do differently (esc)
"""
OLDER_LIST = "  1. Yes\n  2. No\n\n › 1. Yes, proceed (y)\n   2. No (esc)\n"


@pytest.mark.parametrize(
    "screen, answer, keys",
    [
        (CLAUDE, "allow", ("1",)),
        (CLAUDE, "always", ("2",)),
        (CLAUDE, "deny", ("4",)),
        (NO_ALWAYS, "always", ()),
        (NO_ALWAYS, "deny", ("3",)),
        (CODEX, "allow", ("y",)),
        (CODEX, "always", ("p",)),
        (CODEX, "deny", ("Escape",)),
        (GEMINI, "allow", ("1",)),
        (GEMINI, "always", ("2",)),
        (GEMINI, "deny", ("Escape",)),
        (OLDER_LIST, "allow", ("y",)),
        ("no choices here", "allow", ()),
        ("1. Yesterday I did it.", "always", ()),
    ],
)
def test_the_keys_for_an_answer(screen: str, answer: str, keys: tuple[str, ...]) -> None:
    assert keys_for(answer, screen) == keys


def test_a_list_is_read_whole() -> None:
    assert [choice.label for choice in choices(CLAUDE)][1].startswith("Yes, and always allow")
    assert [choice.number for choice in choices(CLAUDE)] == ["1", "2", "3", "4"]
