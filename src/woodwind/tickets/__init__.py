"""Where work comes from: trackers, lists and texts, each behind the same small protocol."""
