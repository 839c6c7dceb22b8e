"""Whether the store and git tell the same about a project's workers."""

from woodwind.git.worktrees import admin_dirs, path_of, read_record
from woodwind.model.worker import RECORD_KEYS
from woodwind.store import workers
from woodwind.store.db import Store


def agree(store: Store, project: str, common: str) -> bool:
    """Whether git has each worker where the store has it, and no other: nearly always, and quick to see."""
    folders = workers.folders(store, project)
    places = set(folders.values())
    for admin in admin_dirs(common):
        record, path = read_record(admin), path_of(admin)
        ours = record is not None and record.keys() >= RECORD_KEYS and folders.get(str(record["id"])) == path
        if not ours and (record is not None or path in places or not path):
            return False
    return True
