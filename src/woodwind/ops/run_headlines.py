"""The runs that are under way, in a few words each, for whoever shows the whole."""

from woodwind.model.run import GOOD
from woodwind.model.text import one_line
from woodwind.store import runs
from woodwind.store.db import Store


def headlines(store: Store, project: str = "") -> list[str]:
    """A line per run of the project, or of all: what it is about, how far it is, and whether it needs a person."""
    found = []
    for row in runs.listed(store, project, live=True):
        counts = runs.counts(store, row.id)
        done, waiting = sum(counts.get(state, 0) for state in GOOD), runs.count_needing(store, row.id)
        text = f"{row.kind} {one_line(row.title, 30)} {done}/{sum(counts.values())}"
        text += f", {waiting} need you" if waiting else ""
        found.append(text + (", paused" if row.state == "paused" else ""))
    return found
