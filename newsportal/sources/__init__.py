"""``sources.yaml``: what is read, from where, how politely, and where it is kept. ``load()`` is the way in.

Every mistake in the file is told at once, with file, line, key, what was found, what is allowed and the nearest right spelling.
"""

from newsportal.sources.loading import FILE_NAME, find, load, parse
from newsportal.sources.models import Sources
from newsportal.sources.parts import Politeness, Portal, Source
from newsportal.sources.places import Feed, Forum, Gallery, Region
from newsportal.sources.topics import Breadth, CustomEngine, Keywords, Topic, Wrapper
from newsportal.sources.uris import mask

__all__ = [
    "FILE_NAME",
    "Breadth",
    "CustomEngine",
    "Feed",
    "Forum",
    "Gallery",
    "Keywords",
    "Politeness",
    "Portal",
    "Region",
    "Source",
    "Sources",
    "Topic",
    "Wrapper",
    "find",
    "load",
    "mask",
    "parse",
]
