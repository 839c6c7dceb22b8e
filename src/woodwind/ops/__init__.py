"""One verb per file: plain functions from a context and arguments to an outcome."""
