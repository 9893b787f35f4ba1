"""Makes the shipped tables of homophones and synonyms from CMUdict, WordNet and the names of ImageNet-1k."""
