"""The science of VLM Lab; knows nothing of Django, Celery, settings, clocks or global randomness."""
