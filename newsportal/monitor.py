"""What is to be said of a source: its health, from its visits. Pure."""
