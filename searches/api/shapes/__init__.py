"""What is sent and received: plain objects with titles, descriptions and examples."""
