"""A part of the made-up Web for tests of faults, which need a crawl that takes seconds, and not all that a site may be like."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from madeup import MadeUpWeb

SITES = ("海棠都市网", "溪峰在线", "北辰财经", "潮音周刊")
"""Lists of several pages, three encodings, a feed whose entries share one link; none asks for a delay."""


def few(web: MadeUpWeb, path: Path, topics: int = 0) -> Path:
    """A sources file with the feeds and regions of :data:`SITES`, and so many topics with all engines."""
    written = web.sources(path)
    values = yaml.safe_load(written.read_text("utf-8"))
    kept = {key: [source for source in values[key] if source["name"].startswith(SITES)] for key in ("feeds", "regions")}
    kept |= {"topics": values["topics"][:topics], "engines": values["engines"] if topics else []}
    written.write_text(yaml.safe_dump(values | kept, allow_unicode=True), "utf-8")
    return written
