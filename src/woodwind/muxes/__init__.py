"""Terminal multiplexers, behind one small protocol."""
