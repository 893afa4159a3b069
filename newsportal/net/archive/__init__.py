"""Saved crawls: an index over a WARC file for lookups by URL, and a writer that survives ``kill -9``."""

from newsportal.net.archive.index import Index, IndexPart, Metadata, Progress, Recording, open_index, url_key
from newsportal.net.archive.records import Record, records
from newsportal.net.archive.writer import Exchange, Writer

__all__ = ["Exchange", "Index", "IndexPart", "Metadata", "Progress", "Record", "Recording", "Writer", "open_index", "records", "url_key"]
