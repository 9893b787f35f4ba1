"""Forms: everything that enters through a page passes one of these."""
