"""Annotated pictures from outside as seed images: readers of formats, checks, a report of refusals."""
