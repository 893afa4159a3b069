"""Page parts around a story: bars, lists, cards, comments, notes, boxes. Each maker takes the desk and returns HTML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from random import Random

from training.prose import Piece, Voice
from training.skin import Skin

DATES = (
    "%Y-%m-%d %H:%M",
    "%Y年%m月%d日 %H:%M",
    "%Y年%m月%d日%H:%M",
    "%Y-%m-%d",
    "%Y/%m/%d %H:%M:%S",
    "%Y.%m.%d",
    "%Y年%m月%d日",
    "%Y-%m-%d %H:%M:%S",
)
SHORT_DATES = ("%m-%d", "%Y-%m-%d", "%m/%d %H:%M", "(%m月%d日)", "%Y-%m-%d %H:%M")
WESTERN_DATES = ("%B %d, %Y", "%d %B %Y", "%b %d, %Y %I:%M %p", "%Y-%m-%d", "%A, %d %b %Y", "%d.%m.%Y")


@dataclass(frozen=True)
class Desk:
    """The context of the makers of a page's parts."""

    voice: Voice
    topical: Voice  # the voice of the story
    skin: Skin
    title: str
    press: str
    author: str
    when: datetime
    pieces: list[Piece]

    @property
    def rng(self) -> Random:
        return self.skin.rng

    def say(self, symbol: str) -> str:
        return escape(self.voice(symbol), quote=False)

    def near(self) -> Voice:
        """Return the story's voice or a general one, equally often: comments and links below a story often share its subject."""
        return self.topical if self.rng.random() < 0.5 else self.voice

    def date(self) -> str:
        """Return the story's date as this site writes dates."""
        forms = WESTERN_DATES if self.voice.spaced else DATES
        shape = self.skin.names.setdefault("shape of dates", self.rng.choice(forms))
        return self.when.strftime(shape)

    def other_date(self) -> str:
        """Return the date of another story or comment, near this one's."""
        shape = self.skin.names.setdefault("shape of other dates", self.rng.choice(WESTERN_DATES if self.voice.spaced else SHORT_DATES))
        return (self.when + timedelta(hours=self.rng.randint(-400, 200))).strftime(shape)

    def head(self, label: str) -> str:
        tag = self.rng.choice(("h2", "h3", "h4", "div", "strong", "b", "dt"))
        return self.skin.el(tag, self.say(label))


Maker = Callable[[Desk], str]


def navigation(desk: Desk) -> str:
    links = [desk.skin.link(text) for text in dict.fromkeys(desk.voice.many("section", 6, 30))]
    return desk.skin.box("nav", desk.skin.items(links))


def channels(desk: Desk) -> str:
    """Return a portal's link wall: groups of sections and headlines with a heading each."""
    groups = []
    for _ in range(desk.rng.randint(2, 7)):
        symbol = desk.rng.choice(("section", "section", "place", "headline"))
        links = [desk.skin.link(text) for text in dict.fromkeys(desk.voice.many(symbol, 4, 30))]
        groups.append(desk.skin.el("dl" if desk.rng.random() < 0.3 else "div", desk.say("section") + desk.skin.items(links)))
    return desk.skin.box("nav", "".join(groups))


def crumbs(desk: Desk) -> str:
    steps = [desk.skin.link(text) for text in desk.voice.many("section", 2, 4)]
    last = [escape(desk.title, quote=False)] if desk.rng.random() < 0.5 else [desk.say("section")]
    return desk.skin.box("crumbs", desk.say("here") + desk.rng.choice((" &gt; ", " > ", " » ", " / ")).join(steps + last))


def byline(desk: Desk) -> str:
    """Return date, source and author, in one line or one element each."""
    line = desk.say("byline").replace("DATE", desk.date()).replace("PRESS", desk.press).replace("AUTHOR", desk.author)
    if desk.rng.random() < 0.4:
        parts = [line] if desk.voice.spaced else line.replace("　", " ").split(" ")
        line = "".join(desk.skin.el("span", part) for part in parts)
    return desk.skin.box("meta", line)


def tools(desk: Desk) -> str:
    return desk.skin.box("share", desk.skin.items(desk.voice.many("tool", 2, 6)))


def share(desk: Desk) -> str:
    links = [f'<a href="javascript:void(0)">{text}</a>' for text in desk.voice.many("share", 3, 8)]
    return desk.skin.box("share", desk.say("share") + desk.skin.items(links))


def related(desk: Desk) -> str:
    """Return a list of headlines, with or without dates."""
    dated = desk.rng.random() < 0.4
    links = [desk.skin.link(text) + (f" {desk.other_date()}" if dated else "") for text in desk.near().many("headline", 2, 12)]
    return desk.skin.box("related", desk.head("related") + desk.skin.items(links))


def cards(desk: Desk) -> str:
    """Return teasers with headline, summary, date and a link to read more; they are hard to tell from paragraphs."""
    skin, rng, voice = desk.skin, desk.rng, desk.near()
    about, dated, button = rng.choice(("s", "short", "p")), rng.random() < 0.6, rng.random() < 0.4
    items = []
    for _ in range(rng.randint(2, 8)):
        card = skin.el(rng.choice(("h3", "h4", "div")), skin.link(voice("headline"))) + skin.el("p", escape(voice(about), quote=False))
        card += skin.el("span", desk.other_date()) if dated else ""
        items.append(card + (skin.link(voice("readmore")) if button else ""))
    heading = desk.head("related") if rng.random() < 0.7 else ""
    return skin.box("cards", heading + "".join(skin.el(rng.choice(("div", "li", "article")), card) for card in items))


def ranking(desk: Desk) -> str:
    entries = [f"{place} {desk.skin.link(text)}" for place, text in enumerate(desk.voice.many("headline", 5, 10), 1)]
    return desk.skin.box("hot", desk.head("hot") + desk.skin.items(entries))


def comments(desk: Desk) -> str:
    """Return readers' comments with name, date and buttons, sometimes longer than the article."""
    skin, rng = desk.skin, desk.rng
    number = rng.choice((0, 1, 2, 3, 5, 8, 15, 30))
    by, text, frame = rng.choice(("span", "div", "b", "a")), rng.choice(("p", "div", "dd")), rng.choice(("div", "li", "dl", "article"))
    items, voice = [], desk.near()
    for _ in range(number):
        name = skin.el(by, desk.say("nick")) + skin.el("span", desk.other_date())
        items.append(skin.el(frame, name + skin.el(text, escape(voice("opinion"), quote=False)) + " ".join(desk.voice.many("reply", 1, 3))))
    form = skin.el("textarea", "") + skin.el("button", desk.say("submit")) if rng.random() < 0.5 else ""
    rules = skin.el("p", desk.say("rules")) if rng.random() < 0.5 else ""
    return skin.box("comments", desk.head("comments") + rng.choice((form + "".join(items) + rules, rules + "".join(items) + form)))


def note(role: str, *symbols: str) -> Maker:
    """Return a maker of a note of one or more sentences: law, tail, biography, call."""

    def made(desk: Desk) -> str:
        lines = [desk.say(symbol) for symbol in symbols]
        if desk.rng.random() < 0.5:
            return desk.skin.box(role, "".join(desk.skin.el("p", line) for line in lines))
        return desk.skin.box(role, desk.skin.el("br").join(lines))

    return made


def plain_note(symbol: str) -> Maker:
    """Return a maker of a note that looks like a paragraph of the body."""

    def made(desk: Desk) -> str:
        tag = desk.rng.choice(("p", "p", "div", "span"))
        own_line = desk.skin.el("br") if tag == "span" else ""
        return own_line + desk.skin.el(tag, desk.say(symbol)) + own_line

    return made


def tags(desk: Desk) -> str:
    return desk.skin.box("tags", desk.say("tags") + " ".join(desk.skin.link(text) for text in desk.voice.many("thing", 2, 6)))


def neighbours(desk: Desk) -> str:
    first, second = (desk.say(word) + desk.skin.link(desk.voice("title")) for word in ("prev", "prev"))
    return desk.skin.box("pager", desk.skin.items([first, second]))


def pager(desk: Desk) -> str:
    numbers = [desk.skin.link(str(number)) for number in range(1, desk.rng.randint(3, 9))]
    return desk.skin.box("pager", " ".join([*numbers, desk.skin.link(desk.voice("next"))]))


def newsletter(desk: Desk) -> str:
    return desk.skin.box("letter", desk.skin.el("p", desk.say("letter")) + desk.skin.el("input", "", ' type="text"') + desk.say("submit"))


def cookies(desk: Desk) -> str:
    attributes = desk.rng.choice(("", ' id="cookie"', ' class="cc"'))
    return desk.skin.el("div", desk.skin.el("p", desk.say("cookie")) + desk.skin.el("button", "OK"), attributes)


def login(desk: Desk) -> str:
    return desk.skin.box("login", " ".join(text + desk.skin.el("input") for text in desk.voice.many("login", 2, 4)))


def poll(desk: Desk) -> str:
    choices = [desk.skin.el("input", "", ' type="radio"') + text for text in desk.voice.many("choice", 2, 5)]
    return desk.skin.box("poll", desk.skin.el("p", desk.say("poll")) + desk.skin.items(choices) + desk.say("submit"))


def weather(desk: Desk) -> str:
    days = [f"{desk.say('city')} {desk.say('sky')} {desk.rng.randint(-9, 35)}℃" for _ in range(desk.rng.randint(1, 5))]
    return desk.skin.box("weather", desk.skin.items(days))


def advertisement(desk: Desk) -> str:
    inner = desk.rng.choice((desk.say("ad"), desk.skin.link(desk.voice("ad")), "<script>show_ad(1234);</script>"))
    return desk.skin.box("ad", inner)


def select(desk: Desk) -> str:
    options = "".join(desk.skin.el("option", text) for text in desk.voice.many("place", 5, 30))
    return desk.skin.el("div", desk.skin.el("select", options))


def footer(desk: Desk) -> str:
    lines = [" | ".join(desk.skin.link(text) for text in dict.fromkeys(desk.voice.many("foot", 3, 9)))]
    lines += [desk.say(symbol) for symbol in desk.rng.sample(("address", "icp", "rights", "icp", "law"), desk.rng.randint(1, 4))]
    return desk.skin.box("foot", desk.skin.items(lines) if desk.rng.random() < 0.3 else "".join(desk.skin.el("p", line) for line in lines))


def hidden_copy(desk: Desk) -> str:
    """Return the story once more where readers do not see it: for printing, sharing, or a script."""
    text = escape("\n".join(line for piece in desk.pieces for line in piece.lines[:2])[:1500], quote=True)
    return desk.rng.choice(
        (
            f'<div style="display:none">{text}</div>',
            f'<div><textarea style="display:none" id="copy">{text}</textarea></div>',
            f'<br><input type="hidden" name="content" value="{text}">',
            f"<noscript>{text}</noscript>",
            f'<div hidden class="print">{text}</div>',
        )
    )


def hidden_box(desk: Desk) -> str:
    return f'<div style="display: none;" class="pop">{desk.say("more")}<p>{desk.say("alert")}</p>{desk.say("law")}</div>'


TOP: tuple[Maker, ...] = (
    navigation,
    navigation,
    navigation,
    channels,
    crumbs,
    crumbs,
    advertisement,
    login,
    cookies,
    plain_note("alert"),
    weather,
    select,
    ranking,
    hidden_box,
)
SIDE: tuple[Maker, ...] = (
    ranking,
    related,
    cards,
    cards,
    poll,
    weather,
    newsletter,
    advertisement,
    login,
    tags,
    note("bio", "bio"),
    comments,
)
BELOW: tuple[Maker, ...] = (
    *(comments, comments, related, related, cards, tags, neighbours, share, newsletter, advertisement, navigation, hidden_copy, hidden_box),
    *(note("law", "law"), note("law", "law", "law"), note("bio", "bio"), note("more", "more"), note("tail", "tail"), pager),
)
BEFORE: tuple[Maker, ...] = (tools, share, advertisement, plain_note("more"), related, note("bio", "bio"), tags)
"""Parts inside the body's box above the first paragraph."""
AFTER: tuple[Maker, ...] = (
    *(note("tail", "tail"), plain_note("tail"), plain_note("tail"), plain_note("more"), plain_note("law"), note("law", "law")),
    *(related, cards, share, pager, tags, note("bio", "bio"), advertisement, comments, neighbours, plain_note("bio"), newsletter),
)
"""Parts inside the body's box below the last paragraph."""
