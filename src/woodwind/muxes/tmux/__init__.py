"""tmux: one control-mode connection per process and server."""
