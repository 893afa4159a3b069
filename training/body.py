"""The body of a story as HTML in the styles of real sites, with the parts that they insert between its paragraphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from random import Random

from training.prose import Piece, Voice
from training.skin import Skin

Render = Callable[[Skin, str], str]
"""Renders the HTML of a paragraph (already escaped, with indent) as an element or a line of the body."""

INDENTS = ("", "", "", "　　", "　　", "&nbsp;&nbsp;&nbsp;&nbsp;", "&emsp;&emsp;", "\u3000 ")
STYLES = ("", "", "", ' style="text-indent:2em"', ' align="left"', ' class="MsoNormal"', ' style="line-height:150%;margin:0"')


def _p(skin: Skin, inner: str) -> str:
    return skin.el("p", inner, skin.names.setdefault("p's style", skin.rng.choice(STYLES)))


def _mixed(skin: Skin, inner: str) -> str:
    """Put some paragraphs in elements, others bare between two breaks, as in hand-written pages."""
    return skin.el("br") + _two_breaks(skin, inner) if skin.rng.random() < 0.4 else _p(skin, inner)


def _font_p(skin: Skin, inner: str) -> str:
    return skin.el("p", skin.el("font", inner, ' size="3"'))


def _span_p(skin: Skin, inner: str) -> str:
    return skin.el("p", skin.el("span", inner, ' style="font-size:14pt"'))


def _div(skin: Skin, inner: str) -> str:
    return skin.el("div", inner, skin.named("para"))


def _deep(skin: Skin, inner: str) -> str:
    return skin.el("div", skin.el("div", skin.el("p", inner)), skin.named("para"))


def _section(skin: Skin, inner: str) -> str:
    return skin.el("section", skin.el("span", inner))


def _row(skin: Skin, inner: str) -> str:
    return skin.el("tr", skin.el("td", inner))


def _two_breaks(skin: Skin, inner: str) -> str:
    return f"{inner}{skin.el('br')}{skin.el('br')}{skin.feed}"


def _one_break(skin: Skin, inner: str) -> str:
    return f"{inner}{skin.el('br')}{skin.feed}"


def _span_break(skin: Skin, inner: str) -> str:
    return f"{skin.el('span', inner)}{skin.el('br')}"


RENDERS: dict[Render, int] = {
    _p: 50,
    _two_breaks: 12,
    _one_break: 9,
    _font_p: 4,
    _span_p: 6,
    _div: 7,
    _deep: 4,
    _section: 3,
    _row: 3,
    _span_break: 2,
}
"""Percentage of sites that render paragraphs this way."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How this page renders its body."""

    skin: Skin
    voice: Voice
    render: Render
    indent: str
    linked: float
    fences: tuple[Callable[[], str], ...] = ()

    @property
    def rng(self) -> Random:
        return self.skin.rng


def a_manner(skin: Skin, voice: Voice, fences: tuple[Callable[[], str], ...] = ()) -> Manner:
    """Return a random manner. ``fences`` make the parts between paragraphs (advertisements, links to other stories)."""
    rng = skin.rng
    render = rng.choices(list(RENDERS), list(RENDERS.values()))[0]
    if skin.unclosed and render in (_two_breaks, _one_break, _span_break):
        render = _p  # an open <p> before bare text would enclose it
    elif render is _p and not skin.unclosed and rng.random() < 0.06:
        render = _mixed
    return Manner(skin, voice, render, "" if voice.spaced else rng.choice(INDENTS), rng.choice((0, 0, 0.1, 0.4)), fences)


def body_html(manner: Manner, pieces: list[Piece]) -> str:
    """Return all pieces with the parts between them, in one box or in several."""
    rng, skin = manner.rng, manner.skin
    between = _interruptions(manner)
    rate = rng.choice((0, 0, 0.05, 0.1, 0.25)) if len(pieces) > 1 else 0.3
    parts: list[str] = [rng.choice(between)(manner, pieces)] if between and rng.random() < 0.35 else []
    for piece in pieces:
        parts.append(_PIECES[piece.kind](manner, piece))
        if between and rng.random() < rate:
            parts.append(rng.choice(between)(manner, pieces))
    if manner.render is _row:
        return skin.el("table", "".join(part if part.lower().startswith("<tr") else _row(skin, part) for part in parts))
    if manner.render in (_p, _div, _deep) and len(parts) > 4 and rng.random() < 0.12:
        cuts = sorted({0, *rng.choices(range(1, len(parts)), k=rng.randint(1, 4)), len(parts)})
        return "".join(skin.el("div", "".join(parts[a:b]), skin.named("part")) for a, b in pairwise(cuts))
    return "".join(parts)


def inline(manner: Manner, text: str) -> str:
    """Return escaped text, sometimes with a link, a bold word or a span in it."""
    rng = manner.rng
    if len(text) < 12 or rng.random() >= manner.linked:
        return escape(text, quote=False)
    start = rng.randint(0, len(text) - 8)
    end = start + rng.randint(2, 8)
    if manner.voice.spaced:  # whole words
        start = text.rfind(" ", 0, start) + 1
        end = text.find(" ", end) if " " in text[end:] else len(text)
    before, word, after = (escape(part, quote=False) for part in (text[:start], text[start:end], text[end:]))
    tag, attributes = rng.choice((("a", ' href="/tag/1" target="_blank"'), ("strong", ""), ("span", ' class="key"'), ("em", ""), ("b", "")))
    return f"{before}<{tag}{attributes}>{word}</{tag}>{after}"


def _paragraph(manner: Manner, piece: Piece) -> str:
    return manner.render(manner.skin, manner.indent + inline(manner, piece.lines[0]))


def _heading(manner: Manner, piece: Piece) -> str:
    skin, text = manner.skin, escape(piece.lines[0], quote=False)
    if manner.render in (_p, _deep, _section) and manner.rng.random() < 0.6:
        return skin.el(skin.names.setdefault("subhead", manner.rng.choice(("h2", "h3", "h4"))), text)
    return manner.render(skin, manner.indent + skin.el("strong", text).strip())


def _list(manner: Manner, piece: Piece) -> str:
    skin = manner.skin
    kind = manner.rng.choice(("ul", "ul", "ol", ""))
    if not kind:
        return "".join(manner.render(skin, manner.indent + escape(line, quote=False)) for line in piece.lines)
    return skin.el(kind, "".join(skin.el("li", inline(manner, line)) for line in piece.lines))


def _table(manner: Manner, piece: Piece) -> str:
    skin = manner.skin
    rows = (skin.el("tr", "".join(skin.el("td", escape(cell, quote=False)) for cell in row)) for row in piece.rows)
    return skin.el("table", "".join(rows), manner.rng.choice(("", ' border="1"', ' class="tb" width="90%"')))


def _quote(manner: Manner, piece: Piece) -> str:
    skin = manner.skin
    inner = "".join(skin.el("p", escape(line, quote=False)) for line in piece.lines)
    return skin.el("blockquote", inner, manner.rng.choice(("", ' class="quote"')))


def _lead(manner: Manner, piece: Piece) -> str:
    skin, text = manner.skin, escape(piece.lines[0], quote=False)
    return skin.el(manner.rng.choice(("p", "div", "blockquote")), text, skin.named("summary"))


def _post(manner: Manner, piece: Piece) -> str:
    """Return an embedded post of a social network: its text and author are part of the story."""
    text, by = (escape(line, quote=False) for line in piece.lines)
    return manner.skin.el("blockquote", manner.skin.el("p", text) + manner.skin.el("div", by), ' class="embedded-post"')


_PIECES: dict[str, Callable[[Manner, Piece], str]] = {
    "p": _paragraph,
    "h": _heading,
    "list": _list,
    "table": _table,
    "quote": _quote,
    "lead": _lead,
    "post": _post,
}


def _picture(manner: Manner, pieces: list[Piece]) -> str:
    """Return a picture, with a caption in one of several markups or only with ``alt``."""
    skin, rng, voice = manner.skin, manner.rng, manner.voice
    caption = escape(voice("caption"), quote=True)
    attributes = (' alt=""', f' alt="{caption}"', "", ' width="500" border=0')
    img = skin.el("img", "", f' src="/p/{rng.randint(1, 99999)}.jpg"' + rng.choice(attributes))
    kind = rng.random()
    if skin.era == "semantic" and kind < 0.6:
        return skin.el("figure", img + skin.el("figcaption", caption, skin.named("caption")))
    if kind < 0.45:
        return skin.el("p", img, ' align="center"')
    if kind < 0.6:
        return skin.el("p", img + skin.el("br") + skin.el("font", caption, ' size="2" color="#666666"'), ' align="center"')
    if kind < 0.75:
        return skin.el("center", img) + skin.el("p", caption, ' style="text-align:center;font-size:12px"')
    return skin.el("div", img + skin.el("div", caption, skin.named("caption")))


def _pull_quote(manner: Manner, pieces: list[Piece]) -> str:
    """Return a sentence of the story repeated in large letters: not part of the text."""
    lines = [line for piece in pieces if piece.kind == "p" for line in piece.lines if len(line) > 30]
    if not lines:
        return ""
    line = manner.rng.choice(lines)
    return manner.skin.el("aside", escape(line[: max(20, len(line) // 2)], quote=False), ' class="pullquote"')


def _player(manner: Manner, pieces: list[Piece]) -> str:
    skin = manner.skin
    tag = manner.rng.choice(("button", "span", "div"))
    return skin.el("div", "".join(skin.el(tag, label) for label in manner.voice.many("video", 3, 8)), skin.named("video"))


def _other_story(manner: Manner, pieces: list[Piece]) -> str:
    return manner.skin.el("p", manner.skin.link(manner.voice("more_here")))


def _call(manner: Manner, pieces: list[Piece]) -> str:
    return manner.skin.el(manner.rng.choice(("p", "div")), escape(manner.voice(manner.rng.choice(("more", "letter"))), quote=False))


def _nothing(manner: Manner, pieces: list[Piece]) -> str:
    return manner.skin.el("p", manner.rng.choice(("&nbsp;", "", "　　", "")))


def _fence(manner: Manner, pieces: list[Piece]) -> str:
    return manner.rng.choice(manner.fences)() if manner.fences else ""


INTERRUPTIONS = (_picture, _picture, _picture, _picture, _nothing, _fence, _pull_quote, _player, _other_story, _call)


def _interruptions(manner: Manner) -> list[Callable[[Manner, list[Piece]], str]]:
    """Return the one to three kinds of parts that this site puts between its paragraphs, or none."""
    return manner.rng.sample(INTERRUPTIONS, manner.rng.choice((0, 1, 1, 2, 3)))
