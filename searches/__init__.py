"""Systems under test, search runs and what they found."""
