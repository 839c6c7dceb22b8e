"""The few things that touch the operating system: processes, files, paths, time."""
