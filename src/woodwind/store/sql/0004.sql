-- Landings: what was merged and verified, and how to take it back.
CREATE TABLE landing (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    worker TEXT NOT NULL,
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    via TEXT NOT NULL,
    remote TEXT NOT NULL DEFAULT '',
    method TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'land',
    state TEXT NOT NULL,
    tip TEXT NOT NULL DEFAULT '',
    old TEXT NOT NULL DEFAULT '',
    new TEXT NOT NULL DEFAULT '',
    commits INTEGER NOT NULL DEFAULT 0,
    verified TEXT NOT NULL DEFAULT '',
    command TEXT NOT NULL DEFAULT '',
    output TEXT NOT NULL DEFAULT '',
    why TEXT NOT NULL DEFAULT '',
    previous_phase TEXT NOT NULL DEFAULT '',
    removal TEXT NOT NULL DEFAULT '',
    undoes TEXT NOT NULL DEFAULT '',
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX landing_project ON landing (project, at);
CREATE INDEX landing_worker ON landing (worker, at);

-- What has passed: the same tree, command and environment is not verified twice.
CREATE TABLE verification (
    project TEXT NOT NULL,
    tree TEXT NOT NULL,
    command TEXT NOT NULL,
    environment TEXT NOT NULL,
    output TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (project, tree, command, environment)
) STRICT;

-- The user's one answer, per project, to landing without a command that verifies.
CREATE TABLE unverified_landing (
    project TEXT PRIMARY KEY REFERENCES project (id),
    allowed INTEGER NOT NULL
) STRICT;
