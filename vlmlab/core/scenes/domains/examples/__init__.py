"""Domain files to start from; a picture source must bring their pictures."""
