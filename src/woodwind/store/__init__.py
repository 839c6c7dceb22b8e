"""Facts in one SQLite file per user; every row belongs to a project."""
