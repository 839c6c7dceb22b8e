"""The command line: it parses, calls one op, and renders."""
