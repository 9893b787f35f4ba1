"""Starting the lab on one machine: broker look-up, supervision of its parts, secret key."""
