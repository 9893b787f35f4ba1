"""Draws the warehouse pictures that the lab ships as a sample pool, with the parts of its own renderer."""
