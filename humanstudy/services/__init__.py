"""What the human study does; pages and commands only read and show."""
