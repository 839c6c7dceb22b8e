-- What agents were told, what was seen of them, and what people are to be told of it.

-- Tells the events of the program's last start from those of earlier ones.
ALTER TABLE terminal ADD COLUMN nonce TEXT NOT NULL DEFAULT '';

-- Evidence, as it came in. A spool file is taken once: its name is never used again.
CREATE TABLE reading (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    worker TEXT NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
    file TEXT NOT NULL,
    nonce TEXT NOT NULL,
    boot TEXT NOT NULL,
    up INTEGER NOT NULL,
    at INTEGER NOT NULL,
    source TEXT NOT NULL,
    tells TEXT NOT NULL,
    prompt_id TEXT NOT NULL,
    session TEXT NOT NULL,
    text TEXT NOT NULL,
    question TEXT NOT NULL,
    tool TEXT NOT NULL,
    of_subagent INTEGER NOT NULL
) STRICT;

CREATE INDEX reading_of ON reading (worker, seq);
CREATE UNIQUE INDEX reading_file ON reading (worker, file) WHERE file <> '';

-- One delivery of work to an agent, and its outcome.
CREATE TABLE turn (
    id TEXT PRIMARY KEY,
    worker TEXT NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    prompt_id TEXT NOT NULL,
    nonce TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    last_words TEXT NOT NULL,
    why TEXT NOT NULL,
    inferred INTEGER NOT NULL,
    UNIQUE (worker, number)
) STRICT;

CREATE INDEX turn_open ON turn (worker, prompt_id) WHERE state IN ('sending', 'running');

-- The status that listeners were told last, and since when: what is new is news once.
CREATE TABLE told (
    worker TEXT PRIMARY KEY REFERENCES worker (id) ON DELETE CASCADE,
    status TEXT NOT NULL,
    detail TEXT NOT NULL,
    since INTEGER NOT NULL
) STRICT;

-- What a person allowed for good: this agent, with this tool, in this project.
CREATE TABLE allowed (
    project TEXT NOT NULL REFERENCES project (id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    tool TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (project, agent, tool)
) STRICT;

-- How far each reader of the events has come that must not miss one.
CREATE TABLE reader (
    name TEXT PRIMARY KEY,
    seq INTEGER NOT NULL
) STRICT;

-- What people are to be told, on each way once: desktop, command, or the tmux server with a socket.
CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    event INTEGER NOT NULL,
    way TEXT NOT NULL,
    worker TEXT NOT NULL,
    at INTEGER NOT NULL,
    content TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    settled_at INTEGER NOT NULL DEFAULT 0,
    UNIQUE (event, way)
) STRICT;

CREATE INDEX outbox_waiting ON outbox (event) WHERE state = 'waiting';

-- Where the program serves its events itself; the daemon reads them into its spool.
ALTER TABLE terminal ADD COLUMN stream TEXT NOT NULL DEFAULT '';
