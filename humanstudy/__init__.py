"""The human study: annotation, scene review, recruitment, agreement."""
