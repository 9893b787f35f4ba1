"""Wiring and science of VLM Lab: settings, the small shared web layer, and the numerical core."""

__version__ = "0.1.0"
