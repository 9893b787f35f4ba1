"""What `make test` runs."""
