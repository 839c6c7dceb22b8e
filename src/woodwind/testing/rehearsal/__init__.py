"""The rehearsal agent: a small terminal program that behaves like a coding agent and follows a script."""
