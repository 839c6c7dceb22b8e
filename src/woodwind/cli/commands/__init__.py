"""One file per command: its parser, its call, its picture."""
