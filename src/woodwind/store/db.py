"""The connection: pragmas, migrations, and what happens to a file that is damaged or too new."""

import contextlib
import os
import sqlite3
from collections.abc import Iterator

from woodwind.base import paths
from woodwind.base.files import locked, make_private_dir
from woodwind.base.news import announce
from woodwind.model.errors import WoodwindError

_SQL = os.path.join(os.path.dirname(__file__), "sql")
SCHEMA = 8
# A check reads the whole file: below this size it takes about a millisecond.
_CHECKED_SIZE = 2 << 20


class Damaged(WoodwindError):
    """The store's file is not a whole database."""

    code = "store_damaged"


class Connection(sqlite3.Connection):
    """A connection that remembers whether an event was appended, so that listeners can be told after the commit."""

    has_news = False


class Store:
    """An open store. Its modules (workers, projects, …) take it as their first argument."""

    def __init__(self, path: str, db: Connection) -> None:
        self.path = path
        self.db = db

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of the block is committed, durably, or none of it."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
            self.db.execute("COMMIT")
        except BaseException:
            if self.db.in_transaction:  # on a full disk SQLite may have rolled back by itself
                self.db.execute("ROLLBACK")
            self.db.has_news = False
            raise
        if self.db.has_news:
            self.db.has_news = False
            announce(self.path)

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that the block reads is as of one moment, whatever others write meanwhile."""
        self.db.execute("BEGIN")
        try:
            yield
        finally:
            if self.db.in_transaction:  # an error of the disk may have ended it
                self.db.execute("COMMIT")

    def close(self) -> None:
        """Close the connection."""
        self.db.close()


def open_store(path: str | None = None) -> Store:
    """The user's store, made or migrated where needed; Damaged when it cannot be trusted."""
    path = path or paths.database()
    make_private_dir(os.path.dirname(os.path.abspath(path)))
    try:
        return _open(path)
    except sqlite3.OperationalError as error:
        raise _unusable(path, error) from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # SQLite's own message may quote damaged text
        raise Damaged(f"the store {path} is damaged: {error}") from error


def _open(path: str) -> Store:
    if not os.path.exists(path):
        with locked(path + ".lock"):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            db = _connect(path)
            db.execute("PRAGMA journal_mode = WAL")
    else:
        db = _connect(path)
    store = Store(path, db)
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if os.path.getsize(path) <= _CHECKED_SIZE:
        verdict = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise Damaged(f"the store {path} is damaged: {verdict}")
    if version > SCHEMA:
        raise WoodwindError(
            f"the store {path} was written by a newer Woodwind (schema {version}, this one knows {SCHEMA})",
            code="store_newer",
            hint="Upgrade this Woodwind, or set WOODWIND_DB to another file.",
        )
    if version < SCHEMA:
        _migrate(store)
    return store


def _connect(path: str) -> Connection:
    db = sqlite3.connect(path, timeout=20, isolation_level=None, factory=Connection)
    db.text_factory = _text
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    return db


def _text(data: bytes) -> str:
    """Text that damage has made undecodable must not make its whole table unreadable."""
    return data.decode("utf-8", "replace")


def _migrate(store: Store) -> None:
    with locked(store.path + ".lock"):
        version = store.db.execute("PRAGMA user_version").fetchone()[0]
        if version and _schema(store.db) != _schema_of(version):
            raise Damaged(f"the store {store.path} is damaged: it has not the tables of its version, {version}")
        store.db.execute("PRAGMA journal_mode = WAL")  # again, where whoever made the file died before it
        try:
            _run_migrations(store)
        except sqlite3.OperationalError as error:
            if "already exists" in str(error):
                raise Damaged(f"the store {store.path} is damaged: {error}, but it has no version") from error
            raise


def _schema(db: sqlite3.Connection) -> list[tuple[str]]:
    sql = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name"
    return db.execute(sql).fetchall()


def _schema_of(version: int) -> list[tuple[str]]:
    """What `_schema` gives for a store of this version that is as we made it."""
    with contextlib.closing(_connect(":memory:")) as fresh:
        _run_migrations(Store(":memory:", fresh), version)
        return _schema(fresh)


def _run_migrations(store: Store, wanted: int = SCHEMA) -> None:
    with store.transaction() as db:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        for number in range(version + 1, wanted + 1):
            with open(os.path.join(_SQL, f"{number:04}.sql"), encoding="utf-8") as file:
                for statement in _statements(file.read()):
                    db.execute(statement)
        db.execute(f"PRAGMA user_version = {wanted}")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _unusable(path: str, error: sqlite3.OperationalError) -> WoodwindError:
    if "locked" in str(error):
        return WoodwindError(
            f"the store {path} is locked by another program",
            code="store_locked",
            hint="Another command may be at work: try again in a moment.",
        )
    return WoodwindError(
        f"the store {path} cannot be used: {error}",
        code="not_writable",
        hint="Its folder must be writable, with space left. XDG_STATE_HOME or WOODWIND_DB choose another place.",
    )


def set_aside(path: str) -> str:
    """Move a damaged store away, keeping every byte; return the folder that it is in now, "" when there was none."""
    parts = [path + suffix for suffix in ("", "-wal", "-shm") if os.path.exists(path + suffix)]
    if not parts:
        return ""
    with locked(path + ".lock"):
        n = 1
        while os.path.exists(folder := f"{path}.damaged-{n}"):
            n += 1
        os.mkdir(folder, 0o700)
        for part in parts:
            with contextlib.suppress(FileNotFoundError):
                os.rename(part, os.path.join(folder, os.path.basename(part)))
    return folder


def is_whole(path: str) -> bool:
    """Whether a full check of the file finds no damage."""
    try:
        with contextlib.closing(_connect(path)) as db:
            whole = db.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
            return whole and _schema(db) == _schema_of(SCHEMA)
    except sqlite3.OperationalError:
        return True  # locked or unreadable is no proof of damage
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return False
