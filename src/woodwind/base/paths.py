"""Where Woodwind keeps its files: the XDG folders, read from the environment at each call."""

import os
from binascii import crc32

# A socket's path has about 100 bytes, of which ours takes 20.
_LONGEST_RUNTIME_DIR = 80


def _xdg(variable: str, default: str) -> str:
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), default)
    return os.path.join(base, "woodwind")


def config_file() -> str:
    """The user's configuration file."""
    return os.path.join(_xdg("XDG_CONFIG_HOME", ".config"), "config.toml")


def state_dir() -> str:
    """The folder of the store, locks and logs; on a local file system."""
    return _xdg("XDG_STATE_HOME", ".local/state")


def database() -> str:
    """The store's file; `WOODWIND_DB` overrides it."""
    return os.environ.get("WOODWIND_DB") or os.path.join(state_dir(), "woodwind.db")


def worker_dir(worker_id: str) -> str:
    """The folder for what is kept about one worker outside its worktree."""
    return os.path.join(state_dir(), "workers", worker_id)


def spool_dir(worker_id: str) -> str:
    """The folder that a worker's agent puts its events into, one file each."""
    return os.path.join(worker_dir(worker_id), "spool")


def run_dir(worker_id: str) -> str:
    """The folder for the files that one start of a worker's agent needs."""
    return os.path.join(worker_dir(worker_id), "run")


def headless_dir() -> str:
    """The folder of the workers that run without a terminal."""
    return os.path.join(state_dir(), "headless")


def parsed_dir() -> str:
    """The folder that remembers what configuration files hold."""
    return os.path.join(state_dir(), "parsed")


def lock_file(name: str) -> str:
    """The file whose kernel lock guards `name`."""
    return os.path.join(state_dir(), "locks", name)


def runtime_dir() -> str:
    """The folder of the daemon's sockets: one per store, and short enough for a socket's path."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = os.path.join(runtime, "woodwind") if os.path.isabs(runtime) else os.path.join(state_dir(), "run")
    store = f"{crc32(os.fsencode(os.path.abspath(database()))):08x}"
    if len(os.fsencode(folder)) > _LONGEST_RUNTIME_DIR:
        return f"/tmp/woodwind-{os.getuid()}-{store}"
    return os.path.join(folder, store)


def socket() -> str:
    """The daemon's Unix socket."""
    return os.path.join(runtime_dir(), "socket")


def daemon_file(store: str = "") -> str:
    """The file whose kernel lock the daemon of a store holds, and in which it says where its sockets are."""
    return (store or database()) + ".daemon"


def outbox_dir() -> str:
    """The folder of the marks on letters that are just being handed over."""
    return database() + ".outbox"


def daemon_log() -> str:
    """The daemon's log."""
    return os.path.join(state_dir(), "daemon.log")
