"""How long tests wait for what must come: a slow or busy machine is no failure."""

PATIENCE_SECONDS = 120.0
"""Only a test that fails waits as long."""
