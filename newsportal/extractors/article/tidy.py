"""Convert the body to markup: a copy of the smallest element that contains all of its text, in paragraphs, without anything else.

``div`` and ``section`` are not displayed, so boxes become paragraphs: otherwise their lines would run together.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np

from newsportal.errors import NotApplicable
from newsportal.extractors.article.blocks import LINE_BREAKS, SKIPPED, Blocks
from newsportal.extractors.article.body import Body
from newsportal.extractors.article.hints import is_aside
from newsportal.extractors.article.sanitise import TAGS, sanitise
from newsportal.extractors.images.article_images import source_of
from newsportal.items import Extraction, Image
from newsportal.text import CONTROL, dom

BOX_TAGS: Final = (dom.BREAKING_TAGS - LINE_BREAKS) | {"body"}
REPLACED_TAGS: Final = {"h1": "h2", "hr": "br"}
TABLE_PARTS: Final = frozenset(("thead", "tbody", "tfoot"))
LINE_TAGS: Final = frozenset("p h2 h3 h4 h5 h6".split())  # Elements that may not contain boxes: parsers would close them
DEPENDENT_TAGS: Final = frozenset("li dt dd td th caption".split())  # elements that are invalid outside their parents
MAX_CAPTION_CHARS: Final = 200  # an image box outside the text is kept if it has at most this many characters
LEAD_BLOCKS: Final = 3  # an image before the text is at most so many lines away


def copy_of(node: dom.Element) -> dom.Element:
    """Copy an element for editing: control characters, which parsers accept but trees reject, become spaces."""
    copy = dom.copy_of(node)
    copy.tail = None
    for inner in copy.iter():
        if inner.text and CONTROL.search(inner.text):
            inner.text = CONTROL.sub(" ", inner.text)
        if inner.tail and CONTROL.search(inner.tail):
            inner.tail = CONTROL.sub(" ", inner.tail)
    return copy


def markup_of(node: dom.Element) -> str:
    """Return ``node`` as HTML with boxes as paragraphs; the node is not changed."""
    copy = copy_of(node)
    separate_lines(copy)
    return dom.html_of(copy)


def separate_lines(top: dom.Element) -> None:
    """Change ``top`` and its descendants so that lines stay separate when boxes that are not displayed are removed. Linear."""
    if top.tag in DEPENDENT_TAGS:
        top.tag = "div"
    with_boxes: set[dom.Element | None] = set()
    for node in reversed(list(top.iter())):
        is_box, has_boxes = node.tag in BOX_TAGS, node in with_boxes
        if is_box or has_boxes:
            with_boxes.add(node.getparent())
        if node.tag in REPLACED_TAGS:  # setting a tag with control characters, as parsed from a PDF, would raise
            node.tag = REPLACED_TAGS[node.tag]
        if has_boxes and not is_box and node.tag not in TABLE_PARTS and node is not top:
            node.drop_tag()
        elif is_box and (node.tag not in TAGS or (has_boxes and node.tag in LINE_TAGS)):
            node.tag = "div" if has_boxes else "p"
            if has_boxes:
                run = node.makeelement("p")
                run.text, node.text = node.text, None
                runs: list[tuple[dom.Element | None, dom.Element]] = [(None, run)]
                for child in list(node):
                    if child.tag in BOX_TAGS or child.tag in TABLE_PARTS:
                        run = node.makeelement("p")
                        run.text, child.tail = child.tail, None
                        runs.append((child, run))
                    else:
                        run.append(child)
                for child, run in runs:
                    if not len(run) and (not run.text or run.text.isspace()):
                        continue
                    if child is None:
                        node.insert(0, run)
                    else:
                        child.addnext(run)


# HTML fragments of articles, as in feed entries.


def read_fragment(html: str, base: str) -> Extraction:
    """Return text, sanitised HTML and images of a fragment. Raises ``NotApplicable`` (``no-body``) if it has no text."""
    root = dom.parse_html(html)
    lines = dom.lines_of(root)
    if not lines:
        raise NotApplicable("no-body", "the feed's entry has no text")
    sources = dict.fromkeys(filter(None, (source_of(node, base) for node in root.iter("img"))))
    images = tuple(Image(url=url) for url in sources)
    return Extraction(text="\n".join(lines), html=sanitise(markup_of(root), base), images=images, algorithm="feed")


def tidy_body(body: Body) -> dom.Element:
    """Return a ``div`` with a copy of the body; the page's tree is not changed."""
    page = body.page
    wrapper = page.nodes[0].makeelement("div")
    top = _common_ancestor(page, body)
    if top is None:
        return wrapper
    boxes = _boxes_of_text(page, body, top)
    original = page.nodes[top]
    copy = copy_of(original)
    pairs = dict(zip(original.iter(), copy.iter(), strict=True))
    for node, tail in _dropped_parts(page, body, top, boxes):
        setattr(pairs[node], "tail" if tail else "text", None)
    for node in list(_dropped_nodes(page, top, boxes)):
        box = pairs[node]
        above, before, after = box.getparent(), box.getprevious(), box.getnext()
        following = box.tail if box.tail and not box.tail.isspace() else None
        inline = above.tag not in BOX_TAGS
        preceding = before.tail if before is not None else above.text
        text_before = bool(preceding and not preceding.isspace()) or (inline if before is None else before.tag not in BOX_TAGS)
        text_after = bool(following) or (inline if after is None else after.tag not in BOX_TAGS)
        if text_before and text_after:
            box.addprevious(box.makeelement("br"))
        box.drop_tree()
    for node in [node for node in copy.iter() if node.tag in SKIPPED]:
        if node.getparent() is not None:
            node.drop_tree()
    separate_lines(copy)
    wrapper.append(copy)
    return wrapper


def _common_ancestor(page: Blocks, body: Body) -> int | None:
    numbers = body.chosen.nonzero()[0]
    if not len(numbers):
        return None
    first, last = int(numbers[0]), int(numbers[-1])
    box = page.blocks[first].box
    while box > 0 and (page.nodes[box].tag == "tr" or not (page.start[box] <= first and last < page.end[box])):
        box = page.parent[box]
    return box


def _boxes_of_text(page: Blocks, body: Body, top: int) -> set[int]:
    """Return the boxes of the text, and those of images within or shortly before it, with captions."""
    boxes: set[int] = set()
    for block, chosen in zip(page.blocks, body.chosen, strict=True):
        box = block.box if chosen else -1
        while box >= 0 and box not in boxes:
            boxes.add(box)
            box = page.parent[box]
    numbers = body.chosen.nonzero()[0]
    first, last = max(int(numbers[0]) - LEAD_BLOCKS, page.start[top]), min(int(numbers[-1]) + 1, page.end[top])
    outermost: dict[int, int | None] = {}  # image box → outermost box around it, outside the text; ``None`` unless all are image boxes
    for _, box, number in page.pictures:
        if not first <= number <= last:
            continue
        chain = []
        while box > 0 and box != top and box not in boxes and box not in outermost:
            chain.append(box)
            box = page.parent[box]
        found = outermost.get(box) if box not in boxes else chain[-1] if chain else None
        for inner in reversed(chain):
            found = found if found is not None and _is_picture_box(page, inner) else None
            outermost[inner] = found
        if found is None:
            continue
        boxes.add(found)
        for below in range(found + 1, len(page.nodes)):
            if page.depth[below] <= page.depth[found]:
                break
            boxes.add(below)
    return boxes


def _is_picture_box(page: Blocks, box: int) -> bool:
    if page.end[box] - page.start[box] > MAX_CAPTION_CHARS or is_aside(page.mask[box]):
        return False  # every block has a character
    blocks = page.blocks[page.start[box] : page.end[box]]
    return sum(block.length for block in blocks) <= MAX_CAPTION_CHARS and not any(block.linked > block.length / 2 for block in blocks)


def _dropped_parts(page: Blocks, body: Body, top: int, boxes: set[int]) -> Iterator[tuple[dom.Element, bool]]:
    """Yield the text nodes of dropped blocks in boxes that contain text; image boxes without text keep their captions."""
    shared = {part for block, chosen in zip(page.blocks, body.chosen, strict=True) if chosen for part in block.parts}
    so_far = np.concatenate([[0], np.cumsum(body.chosen)])  # scanning a box's blocks for each of them would be quadratic
    for number in range(page.start[top], page.end[top]):
        block = page.blocks[number]
        if not body.chosen[number] and block.box in boxes and so_far[page.end[block.box]] > so_far[page.start[block.box]]:
            yield from (part for part in block.parts if part not in shared)


def _dropped_nodes(page: Blocks, top: int, boxes: set[int]) -> Iterator[dom.Element]:
    for box in range(top + 1, len(page.nodes)):
        if page.start[box] >= page.end[top] and page.depth[box] <= page.depth[top]:
            break
        if box not in boxes and page.parent[box] in boxes:
            yield page.nodes[box]
