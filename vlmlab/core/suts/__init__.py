"""Systems under test: what they are, and one module for each kind."""
