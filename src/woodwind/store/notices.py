"""Notices of the control plane that a person has put away, by the number of their event."""

from woodwind.store.db import Store


def dismissed(store: Store) -> set[int]:
    """The events whose notices were put away."""
    return {row[0] for row in store.db.execute("SELECT event FROM dismissed")}


def dismiss(store: Store, event: int) -> None:
    """Put a notice away for good."""
    with store.transaction() as db:
        db.execute("INSERT OR IGNORE INTO dismissed (event) SELECT seq FROM event WHERE seq = ?", (event,))
