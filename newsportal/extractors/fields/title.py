"""Find an article's title: the thesis's rule, and our own, which searches for the displayed headline.

Thesis E, 4.3.2.2: the longest common substring of ``title`` and ``h1``; ``title`` if that is shorter than 5 characters; ``h1`` if there is
no ``title``. Ours collects the names that the page gives its article (``title``, meta, JSON-LD, the link to it) and chooses the text on the
page that agrees best with one of these: a heading, an element named title, or any line. If the page's ``title`` is only the site's name,
the headline is found by its position: prominent, and before the date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final
from urllib.parse import urlsplit

from newsportal.extractors.article.hints import short_text
from newsportal.extractors.fields import headlines
from newsportal.extractors.fields.metadata import Metadata
from newsportal.items import Link
from newsportal.text import dom, letters

SHORTEST_COMMON: Final = 5  # thesis E, 4.3.2.2, step 3: a shorter common substring is chance
META_TITLES: Final = ("og:title", "twitter:title", "dc.title", "articletitle", "headline", "sailthru.title", "parsely-title", "title")
CONFIRMED: Final = 0.6  # share of a heading's letters that ``title`` must contain, in one piece, for it to be the article's heading
COVERED: Final = 0.3  # share of the page's title that a heading must contain: less is a keyword, or the site's name
COVERED_LINE: Final = 0.5  # the same for a line that is not a heading
COVERED_INSIDE: Final = 0.4  # the same for a text that is not at the start of the page's title
CORE: Final = 0.4  # a name with less than this share of the longest one's letters is a keyword
LEAST_LETTERS: Final = 4
MARK_COST: Final = 0.05
EXACT: Final = 2.0  # score of a complete match
LIKE: Final = 0.6  # share of letter pairs that a reworded ``h1`` has in common with the page's title
PAIRS: Final = 12  # a shorter heading has pairs in common with any text
SURE: Final = 1.9  # score above which the search stops: the heading is the page's title without the site's name


def thesis_title(document: dom.Document) -> str | None:
    """Return the title by the thesis's rule; ``None`` for a page with neither element."""
    title, heading = _first_text(document, "title"), _first_text(document, "h1")
    if not title or not heading:
        return title or heading
    common = _common(title[: headlines.MAX_TITLE_CHARS], heading[: headlines.MAX_TITLE_CHARS]).strip()
    return common if len(common) >= SHORTEST_COMMON else title


def _common(first: str, second: str) -> str:
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return first[match.a : match.a + match.size]


def _first_text(document: dom.Document, tag: str) -> str | None:
    return next((text for text in map(dom.text_of, document.root.iter(tag)) if text), None)


def best_title(document: dom.Document, meta: Metadata, link: Link | None = None) -> str | None:
    """Return the title that an editor would write, or ``None``."""
    site = meta.get("og:site_name")
    whole = headlines.plain(_first_text(document, "title"))
    named = headlines.plain(next((found for found in map(meta.get, META_TITLES) if found), None) or meta.article("headline"))
    told = headlines.plain(link.title) if link else ""
    if site and site in (named, whole):
        site = None  # some pages set the site's name to the article's title
    names = (site,) if site else ()
    page = "" if headlines.says_nothing(whole, names) else headlines.without_site(whole, site)
    said = "" if headlines.says_nothing(named, names) else named
    # an ``h1`` equal to the page's title without the site's name: the common case, which needs no comparison
    exact = bool(page) and whole.startswith(page) and any(short_text(node) == page for node in document.root.iter("h1"))
    section, *rest = headlines.SEPARATOR.split(declared := headlines.plain(meta.article("headline")))
    declared = "" if rest and section not in whole and rest[-1] in whole else declared
    witnesses = None if exact else _witnesses((whole if page else "", page, headlines.without_site(said, site), told, declared))
    shown = page if witnesses is None else _agreeing(document, whole if page else said, witnesses)
    if shown:
        return headlines.bare(shown)
    if headlines.SITE_LAST.search(said) or _ends_with_host(said, document.url):
        said = headlines.without_site(said, site)
    placed = None if page or said else headlines.headline_by_place(document, (whole, *names))
    return next((headlines.bare(found) for found in (placed, said, page, told, named, whole) if found), None) or _first_text(document, "h1")


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The letters of the article's names: ``all``, with the complete page title; ``cores``, without the site's name."""

    all: tuple[str, ...]
    cores: frozenset[str]


def _witnesses(texts: Sequence[str]) -> Witnesses:
    """Return the letters of the names. ``cores``: those that the page's title starts with (after site and section) or does not contain, so
    neither keywords nor names of sites."""
    page = texts[1]
    before = texts[0].find(page) if page else 0
    begins = letters(texts[0][before:]) if before > 0 and headlines.says_nothing(texts[0][:before]) else ""
    whole, *rest = [letters(text) for text in texts]
    longest = max(rest, key=len, default="")
    cores = tuple(
        core
        for core in dict.fromkeys(rest)
        if core
        and (not whole or whole.startswith(core) or begins.startswith(core) or core not in whole)
        and (len(core) >= CORE * len(longest) or core not in longest)
    )
    return Witnesses(tuple(dict.fromkeys(found for found in (whole, *cores) if found)), frozenset(cores))


def _ends_with_host(title: str, url: str) -> bool:
    """Return whether the last part of ``title`` is the host's name: 「… | Earth5R」 on earth5r.org."""
    *_, last = headlines.SEPARATOR.split(title)
    return last != title and letters(last) in letters(urlsplit(url).netloc)


def _agreeing(document: dom.Document, title: str, witnesses: Witnesses) -> str | None:
    best, most = None, 0.0
    for kind in (headlines.headings, headlines.marked, lambda page: headlines.lines_in(page, title)) if witnesses.all else ():
        for shown in kind(document):
            agreed = _agreement(shown, witnesses)
            if agreed > most:
                best, most = shown.text, agreed
            if most >= EXACT + shown.rank:
                return best  # the rest ranks lower
        if most > SURE:
            break
    return best if most > SURE else _alike(document, witnesses) or best


def _alike(document: dom.Document, witnesses: Witnesses) -> str | None:
    """Return an ``h1`` that rewords the page's title: most of its letter pairs occur there, too."""
    best, most = None, LIKE
    pairs = [frozenset(map("".join, pairwise(witness))) for witness in witnesses.all]
    for text in dict.fromkeys(
        shown.text for shown in headlines.headings(document) if shown.rank == headlines.RANKS["h1"] and not shown.part
    ):
        said = letters(text)
        own = frozenset(map("".join, pairwise(said)))
        known = len(own) < PAIRS or any(said in witness for witness in witnesses.all)  # already rejected by its position in the title
        share = 0.0 if known else max((len(own & other) / len(own) for other in pairs), default=0.0)
        if share >= most:
            best, most = text, share
    return best


def _agreement(shown: headlines.Ranked, witnesses: Witnesses) -> float:
    """Score a text: 0 if it is not the title, more for higher headings, and for a larger share of the title from its start."""
    said = letters(shown.text)
    if shown.part and not (
        said in witnesses.cores or any(said in witness and len(said) >= CONFIRMED * len(witness) for witness in witnesses.all)
    ):
        return 0.0
    if not shown.rank and said == witnesses.all[0] and said not in witnesses.cores:
        return 0.0  # a repetition of the page's title with the site's name
    agreed = _agrees(said, witnesses, shown.rank > 0)
    if shown.rank and (mark := headlines.MARK_LAST.search(shown.text)):
        agreed = max(agreed, _agrees(letters(shown.text[: mark.start()]), witnesses, heading=True) - MARK_COST)
    return agreed + shown.rank if agreed > 0 else 0.0


def _agrees(said: str, witnesses: Witnesses, heading: bool) -> float:
    if len(said) < LEAST_LETTERS:
        return 0.0
    if said in witnesses.cores:
        return EXACT
    best = 0.0
    for witness in witnesses.all:
        if said in witness:
            covered = len(said) / len(witness)
            least = 0.0 if heading else COVERED_LINE
            if covered >= (least if witness.startswith(said) else COVERED_INSIDE):
                best = max(best, 1.0 + covered)
        elif heading and len(said) >= COVERED * len(witness):
            common = len(_common(witness, said))
            if common >= max(CONFIRMED * len(said), SHORTEST_COMMON):
                best = max(best, common / len(said) + min(common / len(witness), 1.0) / 2)
    return best
