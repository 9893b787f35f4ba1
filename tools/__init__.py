"""Scripts that build what the project ships."""
