"""The workers' names, for completion scripts. Nothing but SQLite is loaded for it."""

import sqlite3

from woodwind.base import paths
from woodwind.git.identity import read_id
from woodwind.git.repo import locate
from woodwind.model.errors import WoodwindError

_QUERY = "SELECT name FROM worker WHERE project = ? AND phase <> 'removed' ORDER BY name"


def worker_names(folder: str) -> list[str]:
    """The names in the folder's project; none where there is no project or no store."""
    try:
        project = read_id(locate(folder).common)
        db = sqlite3.connect(f"file:{paths.database()}?mode=ro", uri=True, timeout=0.2)
        return [row[0] for row in db.execute(_QUERY, (project,))] if project else []
    except (WoodwindError, OSError, sqlite3.Error):
        return []  # a completion that fails must not disturb the command line
