"""What the product does over a store."""
