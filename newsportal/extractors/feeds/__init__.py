"""Feeds and sitemaps, over bytes that may be broken."""
