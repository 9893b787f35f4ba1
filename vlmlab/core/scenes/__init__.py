"""Concepts, rules, scene descriptions and the back ends that draw them."""
