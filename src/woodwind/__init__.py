"""Woodwind runs many terminal coding agents in parallel and lands their work safely."""

__version__ = "0.1.0"
