"""Queues of requests: in the table of links, or in Redis."""
