"""MoST: multi-objective search for the mildest perturbation that makes an answer fail."""
