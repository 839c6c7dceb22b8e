"""tmux: told what to do by plain clients, each command or batch of them one process."""
