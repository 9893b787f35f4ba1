"""Trains the pocket VLM, the small real model that the project ships."""
