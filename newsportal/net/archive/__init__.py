"""Saved crawls: an index over a WARC file that answers by URL, and a writer that survives ``kill -9``."""

from newsportal.net.archive.index import Index, Progress, Record, Recorded, key, open_index, records
from newsportal.net.archive.writer import Exchange, Writer

__all__ = ["Exchange", "Index", "Progress", "Record", "Recorded", "Writer", "key", "open_index", "records"]
