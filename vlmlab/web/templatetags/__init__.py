"""Template tags shared by all apps."""
