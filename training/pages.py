"""Made-up article pages with their gold, for training and testing: every page is a separate site.

Nothing is taken from a real page. Parts are combined at random: the HTML style of a site (:mod:`training.skin`), its body
(:mod:`training.body`), the parts around it (:mod:`training.around`) and the story (:mod:`training.prose`).

Gold has a line for each line of text of the body: paragraphs, agency leads, subheads, items, cells of tables, quotes and embedded posts; a
summary inside the body's box. Not in gold: title, bylines, captions, a summary above the body's box, pull quotes (repetitions), labels of
players, links to other stories, editors' tails, notes, biographies, comments.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from random import Random

from training.around import AFTER, BEFORE, BELOW, SIDE, TOP, Desk, Maker, advertisement, byline, cards, footer, hidden_copy, related, share
from training.body import a_manner, body_html
from training.prose import Piece, a_voice, about_one_topic, story
from training.skin import a_skin

FIRST_DAY = datetime(2003, 1, 1)  # noqa: DTZ001 - dates of made-up pages carry no zone, as those on real ones
DAYS = 8400  # to the end of 2025


@dataclass(frozen=True, slots=True)
class MadeUpPage:
    """A page and its gold. ``text`` has a line per paragraph, ``date`` is a day in ISO form, ``None`` if neither the page nor its URL has
    one."""

    id: str
    url: str
    html: str
    title: str
    text: str
    date: str | None
    author: str | None


def made_up_pages(count: int, seed: int) -> Iterator[MadeUpPage]:
    """Yield ``count`` pages, the same for the same seed; page ``n`` does not depend on ``count``."""
    for number in range(count):
        yield made_up_page(f"{seed}-{number:05d}", Random(f"{seed}/{number}"))  # noqa: S311 - chance, not secrecy


def made_up_page(name: str, rng: Random) -> MadeUpPage:
    desk = _desk(rng)
    header, inside = _summary(desk)
    pieces = inside + _with_posts(desk)
    content = _content(desk, pieces)
    page = _frame(desk, header, content)
    html = _head(desk, pieces) + page + ("" if rng.random() < 0.05 else "</body></html>")
    url = _url(desk)
    forms = ("%Y/%m%d", "%Y%m%d", "%Y/%m/%d")
    dated = desk.date() in html or desk.when.isoformat() in html or any(desk.when.strftime(form) in url for form in forms)
    return MadeUpPage(
        id=name,
        url=url,
        html=html,
        title=desk.title,
        text="\n".join(line for piece in pieces for line in piece.lines),
        date=desk.when.date().isoformat() if dated else None,
        author=desk.author if desk.author in html else None,
    )


def _desk(rng: Random) -> Desk:
    voice = a_voice(rng)
    when = FIRST_DAY + timedelta(days=rng.randint(0, DAYS), minutes=rng.randint(300, 1380))
    topical = about_one_topic(voice)
    return Desk(voice, topical, a_skin(rng), topical("title"), voice("press"), voice("writer"), when, story(topical))


def _url(desk: Desk) -> str:
    site = f"{desk.rng.choice(('news', 'www', 'm', 'finance', 'paper'))}.site{desk.rng.randint(1, 99999)}.example"
    number = desk.rng.randint(1000, 9_999_999)
    path = desk.rng.choice((f"%Y/%m%d/{number}.html", f"a/%Y%m%d/{number}.shtml", f"show.asp?id={number}", f"%Y/%m/%d/story-{number}/"))
    return f"https://{site}/{desk.when.strftime(path)}"


def _summary(desk: Desk) -> tuple[str, list[Piece]]:
    """Return a summary above the body's box (not gold), or inside it (gold), or none."""
    kind = desk.rng.random()
    first = desk.pieces[0].lines[0]
    text = desk.topical("summary") if desk.rng.random() < 0.75 else first[: max(20, len(first) // 2)]
    if kind < 0.12:
        return desk.skin.box("summary", escape(text, quote=False)), []
    return "", [Piece("lead", ((text,),))] if kind < 0.2 else []


def _with_posts(desk: Desk) -> list[Piece]:
    """Return the story, sometimes with posts of a social network between its paragraphs."""
    pieces = list(desk.pieces)
    if desk.rng.random() < 0.06 and len(pieces) > 2:
        for _ in range(desk.rng.randint(1, 3)):
            by = f"— {desk.voice('person')} (@{desk.rng.randint(100, 9999)}) {desk.other_date()}"
            pieces.insert(desk.rng.randint(1, len(pieces) - 1), Piece("post", ((desk.topical("quote") + "!",), (by,))))
    return pieces


def _some(desk: Desk, makers: tuple[Maker, ...], least: int, most: int) -> str:
    selected = desk.rng.sample(makers, min(desk.rng.randint(least, most), len(makers)))
    return "".join(make(desk) for make in selected)


def _content(desk: Desk, pieces: list[Piece]) -> str:
    """Return the body's box, with other parts that sites put in the same box."""
    rng, skin = desk.rng, desk.skin
    fences = tuple((lambda make=make: make(desk)) for make in rng.sample((advertisement, related, share, cards), 2))
    body = body_html(a_manner(skin, desk.topical, fences), pieces)
    if rng.random() < 0.25:  # an additional box around the body alone
        body = skin.el("div", body, skin.named("text"))
    if rng.random() < 0.06:
        body += hidden_copy(desk)
    inner = _some(desk, BEFORE, 0, rng.choice((0, 0, 1, 2))) + body + _some(desk, AFTER, 0, rng.choice((0, 1, 2, 4)))
    kind = rng.random()
    if kind < 0.04:
        return skin.el("form", skin.box("body", inner), ' method="post" action="#"')
    if kind < 0.13:  # no separate box: the body is directly in the element with the page's parts
        return inner
    if skin.era == "tables" and kind < 0.5:
        return skin.el("table", skin.el("tr", skin.el("td", inner, skin.named("body"))), ' width="96%"')
    if kind < 0.75:
        return skin.el("div", inner, skin.named("body"))
    return skin.box("body", inner)


def _heading(desk: Desk) -> str:
    skin, title = desk.skin, escape(desk.title, quote=False)
    if skin.era == "tables":
        form = desk.rng.choice((f"<b>{title}</b>", f'<font size="5">{title}</font>', f"<strong>{title}</strong>", f"<h1>{title}</h1>"))
        return desk.rng.choice((skin.el("div", form, ' align="center"'), skin.box("title", form), skin.el("center", form)))
    return skin.el(desk.rng.choices(("h1", "h2", "div", "p"), (75, 12, 9, 4))[0], title, skin.named("title"))


def _frame(desk: Desk, header: str, content: str) -> str:
    """Return the visible page: parts above, the article with its heading, a side column before or after, parts below, footer."""
    rng, skin = desk.rng, desk.skin
    heading = [_heading(desk), *(byline(desk) for _ in range(rng.choices((0, 1, 2), (8, 84, 8))[0]))]
    if rng.random() < 0.1:
        heading.reverse()
    opening = "".join(heading) + _some(desk, BEFORE, 0, rng.choice((0, 1, 2))) + header
    near = _some(desk, BELOW, 0, 4)
    if rng.random() < 0.2:
        article = skin.box("article", opening) + skin.box("article", content + near)
    else:
        article = skin.box("article", opening + _nested(desk, content) + near)
    main = _columns(desk, article)
    below = _some(desk, BELOW, 0, 3) + (footer(desk) if rng.random() < 0.9 else "")
    hidden = hidden_copy(desk) if rng.random() < 0.06 else ""
    page = _nested(desk, _some(desk, TOP, 0, 8) + hidden + _nested(desk, main) + below + _state(desk))
    kind = rng.random()
    if kind < 0.06:
        return skin.el("form", page, ' name="form1" method="post" id="form1"')
    return skin.box("page", page) if kind < 0.5 else page


def _nested(desk: Desk, html: str) -> str:
    """Wrap ``html`` in additional boxes, as sites accumulate them over the years."""
    for _ in range(desk.rng.choice((0, 0, 1, 1, 2, 3, 4))):
        html = desk.skin.box("page", html) if desk.rng.random() < 0.5 else desk.skin.el("div", html)
    return html


def _columns(desk: Desk, article: str) -> str:
    rng, skin = desk.rng, desk.skin
    if rng.random() < 0.25:
        return article
    side = _some(desk, SIDE, 1, 5)
    if skin.era == "tables":
        cells = [skin.el("td", article, ' width="560" valign="top"'), skin.el("td", side, skin.named("side"))]
    else:
        cells = [article, skin.box("side", side)]
    if rng.random() < 0.25:
        cells.reverse()
    if skin.era == "tables":
        return skin.el("table", skin.el("tr", "".join(cells)), ' width="760" align="center" cellpadding="4"')
    return skin.el("div", "".join(cells), skin.named("page"))


def _head(desk: Desk, pieces: list[Piece]) -> str:
    """Return doctype, title and the metadata of the site, from none to all."""
    rng, title, press = desk.rng, escape(desk.title, quote=True), desk.press
    section = desk.say("section")
    shapes = (
        f"{title}_{press}",
        f"{title} - {press}",
        f"{title}_{section}_{press}",
        f"{title} | {press}",
        title,
        f"{press}--{title}",
        press,
    )
    page_title = rng.choice(shapes)
    first = escape(pieces[0].lines[0][:120], quote=True)
    parts = [f"<title>{page_title}</title>", '<meta charset="utf-8">']
    if rng.random() < 0.4:
        parts.append(f'<meta name="description" content="{first}">')
    if rng.random() < 0.35 and desk.when.year > 2010:
        parts.append(f'<meta property="og:title" content="{title}"><meta property="og:description" content="{first}">')
    if rng.random() < 0.25 and desk.when.year > 2013:
        parts.append(f'<script type="application/ld+json">{_linked_data(desk)}</script>')
    if rng.random() < 0.5:
        parts.append("<style>.hd{color:red} #nav li{float:left}</style><script>var _hmt=_hmt||[];</script>")
    kind = "<!DOCTYPE html>" if desk.skin.era == "semantic" else '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN">'
    return f'{kind}\n<html lang="{desk.voice.tongue}"><head>{"".join(parts)}</head>\n<body>'


def _linked_data(desk: Desk) -> str:
    data: dict[str, object] = {"@context": "https://schema.org", "@type": "NewsArticle", "headline": desk.title}
    data["datePublished"] = desk.when.isoformat() + "+08:00"
    if desk.rng.random() < 0.6:
        data["author"] = {"@type": "Person", "name": desk.author}
    return json.dumps(data, ensure_ascii=desk.rng.random() < 0.3)


def _state(desk: Desk) -> str:
    """Return a script's state that contains the story, as in pages built by scripts."""
    if desk.rng.random() > 0.08:
        return ""
    body = "".join(f"<p>{line}</p>" for piece in desk.pieces for line in piece.lines)
    state = json.dumps({"article": {"title": desk.title, "content": body}}, ensure_ascii=False).replace("</", "<\\/")
    return f"<script>window.__STATE__={state}</script>"
