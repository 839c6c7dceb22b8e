"""Everything that is asked of git, through the git program."""
