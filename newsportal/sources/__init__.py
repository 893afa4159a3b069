"""``sources.yaml``: the sources, crawl settings and destinations. ``load()`` is the entry point.

All mistakes in the file are reported at once, with file, line, key, the value found, the allowed values and the nearest correct spelling.
"""

from newsportal.sources.editing import EditConflict, append, digest, edit
from newsportal.sources.loading import FILE_NAME, find, load, parse, use_custom_words
from newsportal.sources.models import Sources, json_schema, schema_text
from newsportal.sources.newsletters import Newsletter
from newsportal.sources.parts import Politeness, Portal, Source
from newsportal.sources.places import Feed, Forum, Gallery, HotList, Region, Sitemap
from newsportal.sources.topics import Breadth, CustomEngine, Keywords, Topic, Wrapper
from newsportal.sources.uris import mask

__all__ = [
    "FILE_NAME", "Breadth", "CustomEngine", "EditConflict", "Feed", "Forum", "Gallery", "HotList", "Keywords", "Newsletter", "Politeness",
    "Portal", "Region", "Sitemap", "Source", "Sources", "Topic", "Wrapper", "append", "digest", "edit", "find", "json_schema", "load",
    "mask", "parse", "schema_text", "use_custom_words",
]  # fmt: skip
