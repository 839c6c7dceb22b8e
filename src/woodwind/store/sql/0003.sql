-- Where tasks come from, and what a worktree's environment needs.

-- The ticket that a worker came from (github:7, jira:SHOP-12), and where it is to be read.
ALTER TABLE worker ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE worker ADD COLUMN url TEXT NOT NULL DEFAULT '';
-- Its base is a stranger's code: nothing of it may be run, installed or believed.
ALTER TABLE worker ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0;

-- A worktree's environment: its ports, and how far its preparation is. `pid` leads the process group that does it.
CREATE TABLE environment (
    worker TEXT PRIMARY KEY REFERENCES worker (id) ON DELETE CASCADE,
    port INTEGER NOT NULL,
    ports INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'none',
    detail TEXT NOT NULL DEFAULT '',
    plan TEXT NOT NULL DEFAULT '',
    pid INTEGER NOT NULL DEFAULT 0,
    pid_start TEXT NOT NULL DEFAULT '',
    changed_at INTEGER NOT NULL
) STRICT;

-- The exact texts from a project's file that its user allowed to run.
CREATE TABLE approval (
    project TEXT NOT NULL REFERENCES project (id),
    hook TEXT NOT NULL,
    hash TEXT NOT NULL,
    approved_at INTEGER NOT NULL,
    PRIMARY KEY (project, hook, hash)
) STRICT;
