"""Domain files: package data, one JSON file a domain."""
