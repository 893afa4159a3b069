"""Find an article's title: the thesis's rule, and our own, which searches for the displayed headline.

Thesis E, 4.3.2.2: the longest common substring of ``title`` and ``h1``; ``title`` if that is shorter than 5 characters; ``h1`` if there is
no ``title``. Ours collects the names that the page gives its article (``title``, meta, JSON-LD, the link to it) and chooses the text on the
page that agrees best with one of these: a heading, an element named title, or any line. If the page's ``title`` is only the site's name,
the headline is found by its position: prominent, and before the date.
"""

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

MIN_COMMON_SUBSTRING: Final = 5  # thesis E, 4.3.2.2, step 3: a shorter common substring is chance
META_TITLES: Final = ("og:title", "twitter:title", "dc.title", "articletitle", "headline", "sailthru.title", "parsely-title", "title")
MIN_CONFIRMED: Final = 0.6  # share of a heading's letters that ``title`` must contain, in one piece, for it to be the article's heading
MIN_COVERED_HEADING: Final = 0.3  # share of the page's title that a heading must contain: less is a keyword, or the site's name
MIN_COVERED_LINE: Final = 0.5  # the same for a line that is not a heading
MIN_COVERED_INSIDE: Final = 0.4  # the same for a text that is not at the start of the page's title
MIN_CORE_SHARE: Final = 0.4  # a name with less than this share of the longest one's letters is a keyword
MIN_LETTERS: Final = 4
MARK_PENALTY: Final = 0.05
EXACT_SCORE: Final = 2.0  # score of a complete match
MIN_PAIR_SHARE: Final = 0.6  # share of letter pairs that a reworded ``h1`` has in common with the page's title
MIN_PAIRS: Final = 12  # a shorter heading has pairs in common with any text
SURE_SCORE: Final = 1.9  # score above which the search stops: the heading is the page's title without the site's name


def thesis_title(document: dom.Document) -> str | None:
    """Return the title by the thesis's rule; ``None`` for a page with neither element."""
    title, heading = _first_text(document, "title"), _first_text(document, "h1")
    if not title or not heading:
        return title or heading
    common = _common(title[: headlines.MAX_TITLE_CHARS], heading[: headlines.MAX_TITLE_CHARS]).strip()
    return common if len(common) >= MIN_COMMON_SUBSTRING else title


def _common(first: str, second: str) -> str:
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return first[match.a : match.a + match.size]


def _first_text(document: dom.Document, tag: str) -> str | None:
    return next((text for text in map(dom.text_of, document.root.iter(tag)) if text), None)


def best_title(document: dom.Document, meta: Metadata, link: Link | None = None) -> str | None:
    """Return the title that an editor would write, or ``None``."""
    site = meta.get("og:site_name")
    title = headlines.plain(_first_text(document, "title"))
    tagged = headlines.plain(next((found for found in map(meta.get, META_TITLES) if found), None) or meta.article("headline"))
    linked = headlines.plain(link.title) if link else ""
    if site and site in (tagged, title):
        site = None  # some pages set the site's name to the article's title
    names = (site,) if site else ()
    page = "" if headlines.is_site_name(title, names) else headlines.without_site(title, site)
    core = "" if headlines.is_site_name(tagged, names) else tagged
    # an ``h1`` equal to the page's title without the site's name: the common case, which needs no comparison
    exact = bool(page) and title.startswith(page) and any(short_text(node) == page for node in document.root.iter("h1"))
    section, *rest = headlines.SEPARATOR.split(declared := headlines.plain(meta.article("headline")))
    declared = "" if rest and section not in title and rest[-1] in title else declared
    witnesses = None if exact else _witnesses((title if page else "", page, headlines.without_site(core, site), linked, declared))
    displayed = page if witnesses is None else _agreeing(document, title if page else core, witnesses)
    if displayed:
        return headlines.bare(displayed)
    if headlines.TRAILING_SITE.search(core) or _ends_with_host(core, document.url):
        core = headlines.without_site(core, site)
    placed = None if page or core else headlines.headline_by_place(document, (title, *names))
    return next((headlines.bare(text) for text in (placed, core, page, linked, tagged, title) if text), None) or _first_text(document, "h1")


@dataclass(frozen=True, slots=True)
class NameLetters:
    """The letters of the article's names: ``all``, with the complete page title; ``cores``, without the site's name."""

    all: tuple[str, ...]
    cores: frozenset[str]


def _witnesses(texts: Sequence[str]) -> NameLetters:
    """Return the letters of the names. ``cores``: those that the page's title starts with (after site and section) or does not contain, so
    neither keywords nor names of sites."""
    page = texts[1]
    before = texts[0].find(page) if page else 0
    begins = letters(texts[0][before:]) if before > 0 and headlines.is_site_name(texts[0][:before]) else ""
    title, *names = [letters(text) for text in texts]
    longest = max(names, key=len, default="")
    cores = tuple(
        core
        for core in dict.fromkeys(names)
        if core
        and (not title or title.startswith(core) or begins.startswith(core) or core not in title)
        and (len(core) >= MIN_CORE_SHARE * len(longest) or core not in longest)
    )
    return NameLetters(tuple(dict.fromkeys(found for found in (title, *cores) if found)), frozenset(cores))


def _ends_with_host(title: str, url: str) -> bool:
    """Return whether the last part of ``title`` is the host's name: 「… | Earth5R」 on earth5r.org."""
    *_, last = headlines.SEPARATOR.split(title)
    return last != title and letters(last) in letters(urlsplit(url).netloc)


def _agreeing(document: dom.Document, title: str, witnesses: NameLetters) -> str | None:
    best, most = None, 0.0
    for kind in (headlines.headings, headlines.marked_headlines, lambda page: headlines.lines_in(page, title)) if witnesses.all else ():
        for entry in kind(document):
            agreed = _agreement(entry, witnesses)
            if agreed > most:
                best, most = entry.text, agreed
            if most >= EXACT_SCORE + entry.rank:
                return best  # the rest ranks lower
        if most > SURE_SCORE:
            break
    return best if most > SURE_SCORE else _alike(document, witnesses) or best


def _alike(document: dom.Document, witnesses: NameLetters) -> str | None:
    """Return an ``h1`` that rewords the page's title: most of its letter pairs occur there, too."""
    best, most = None, MIN_PAIR_SHARE
    pairs = [frozenset(map("".join, pairwise(witness))) for witness in witnesses.all]
    for text in dict.fromkeys(
        entry.text for entry in headlines.headings(document) if entry.rank == headlines.RANKS["h1"] and not entry.part
    ):
        key = letters(text)
        own_pairs = frozenset(map("".join, pairwise(key)))
        skip = len(own_pairs) < MIN_PAIRS or any(key in witness for witness in witnesses.all)  # rejected by its place in the title
        share = 0.0 if skip else max((len(own_pairs & other) / len(own_pairs) for other in pairs), default=0.0)
        if share >= most:
            best, most = text, share
    return best


def _agreement(entry: headlines.Ranked, witnesses: NameLetters) -> float:
    """Score a text: 0 if it is not the title, more for higher headings, and for a larger share of the title from its start."""
    key = letters(entry.text)
    if entry.part and not (
        key in witnesses.cores or any(key in witness and len(key) >= MIN_CONFIRMED * len(witness) for witness in witnesses.all)
    ):
        return 0.0
    if not entry.rank and key == witnesses.all[0] and key not in witnesses.cores:
        return 0.0  # a repetition of the page's title with the site's name
    agreed = _agrees(key, witnesses, entry.rank > 0)
    if entry.rank and (mark := headlines.TRAILING_MARK.search(entry.text)):
        agreed = max(agreed, _agrees(letters(entry.text[: mark.start()]), witnesses, heading=True) - MARK_PENALTY)
    return agreed + entry.rank if agreed > 0 else 0.0


def _agrees(key: str, witnesses: NameLetters, heading: bool) -> float:
    if len(key) < MIN_LETTERS:
        return 0.0
    if key in witnesses.cores:
        return EXACT_SCORE
    best = 0.0
    for witness in witnesses.all:
        if key in witness:
            covered = len(key) / len(witness)
            least = 0.0 if heading else MIN_COVERED_LINE
            if covered >= (least if witness.startswith(key) else MIN_COVERED_INSIDE):
                best = max(best, 1.0 + covered)
        elif heading and len(key) >= MIN_COVERED_HEADING * len(witness):
            common = len(_common(witness, key))
            if common >= max(MIN_CONFIRMED * len(key), MIN_COMMON_SUBSTRING):
                best = max(best, common / len(key) + min(common / len(witness), 1.0) / 2)
    return best
