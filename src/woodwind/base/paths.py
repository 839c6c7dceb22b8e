"""Where Woodwind keeps its files: the XDG folders, read from the environment at each call."""

import os


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


def lock_file(name: str) -> str:
    """The file whose kernel lock guards `name`."""
    return os.path.join(state_dir(), "locks", name)


def socket() -> str:
    """The daemon's Unix socket."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    folder = os.path.join(runtime, "woodwind") if os.path.isabs(runtime) else state_dir()
    return os.path.join(folder, "socket")
