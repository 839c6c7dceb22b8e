"""The control plane in the terminal: it paints what ops tell, and calls ops for what a person decides."""
