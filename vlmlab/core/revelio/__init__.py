"""Revelio: searches for concept sets that make a system under test fail."""
