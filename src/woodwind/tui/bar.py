"""The line at the bottom: what can be done with the selected row and what can always be done, as much as fits."""

from collections.abc import Sequence

from woodwind.model.sections import Verb
from woodwind.tui.verbs import GENERAL, KEYS


def bar(verbs: Sequence[Verb], empty: str, columns: int) -> str:
    """Markup whose parts can be clicked, at most so many columns wide; `empty` is said where there is no row.

    Where not all fits, general things give way first, then the less likely verbs; how to get help always stays.
    """
    parts: list[tuple[str, str]] = [(empty, f"[i]{empty}[/i]")] if empty else []
    for n, verb in enumerate(verbs):
        key = f"⏎ {KEYS[verb]}" if n == 0 else KEYS[verb]
        parts.append((f"{key} {verb.value}", f"[@click=app.verb('{verb.value}')][b]{key}[/b] {verb.value}[/]"))
    general = [(f"{key} {name}", f"[@click=app.{action}]{key} {name}[/]") for key, name, action in GENERAL]
    while len(general) > 1 and _width(parts, general) > columns:
        general.pop()
    while len(parts) > 1 and _width(parts, general) > columns:
        parts.pop()
    told = " · ".join(markup for _, markup in general)
    return " " + "  ".join([*(markup for _, markup in parts), f"[dim]{told}[/dim]"])


def _width(parts: Sequence[tuple[str, str]], general: Sequence[tuple[str, str]]) -> int:
    return 1 + sum(len(words) + 2 for words, _ in parts) + sum(len(words) + 3 for words, _ in general) - 3
