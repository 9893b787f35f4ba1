"""Template tags that read rows."""
