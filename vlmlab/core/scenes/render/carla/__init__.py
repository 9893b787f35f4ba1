"""The CARLA back end: lowers a driving set to a Scenic program, samples it, and photographs it on a server."""
