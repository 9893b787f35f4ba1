"""Command line of the lab."""
