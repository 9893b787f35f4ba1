"""Perturbation operators on images and texts, and the strategies built from them."""
