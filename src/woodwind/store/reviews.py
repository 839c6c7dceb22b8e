"""Review comments that are collected and not sent yet."""

from woodwind.base.clock import now, to_ms
from woodwind.model.review import Comment
from woodwind.store.db import Store


def add(store: Store, worker: str, path: str, line: int, code: str, text: str) -> None:
    """Keep a comment."""
    with store.transaction() as db:
        sql = "INSERT INTO review_comment (worker, path, line, code, text, at) VALUES (?, ?, ?, ?, ?, ?)"
        db.execute(sql, (worker, path, line, code, text, to_ms(now())))


def of_worker(store: Store, worker: str) -> list[Comment]:
    """A worker's comments by file and line."""
    sql = "SELECT id, path, line, code, text FROM review_comment WHERE worker = ? ORDER BY path, line, id"
    return [Comment(*row) for row in store.db.execute(sql, (worker,))]


def drop(store: Store, ids: list[int]) -> None:
    """Forget comments that were sent, or taken back."""
    with store.transaction() as db:
        db.executemany("DELETE FROM review_comment WHERE id = ?", [(id,) for id in ids])
