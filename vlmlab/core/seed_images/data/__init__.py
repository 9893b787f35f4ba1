"""Tables that readers of formats need."""
