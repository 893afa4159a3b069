"""Application services on top of the store."""
