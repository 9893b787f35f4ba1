"""Filter bars of lists."""
