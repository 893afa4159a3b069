"""The text of an article as HTML in the style of a site: paragraphs, nested boxes, line breaks, or semantic elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import groupby

from madeup.stories import Block

Image = tuple[str, str]
"""URL and caption."""

Body = Callable[[Sequence[Block], Sequence[Image]], str]


def _table(rows: Iterable[Block]) -> str:
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row.cells) + "</tr>" for row in rows)
    return f'<table border="1" class="data">{lines}</table>'


def _groups(blocks: Sequence[Block]) -> Iterator[tuple[str, list[Block]]]:
    for kind, group in groupby(blocks, key=lambda block: block.kind):
        yield kind, list(group)


def _with_images(pieces: list[str], images: Sequence[Image], figure: Callable[[Image], str]) -> str:
    """Insert the first picture after the first paragraph, the others at equal distances."""
    step = max(1, len(pieces) // (len(images) or 1))
    for index in reversed(range(len(images))):
        pieces.insert(min(1 + index * step, len(pieces)), figure(images[index]))
    return "\n".join(pieces)


def paragraphs(blocks: Sequence[Block], images: Sequence[Image], indent: str = "　　") -> str:
    """Return ``<p>`` elements with two ideographic spaces in front, pictures as centred paragraphs with the caption below."""
    pieces: list[str] = []
    for kind, group in _groups(blocks):
        if kind == "row":
            pieces.append(_table(group))
        elif kind == "h":
            pieces += [f"<p><strong>{escape(block.text)}</strong></p>" for block in group]
        else:
            pieces += [f"<p>{indent}{escape(block.text)}</p>" for block in group]

    def figure(image: Image) -> str:
        return f'<p align="center"><img src="{image[0]}" alt=""></p><p align="center"><font size="2">{escape(image[1])}</font></p>'

    return _with_images(pieces, images, figure)


def flush(blocks: Sequence[Block], images: Sequence[Image]) -> str:
    """Return paragraphs without indent."""
    return paragraphs(blocks, images, indent="")


def boxes(blocks: Sequence[Block], images: Sequence[Image]) -> str:
    """Return a ``div`` with a ``span`` per paragraph, and an advertisement in the middle."""
    pieces = []
    for kind, group in _groups(blocks):
        if kind == "row":
            pieces.append(f'<div class="tb">{_table(group)}</div>')
        else:
            pieces += [f'<div class="{kind}"><span>{escape(block.text)}</span></div>' for block in group]
    if len(pieces) > 3:
        pieces.insert(len(pieces) // 2, '<div class="ad"><script>showAd("in-article")</script></div>')

    def figure(image: Image) -> str:
        return f'<div class="pic"><img src="{image[0]}" width="480" height="300" /><div class="cap">{escape(image[1])}</div></div>'

    return _with_images(pieces, images, figure)


def breaks(blocks: Sequence[Block], images: Sequence[Image]) -> str:
    """Return one element whose lines are separated by two breaks."""
    pieces = []
    for kind, group in _groups(blocks):
        pieces += [_table(group)] if kind == "row" else [f"&nbsp;&nbsp;&nbsp;&nbsp;{escape(block.text)}<br><br>" for block in group]
    return _with_images(pieces, images, lambda image: f'<img src="{image[0]}"><br>{escape(image[1])}<br><br>')


def semantic(blocks: Sequence[Block], images: Sequence[Image]) -> str:
    """Return lists, quotations, headings, tables and figures as semantic HTML; pictures are lazy-loaded."""
    pieces = []
    for kind, group in _groups(blocks):
        texts = [escape(block.text) for block in group]
        if kind == "row":
            pieces.append(_table(group))
        elif kind == "li":
            pieces.append("<ul>" + "".join(f"<li>{text}</li>" for text in texts) + "</ul>")
        elif kind == "quote":
            pieces.append("<blockquote>" + "".join(f"<p>{text}</p>" for text in texts) + "</blockquote>")
        else:
            tag = "h2" if kind == "h" else "p"
            pieces += [f"<{tag}>{text}</{tag}>" for text in texts]

    def figure(image: Image) -> str:
        blank = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
        picture = f'<img src="{blank}" data-src="{image[0]}" loading="lazy" width="480" height="300" alt="{escape(image[1])}">'
        return f"<figure>{picture}<figcaption>{escape(image[1])}</figcaption></figure>"

    return _with_images(pieces, images, figure)


BODIES: dict[str, Body] = {"paragraphs": paragraphs, "flush": flush, "boxes": boxes, "breaks": breaks, "semantic": semantic}
