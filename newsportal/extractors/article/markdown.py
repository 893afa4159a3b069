"""Convert an article's sanitised HTML to Markdown (CommonMark with GFM tables): headings, lists, tables, code, quotes, links, images."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from newsportal.text import dom

ESCAPED: Final = re.compile(r"([\\`*_\[\]<>]|&(?=#?\w+;))")
AT_START: Final = re.compile(r"^(?:([#+>-])|(\d{1,9})([.)]))(?=\s|$)|^([=~-]{3,}|~~~)", re.MULTILINE)  # characters that would start a block
HEADINGS: Final = {f"h{level}": "#" * level for level in range(1, 7)}
MARKS: Final = {"em": "*", "i": "*", "strong": "**", "b": "**"}
PARTS: Final = frozenset(("thead", "tbody", "tfoot"))
MAX_COLUMNS: Final = 50  # maximum ``colspan``
ITEM_INDENT: Final = "  "
INLINE: Final = frozenset("a em strong b i br sub sup img code span".split())
MAX_NESTING: Final = 30  # of elements; deeper ones are written as plain text


def markdown_of(html: str, title: str | None = None) -> str:
    """Return the output of :func:`~newsportal.extractors.article.sanitise.sanitise` as Markdown, below ``title`` as its heading."""
    root = dom.parse_html(html)
    body = next(iter(root.iter("body")), root)
    head = [f"# {_escape(' '.join(title.split()))}"] if title and title.strip() else []
    return "\n\n".join([*head, *_blocks(body, 0)])


def _blocks(node: dom.Element, depth: int) -> list[str]:
    """Return the blocks of ``node`` in order, without blank lines around them; text between boxes becomes a paragraph."""
    if depth > MAX_NESTING:
        return [text] if (text := _escape(dom.text_of(node))) else []
    blocks: list[str] = []
    line = [_text(node.text)]

    def end_line() -> None:
        text = _line("".join(line))
        line.clear()
        if text:
            blocks.append(text)

    for child in node:
        if child.tag in INLINE:
            line.append(_inline(child, depth + 1))
        else:
            end_line()
            convert = BLOCKS.get(child.tag)
            blocks += _blocks(child, depth + 1) if convert is None else filter(None, [convert(child, depth + 1)])
        line.append(_text(child.tail))
    end_line()
    return blocks


def _line(text: str) -> str:
    """Return a paragraph's text with its line breaks, escaped so that it does not start another kind of block."""
    lines = "\n".join(" ".join(part.split()) for part in text.split("\\\n")).strip("\n")
    return AT_START.sub(_guard, lines).replace("\n", "\\\n")


def _guard(match: re.Match[str]) -> str:
    sign, number, dot, rule = match.groups()
    return f"{number}\\{dot}" if number else f"\\{sign or rule}"


def _text(text: str | None) -> str:
    return _escape(text.replace("\n", " ")) if text else ""


def _escape(text: str) -> str:
    return ESCAPED.sub(r"\\\1", text)


def _inline(node: dom.Element, depth: int) -> str:
    tag = node.tag
    if tag == "br":
        return "\\\n"
    if tag == "img":
        alt = " ".join(_escape(node.get("alt") or "").split())
        return f"![{alt}]({_address(node.get('src'))})" if node.get("src") else alt
    if tag == "code":
        # a code span; its fence has more backticks than any run in its text
        text = " ".join(node.text_content().split())
        ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
        pad = " " if text.startswith("`") or text.endswith("`") else ""
        return f"{ticks}{pad}{text}{pad}{ticks}" if text else ""
    inner = _escape(dom.text_of(node)) if depth > MAX_NESTING else _inner(node, depth)
    bare = _line(inner)
    if not bare:
        return inner
    before, after = inner[: len(inner) - len(inner.lstrip())], inner[len(inner.rstrip()) :]
    if tag == "a" and node.get("href"):
        return f"{before}[{bare}]({_address(node.get('href'))}){after}"
    mark = MARKS.get(tag, "") if "\\\n" not in bare and _may_be_marked(node, bare, before, after) else ""
    return f"{before}{mark}{bare}{mark}{after}"


def _may_be_marked(node: dom.Element, bare: str, before: str, after: str) -> bool:
    """Return whether emphasis would be parsed (CommonMark 6.2): not between punctuation and an outer letter, as in 「**注意：**各站」."""
    left, above = node.getprevious(), node.getparent()
    preceding = before or (above.text if left is None else left.tail) or ""
    following = after or node.tail or ""
    return (bare[0].isalnum() or not preceding[-1:].isalnum()) and (bare[-1].isalnum() or not following[:1].isalnum())


def _inner(node: dom.Element, depth: int) -> str:
    parts = [_text(node.text)]
    for child in node:
        parts += [_inline(child, depth + 1), _text(child.tail)]
    return "".join(parts)


def _address(url: str | None) -> str:
    url = (url or "").replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
    return f"<{url}>" if "(" in url or ")" in url else url


def _heading(node: dom.Element, depth: int) -> str:
    text = " ".join(_inner(node, depth).replace("\\\n", " ").split())
    return f"{HEADINGS[node.tag]} {text}" if text else ""


def _listing(node: dom.Element, depth: int) -> str:
    """Return a list; further blocks of an item are indented below the first."""
    items: list[str] = []
    for child in node:
        blocks = ["\n".join(_blocks(child, depth))] if child.tag in ("ul", "ol") else _blocks(child, depth)
        if not any(blocks):
            continue
        mark = f"{len(items) + 1}. " if node.tag == "ol" else "- "
        loose = "\n" if len(blocks) < 2 or blocks[1].startswith(("- ", "1. ")) else "\n\n"
        lines = loose.join(blocks).split("\n")
        items.append("\n".join([mark + lines[0], *(" " * len(mark) + line if line else "" for line in lines[1:])]))
    return "\n".join(items)


def _definitions(node: dom.Element, depth: int) -> str:
    """Return a definition list, which Markdown lacks: terms as bold lines, each with its definitions as a list."""
    entries: list[str] = []
    for child in node:
        blocks = _blocks(child, depth)
        if blocks and child.tag == "dt":
            entries.append(f"**{blocks[0].strip('*')}**" if "\n" not in blocks[0] else blocks[0])
        elif blocks:  # a dd
            entries.append("- " + "\n\n".join(blocks).replace("\n", "\n" + ITEM_INDENT).replace(f"\n{ITEM_INDENT}\n", "\n\n"))
    return "\n\n".join(entries)


def _quote(node: dom.Element, depth: int) -> str:
    text = "\n\n".join(_blocks(node, depth))
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n")) if text else ""


def _fence(node: dom.Element, depth: int) -> str:
    for line in node.iter("br"):
        line.tail = "\n" + (line.tail or "")
    text = node.text_content().strip("\n").rstrip()
    ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{ticks}\n{text}\n{ticks}" if text else ""


def _table(node: dom.Element, depth: int) -> str:
    """Return a GFM table, with the first row as header; a table with a single column is a layout: its cells become blocks."""
    blocks: list[str] = []
    rows: list[list[list[str]]] = []
    for row in (row for part in node for row in (part if part.tag in PARTS else [part])):
        if row.tag == "caption":
            blocks += _blocks(row, depth)
            continue
        cells: list[list[str]] = []
        for cell in row:
            cells += [_blocks(cell, depth), *[[]] * (min(int(cell.get("colspan") or 1), MAX_COLUMNS) - 1)]
        if any(cells):
            rows.append(cells)
    width = max(map(len, rows), default=0)
    if width == 1:
        return "\n\n".join([*blocks, *(block for (cell,) in rows for block in cell)])
    if rows:
        texts = ([" ".join(" ".join(cell).replace("\\\n", " ").split()).replace("|", "\\|") for cell in row] for row in rows)
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in texts]
        blocks.append("\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]]))
    return "\n\n".join(blocks)


BLOCKS: Final[dict[str, Callable[[dom.Element, int], str]]] = {
    **dict.fromkeys(HEADINGS, _heading),
    "ul": _listing,
    "ol": _listing,
    "dl": _definitions,
    "blockquote": _quote,
    "pre": _fence,
    "table": _table,
}
