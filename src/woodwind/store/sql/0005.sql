-- What is foreseen and judged: conflicts between workers, and the critic's denials.

-- The tree of each worker when it was last looked at, uncommitted and untracked files included.
-- `mark` tells without a process whether anything changed since; `ignored` are folders that need no look.
CREATE TABLE forecast_snapshot (
    worker TEXT PRIMARY KEY REFERENCES worker (id) ON DELETE CASCADE,
    mark TEXT NOT NULL,
    seed TEXT NOT NULL,
    ignored TEXT NOT NULL,
    head TEXT NOT NULL,
    tree TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    target TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

-- Trial merges that were made: their answer depends on nothing but these three.
CREATE TABLE forecast_merge (
    project TEXT NOT NULL REFERENCES project (id),
    bases TEXT NOT NULL,
    one TEXT NOT NULL,
    other TEXT NOT NULL,
    conflicts TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (project, bases, one, other)
) STRICT;

-- Where two commits' histories parted.
CREATE TABLE forecast_base (
    project TEXT NOT NULL REFERENCES project (id),
    one TEXT NOT NULL,
    other TEXT NOT NULL,
    bases TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (project, one, other)
) STRICT;

-- What collides now. `other` is the older worker, or '' when it is the branch `target`.
CREATE TABLE collision (
    worker TEXT NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
    other TEXT NOT NULL,
    target TEXT NOT NULL,
    project TEXT NOT NULL,
    files TEXT NOT NULL,
    appeared_at INTEGER NOT NULL,
    told_at INTEGER,
    PRIMARY KEY (worker, other, target)
) STRICT;

CREATE INDEX collision_other ON collision (other);

-- How often the critic said no, in a row and in all. `worker` is '' for the whole project.
CREATE TABLE denial (
    project TEXT NOT NULL REFERENCES project (id),
    worker TEXT NOT NULL,
    in_a_row INTEGER NOT NULL,
    in_all INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (project, worker)
) STRICT;

-- Comments of a review that are not sent yet.
CREATE TABLE review_comment (
    id INTEGER PRIMARY KEY,
    worker TEXT NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    line INTEGER NOT NULL,
    code TEXT NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

-- A queue that is being landed, and what became of each worker in it: waiting, landed, dropped or undone.
-- The target moved once from `batch_old` to `batch_new` for all workers that have them in common.
CREATE TABLE landing_queue (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL REFERENCES project (id),
    target TEXT NOT NULL,
    request TEXT NOT NULL,
    state TEXT NOT NULL,
    verifications INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;

CREATE INDEX landing_queue_open ON landing_queue (project) WHERE state = 'running';

CREATE TABLE landing_queue_entry (
    queue TEXT NOT NULL REFERENCES landing_queue (id) ON DELETE CASCADE,
    worker TEXT NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    state TEXT NOT NULL,
    code TEXT NOT NULL DEFAULT '',
    why TEXT NOT NULL DEFAULT '',
    output TEXT NOT NULL DEFAULT '',
    landing TEXT NOT NULL DEFAULT '',
    batch_old TEXT NOT NULL DEFAULT '',
    batch_new TEXT NOT NULL DEFAULT '',
    at INTEGER NOT NULL,
    told_at INTEGER,
    PRIMARY KEY (queue, worker)
) STRICT;

CREATE INDEX landing_queue_entry_worker ON landing_queue_entry (worker);
