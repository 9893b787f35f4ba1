"""What a human study shows to whom, and what its answers say."""
