"""Tables of homophones and synonyms, and the labels they were made for."""
