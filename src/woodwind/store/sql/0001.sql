CREATE TABLE project (
    id TEXT PRIMARY KEY,
    git_dir TEXT NOT NULL,
    name TEXT NOT NULL,
    last_worker TEXT NOT NULL DEFAULT '',
    permissions TEXT NOT NULL DEFAULT '',
    seen_at INTEGER NOT NULL
) STRICT;

CREATE TABLE worker (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    title TEXT NOT NULL,
    task TEXT NOT NULL,
    kind TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    permissions TEXT NOT NULL,
    launch TEXT NOT NULL,
    folder TEXT NOT NULL,
    plan INTEGER NOT NULL,
    in_place INTEGER NOT NULL,
    automated INTEGER NOT NULL,
    made_by TEXT NOT NULL,
    agent_session TEXT NOT NULL,
    phase TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    purged INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A name stays taken while its worker is in the trash, so that `ww restore NAME` can only mean one.
CREATE UNIQUE INDEX worker_name ON worker (project, name_key) WHERE purged = 0;

CREATE TABLE worktree (
    worker TEXT NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    path TEXT NOT NULL,
    branch TEXT NOT NULL,
    base_branch TEXT NOT NULL,
    base_commit TEXT NOT NULL,
    PRIMARY KEY (worker, position)
) STRICT;

-- The process that was started in a worker's terminal: which one is ours, on which server.
CREATE TABLE terminal (
    worker TEXT PRIMARY KEY REFERENCES worker (id) ON DELETE CASCADE,
    server TEXT NOT NULL,
    pid INTEGER NOT NULL,
    pid_start TEXT NOT NULL,
    env_names TEXT NOT NULL,
    started_at INTEGER NOT NULL
) STRICT;

CREATE TABLE operation (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES project (id),
    worker TEXT NOT NULL,
    kind TEXT NOT NULL,
    args TEXT NOT NULL,
    step TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'running',
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX operation_running ON operation (project) WHERE state = 'running';

CREATE TABLE removal (
    id TEXT PRIMARY KEY,
    worker TEXT NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    trash TEXT NOT NULL,
    removed_at INTEGER NOT NULL,
    restored_at INTEGER,
    purged_at INTEGER
) STRICT;

CREATE TABLE event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    worker TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL
) STRICT;
