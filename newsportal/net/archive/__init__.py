"""Saved crawls: an index over a WARC file for lookups by URL, and a writer that survives ``kill -9``."""

from newsportal.net.archive.index import Answer, Index, IndexPart, Progress, Recorded, key, open_index
from newsportal.net.archive.records import Record, records
from newsportal.net.archive.writer import Exchange, Writer

__all__ = ["Answer", "Exchange", "Index", "IndexPart", "Progress", "Record", "Recorded", "Writer", "key", "open_index", "records"]
