-- Runs: plans and loops that the daemon carries out, as they stood after the last step.

CREATE TABLE run (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    mode TEXT NOT NULL,
    target TEXT NOT NULL,
    folder TEXT NOT NULL,
    spec TEXT NOT NULL,
    state TEXT NOT NULL,
    why TEXT NOT NULL,
    settings TEXT NOT NULL,
    breaker TEXT NOT NULL,
    groups TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    revision INTEGER NOT NULL
) STRICT;

-- Two runs that land everything on one branch would cut their workers from each other's half-done work.
CREATE UNIQUE INDEX run_branch ON run (project, target) WHERE mode = 'into' AND state IN ('running', 'paused');

CREATE TABLE run_task (
    run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    position INTEGER NOT NULL,
    spec TEXT NOT NULL,
    state TEXT NOT NULL,
    worker TEXT NOT NULL,
    data TEXT NOT NULL,
    claimed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, id)
) STRICT;

CREATE INDEX run_task_worker ON run_task (worker);

-- How far the lifecycle hooks have come in the log of events.
CREATE TABLE hook_cursor (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    seq INTEGER NOT NULL
) STRICT;
