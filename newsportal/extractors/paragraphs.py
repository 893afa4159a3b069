"""Boxes as paragraphs: a page's ``div`` and ``section`` are not shown, so the lines they part would run together without them."""

from __future__ import annotations

from typing import Final

from newsportal import dom
from newsportal.errors import NotApplicable
from newsportal.extractors.blocks import LINE_BREAKS
from newsportal.extractors.images import source_of
from newsportal.extractors.sanitise import TAGS, sanitise
from newsportal.items import Extraction, Image
from newsportal.text import CONTROL

BOXES: Final = (dom.BREAKING - LINE_BREAKS) | {"body"}
SHOWN_AS: Final = {"h1": "h2", "hr": "br"}
TABLE: Final = frozenset(("thead", "tbody", "tfoot"))
OF_ONE_LINE: Final = frozenset("p h2 h3 h4 h5 h6".split())
"""Elements that may hold no boxes: parsers would end them there."""

LOST_ALONE: Final = frozenset("li dt dd td th caption".split())  # elements that are nothing without what stands around them


def copy_of(node: dom.Element) -> dom.Element:
    """A copy whose text may be moved about: control characters, which parsers let in and trees refuse, become spaces."""
    copy = dom.copy_of(node)
    copy.tail = None
    for inner in copy.iter():
        if inner.text and CONTROL.search(inner.text):
            inner.text = CONTROL.sub(" ", inner.text)
        if inner.tail and CONTROL.search(inner.tail):
            inner.tail = CONTROL.sub(" ", inner.tail)
    return copy


def markup_of(node: dom.Element) -> str:
    """``node`` as HTML in which boxes are paragraphs; the node is left as it is."""
    copy = copy_of(node)
    with_paragraphs(copy)
    return dom.html_of(copy)


def drop_box(box: dom.Element) -> None:
    """Take a box away; lines that it parts do not run together."""
    above, before, after = box.getparent(), box.getprevious(), box.getnext()
    said = box.tail if box.tail and not box.tail.isspace() else None
    in_line = above.tag not in BOXES
    led = before.tail if before is not None else above.text
    begun = bool(led and not led.isspace()) or (in_line if before is None else before.tag not in BOXES)
    goes_on = bool(said) or (in_line if after is None else after.tag not in BOXES)
    if begun and goes_on:
        box.addprevious(box.makeelement("br"))
    box.drop_tree()


def with_paragraphs(top: dom.Element) -> None:
    """Change ``top`` and what is below so that every line stays one when boxes that are not shown are taken away. Linear."""
    if top.tag in LOST_ALONE:
        top.tag = "div"
    holding: set[dom.Element | None] = set()
    for node in reversed(list(top.iter())):
        is_box, holds = node.tag in BOXES, node in holding
        if is_box or holds:
            holding.add(node.getparent())
        if node.tag in SHOWN_AS:  # setting a tag of control characters, as they come of a PDF, would raise
            node.tag = SHOWN_AS[node.tag]
        if holds and not is_box and node.tag not in TABLE and node is not top:
            node.drop_tag()
        elif is_box and (node.tag not in TAGS or (holds and node.tag in OF_ONE_LINE)):
            node.tag = "div" if holds else "p"
            if holds:
                _wrap(node)


def _wrap(box: dom.Element) -> None:
    """Each run of text between the boxes in ``box`` into a paragraph."""
    run = box.makeelement("p")
    run.text, box.text = box.text, None
    runs: list[tuple[dom.Element | None, dom.Element]] = [(None, run)]
    for child in list(box):
        if child.tag in BOXES or child.tag in TABLE:
            run = box.makeelement("p")
            run.text, child.tail = child.tail, None
            runs.append((child, run))
        else:
            run.append(child)
    for child, run in runs:
        if not len(run) and (not run.text or run.text.isspace()):
            continue
        if child is None:
            box.insert(0, run)
        else:
            child.addnext(run)


# An article's HTML without a page around it: what a feed carries of its entries.


def read_fragment(html: str, base: str) -> Extraction:
    """Text, sanitised HTML and pictures of a fragment. Raises ``NotApplicable`` (``no-body``) if it holds no text."""
    root = dom.parse_html(html)
    lines = dom.lines_of(root)
    if not lines:
        raise NotApplicable("no-body", "the feed's entry holds no text")
    sources = dict.fromkeys(filter(None, (source_of(node, base) for node in root.iter("img"))))
    images = tuple(Image(url=url) for url in sources)
    return Extraction(text="\n".join(lines), html=sanitise(markup_of(root), base), images=images, algorithm="feed")
