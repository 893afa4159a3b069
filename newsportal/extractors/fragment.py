"""An article's HTML without a page around it: what a feed carries of its entries."""

from __future__ import annotations

from newsportal import dom
from newsportal.errors import NotApplicable
from newsportal.extractors.images import source_of
from newsportal.extractors.paragraphs import markup_of
from newsportal.extractors.sanitise import sanitise
from newsportal.items import Extraction, Image


def read(html: str, base: str) -> Extraction:
    """Text, sanitised HTML and pictures of a fragment. Raises ``NotApplicable`` (``no-body``) if it holds no text."""
    root = dom.parse_html(html)
    lines = dom.lines_of(root)
    if not lines:
        raise NotApplicable("no-body", "the feed's entry holds no text")
    sources = dict.fromkeys(filter(None, (source_of(node, base) for node in root.iter("img"))))
    images = tuple(Image(url=url) for url in sources)
    return Extraction(text="\n".join(lines), html=sanitise(markup_of(root), base), images=images, algorithm="feed")
