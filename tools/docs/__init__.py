"""What keeps the manual true."""
