"""Parsers of feeds and sitemaps, tolerant of broken bytes."""
