"""Records and rules: pure, without I/O, clock or async."""
