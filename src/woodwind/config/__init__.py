"""What the user can set, and how the layers are merged."""
