"""Readers that turn the raw text of a reply into boxes, a choice, or true/false statements."""
