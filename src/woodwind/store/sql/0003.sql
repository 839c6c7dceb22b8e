-- Where tasks come from, and what a worktree's environment needs.

-- The ticket that a worker came from (github:7, jira:SHOP-12), and where it is to be read.
ALTER TABLE worker ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE worker ADD COLUMN url TEXT NOT NULL DEFAULT '';
-- Its base is a stranger's code: nothing of it may be run, installed or believed.
ALTER TABLE worker ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0;
