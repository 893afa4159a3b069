"""A body as lines that an editor types, and lines as a body again. Pure.

Every paragraph is a line, a heading a line that begins with ``##``. What is no plain text (pictures, tables, lists, quotations) is a line
``⟦3⟧ …``: it may be moved or deleted as a whole, and comes back as it was. Paragraphs that nobody touched keep their markup (links,
emphasis); what is typed is text alone, whatever it looks like, so no markup comes in this way.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from newsportal.extractors.article.sanitise import sanitise
from newsportal.items import Image
from newsportal.text import dom

HEADING: Final = re.compile(r"h[2-6]")
TYPED_HEADING: Final = re.compile(r"##+\s*(?=\S)")
TYPED_MARK: Final = re.compile(r"⟦\s*(\d{1,5})\s*⟧")
PLAIN: Final = frozenset(("p", "div", "span", "a", "em", "strong", "b", "i", "sub", "sup"))
"""Elements that are text if they hold no picture."""

SAID: Final = 40  # characters of what a part holds that its line shows


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a body: its markup, its text (a paragraph a line), the addresses of its pictures. ``number``: of one that is typed as
    ``⟦number⟧``; ``typed``: what stands for it."""

    html: str
    lines: tuple[str, ...]
    typed: tuple[str, ...]
    number: int | None = None
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """What came of typed lines. ``pictures``: their addresses, in order."""

    text: str
    html: str
    pictures: tuple[str, ...]


def blocks_of(html: str | None, text: str, images: Sequence[Image], base: str) -> list[Block]:
    """The parts of an article's body; pictures that do not stand in it come last, so that they can be taken out as well."""
    body = sanitise(html, base) if html else "".join(f"<p>{escape(line)}</p>" for line in text.splitlines() if line.strip())
    told = set(text.splitlines())
    found: list[Block] = []
    for markup in _parts(body):
        found.append(_block(markup, sum(block.number is not None for block in found) + 1, told))
    shown = {address for block in found for address in block.pictures}
    for image in images:
        if image.url not in shown:
            caption = f"<figcaption>{escape(image.caption)}</figcaption>" if image.caption else ""
            figure = sanitise(f'<figure><img src="{escape(image.url)}" alt="">{caption}</figure>', base)
            found.append(_block(figure, sum(block.number is not None for block in found) + 1, told))
    return [block for block in found if block.typed]


def typed(blocks: Sequence[Block]) -> str:
    """The lines that an editor gets to change."""
    return "\n".join(line for block in blocks for line in block.typed)


def read(lines: str, blocks: Sequence[Block], base: str) -> Body:
    """The body that typed lines make of the parts there were. Raises ``ValueError`` (the mark) for a part that is not there."""
    by_number = {block.number: block for block in blocks if block.number is not None}
    plain: dict[str, list[Block]] = defaultdict(list)
    for block in blocks:
        if block.number is None:
            plain[block.typed[0]].append(block)
    written = [line for line in map(str.strip, lines.splitlines()) if line]
    chosen, place = list[Block](), 0
    while place < len(written):
        block = _unchanged_block(written, place, plain) or _marked(written[place], by_number) or _new(written[place])
        chosen.append(block)
        place += max(1, len(block.typed))
    html = sanitise("\n".join(block.html for block in chosen), base)
    pictures = tuple(dict.fromkeys(address for block in chosen for address in block.pictures))
    return Body("\n".join(line for block in chosen for line in block.lines), html, pictures)


def _unchanged_block(written: Sequence[str], place: int, plain: dict[str, list[Block]]) -> Block | None:
    """The part that stands there as it was; each is taken once."""
    for block in plain.get(written[place], ()):
        if tuple(written[place : place + len(block.typed)]) == block.typed:
            plain[written[place]].remove(block)
            return block
    return None


def _marked(line: str, by_number: dict[int, Block]) -> Block | None:
    mark = TYPED_MARK.match(line)
    if mark is None:
        return None
    block = by_number.get(int(mark[1]))
    if block is None:
        raise ValueError(mark[0])
    return Block(block.html, block.lines, (line,), block.number, block.pictures)


def _new(line: str) -> Block:
    heading = TYPED_HEADING.match(line)
    told = line[heading.end() :] if heading else line
    name = "h2" if heading else "p"
    return Block(f"<{name}>{escape(told)}</{name}>", (told,), (line,))


def _parts(body: str) -> Iterator[str]:
    """The markup of the topmost elements; loose text is a paragraph."""
    for top in dom.css(dom.parse_html(f"<div>{body}</div>"), "body > div")[:1]:
        if top.text and top.text.strip():
            yield f"<p>{escape(top.text.strip())}</p>"
        for node in top:
            yield dom.html_of(node)
            if node.tail and node.tail.strip():
                yield f"<p>{escape(node.tail.strip())}</p>"


def _block(markup: str, number: int, told: set[str]) -> Block:
    root = dom.parse_html(f"<div>{markup}</div>")
    node = dom.css(root, "body > div > *")[0]
    lines, pictures = tuple(dom.lines_of(node)), tuple(str(one) for one in dom.xpath(node, "descendant-or-self::img/@src"))
    name = str(node.tag)
    if not pictures and HEADING.fullmatch(name):
        return Block(markup, lines, tuple(f"## {line}" for line in lines))
    if not pictures and name in PLAIN:
        return Block(markup, lines, lines)
    if not lines and not pictures:
        return Block(markup, (), ())
    captions = [*lines, *(str(one) for one in dom.xpath(node, "descendant-or-self::img/@alt"))]
    said = " ".join(captions)[:SAID]
    return Block(markup, tuple(line for line in lines if line in told), (f"⟦{number}⟧ {said}".strip(),), number, pictures)
