"""The CARLA back end: driving sets as Scenic programs, sampled and photographed on a server."""
