-- What a person has put away in the control plane.
CREATE TABLE dismissed (
    event INTEGER PRIMARY KEY REFERENCES event (seq) ON DELETE CASCADE
) STRICT;
