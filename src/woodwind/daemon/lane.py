"""Threads in which the daemon calls ops: one call at a time each, with a store that stays open between calls."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from woodwind.ops.context import Context
from woodwind.store.db import Store

T = TypeVar("T")


class Lane:
    """One thread. Its store is opened again when the file was replaced, as by a rebuild."""

    def __init__(self, name: str, environ: Mapping[str, str], say: Callable[[str], None]) -> None:
        self.name = name
        self.calls = 0  # that wait or run
        self._environ = environ
        self._say = say
        self._threads = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._store: Store | None = None
        self._file = (0, 0)

    async def call(self, what: Callable[[Context], T]) -> T:
        """What `what` returns for a fresh context; the configuration is read again, the store is kept."""
        self.calls += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, what)
        finally:
            self.calls -= 1

    def _run(self, what: Callable[[Context], T]) -> T:
        ctx = Context("/", self._environ, say=self._say)
        if self._store and self._file == _identity(self._store.path):
            ctx.store = self._store
        else:
            self._drop()
        try:
            return what(ctx)
        except sqlite3.DatabaseError as error:
            # A store that is only locked is good as it is; anything else is looked at anew by whoever opens it.
            if not isinstance(error, sqlite3.OperationalError):
                ctx.close()
                ctx.__dict__.pop("store", None)
            raise
        finally:
            self._store = ctx.__dict__.get("store")
            self._file = _identity(self._store.path) if self._store else (0, 0)

    def _drop(self) -> None:
        if self._store:
            self._store.close()
        self._store = None


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino
