"""Queues of requests: in the link table, or in Redis."""
