-- The commit that a landing made of what its worker had not committed.
ALTER TABLE landing ADD COLUMN committed TEXT NOT NULL DEFAULT '';
