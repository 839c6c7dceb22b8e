"""Processes of ours that run on: they watch and call ops, and hold no rules of their own."""
