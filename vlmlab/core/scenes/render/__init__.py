"""Pictures of scene descriptions: the embedded ray tracer, the presence check and the scene cache."""
