"""``sources.yaml``: what is read, from where, how politely, and where it is kept. ``load()`` is the way in.

Every mistake in the file is told at once, with file, line, key, what was found, what is allowed and the nearest right spelling.
"""

from newsportal.sources.editing import EditConflict, append, digest, edit
from newsportal.sources.loading import FILE_NAME, find, load, parse, use_own_words
from newsportal.sources.models import Sources, json_schema, schema_text
from newsportal.sources.newsletters import Newsletter
from newsportal.sources.parts import Politeness, Portal, Source
from newsportal.sources.places import Feed, Forum, Gallery, HotList, Region, Sitemap
from newsportal.sources.topics import Breadth, CustomEngine, Keywords, Topic, Wrapper
from newsportal.sources.uris import mask

__all__ = [
    "FILE_NAME", "Breadth", "CustomEngine", "EditConflict", "Feed", "Forum", "Gallery", "HotList", "Keywords", "Newsletter", "Politeness",
    "Portal", "Region", "Sitemap", "Source", "Sources", "Topic", "Wrapper", "append", "digest", "edit", "find", "json_schema", "load",
    "mask", "parse", "schema_text", "use_own_words",
]  # fmt: skip
