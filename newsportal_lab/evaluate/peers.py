"""Third-party extractors for comparison: ``PEERS[name](body, url)`` returns title, text, date, author and source if known.

Each is called as documented for an article with metadata. All get the same bytes: those that can decode do so
themselves, the others get the result of :func:`newsportal.text.encoding.decode`. Imports are deferred to the first call.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from datetime import datetime
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from newsportal.errors import DependencyMissing
from newsportal.text import chinese_share, dom, segment
from newsportal.text.encoding import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

Peer = Callable[[bytes, str | None], dict[str, str | None]]  # bytes and URL of a page → the extraction; may raise anything
NOWHERE: Final = "https://page.invalid/"  # some peers require a URL
TAGS: Final = re.compile(r"<(script|style)\b.*?</\1>|<[^<>]*>", re.DOTALL | re.IGNORECASE)
CHINESE: Final = 0.3  # share of Chinese characters, without markup, from which a page counts as Chinese
YEAR_FIRST: Final = re.compile(r"(?:19|20)\d\d\D{1,3}\d{1,2}\D{1,3}\d{1,2}")


def peer(name: str) -> Peer:
    """Return the loaded peer ``name``. Raises ``ValueError`` with the known names, ``DependencyMissing`` if it is not installed."""
    if name not in PEERS:
        raise ValueError(f"no peer is called {name!r}; there are: {', '.join(PEERS)}")
    module, run = PEERS[name]
    if find_spec(module) is None:
        raise DependencyMissing(f"the peer {name}", "peers")
    logging.getLogger(module).setLevel(logging.CRITICAL)
    with _quiet():
        import_module(module)

    def run_peer(body: bytes, url: str | None) -> dict[str, str | None]:
        with _quiet():
            return run(body, url)

    return run_peer


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress the warnings of peers, which are meant for developers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def installed() -> list[str]:
    return [name for name, (module, _) in PEERS.items() if find_spec(module) is not None]


def trafilatura(body: bytes, url: str | None, **options: bool) -> dict[str, str | None]:
    """trafilatura with its defaults, without comments."""
    found = _attribute("trafilatura", "bare_extraction")(body, url=url, with_metadata=True, include_comments=False, **options)
    if found is None:
        return {}
    return _answer(found.text, found.title, found.date, found.author, found.sitename)


def readability_lxml(body: bytes, url: str | None) -> dict[str, str | None]:
    """readability-lxml: ``summary()`` and ``short_title()``; it extracts no dates."""
    found = _attribute("readability", "Document")(body, url=url)
    title, author = found.short_title(), found.author()  # before the summary, which modifies the tree
    return _answer(_text(found.summary()), title, None, None if author == "[no-author]" else author, None)


def newspaper4k(body: bytes, url: str | None) -> dict[str, str | None]:
    """newspaper4k with its defaults, without fetching images; with the language of Chinese pages, as documented."""
    html = decode(body)[0]
    language = {"language": "zh"} if _is_chinese(html) else {}
    article = _attribute("newspaper", "Article")(url or NOWHERE, fetch_images=False, **language)
    article.download(input_html=html)
    article.parse()
    return _answer(article.text, article.title, article.publish_date, "; ".join(article.authors), None)


def goose3(body: bytes, url: str | None) -> dict[str, str | None]:
    """goose3 with its defaults; for Chinese pages with its Chinese stop words, as documented."""
    html = decode(body)[0]
    article = _goose(_is_chinese(html)).extract(url=url, raw_html=html)
    return _answer(article.cleaned_text, article.title, article.publish_date, "; ".join(article.authors), None)


@cache
def _goose(chinese: bool) -> Any:
    options = {"stopwords_class": _attribute("goose3.text", "StopWordsChinese"), "use_meta_language": False, "target_language": "zh"}
    return _attribute("goose3", "Goose")({"enable_image_fetching": False, **(options if chinese else {})})


def gne(body: bytes, url: str | None) -> dict[str, str | None]:
    found = _attribute("gne", "GeneralNewsExtractor")().extract(decode(body)[0], host=url or "")
    return _answer(found["content"], found["title"], found["publish_time"], found["author"], None)


def magic_html(body: bytes, url: str | None) -> dict[str, str | None]:
    """magic-html for pages of kind ``article``: a title and HTML; it extracts no dates."""
    found = _magic().extract(decode(body)[0], base_url=url or NOWHERE)
    return _answer(_text(found["html"]), found.get("title"), None, None, None)


@cache
def _magic() -> Any:
    return _attribute("magic_html", "GeneralExtractor")()


def resiliparse(body: bytes, url: str | None) -> dict[str, str | None]:
    """Resiliparse's main content as plain text, and the page's ``title``."""
    coding = _attribute("resiliparse.parse.encoding", "detect_encoding")(body)
    tree = _attribute("resiliparse.parse.html", "HTMLTree").parse_from_bytes(body, coding)
    text = _attribute("resiliparse.extract.html2text", "extract_plain_text")(tree, main_content=True, alt_texts=False)
    return _answer(text, tree.title, None, None, None)


def htmldate(body: bytes, url: str | None) -> dict[str, str | None]:
    return _answer(None, None, _attribute("htmldate", "find_date")(body, url=url, original_date=True), None, None)


PEERS: Final[dict[str, tuple[str, Peer]]] = {
    "trafilatura": ("trafilatura", trafilatura),
    "trafilatura-precision": ("trafilatura", partial(trafilatura, favor_precision=True)),
    "readability-lxml": ("readability", readability_lxml),
    "newspaper4k": ("newspaper", newspaper4k),
    "goose3": ("goose3", goose3),
    "gne": ("gne", gne),
    "magic-html": ("magic_html", magic_html),
    "resiliparse": ("resiliparse", resiliparse),
    "htmldate": ("htmldate", htmldate),
}
"""Name → the required module, and the function that calls it."""


def _is_chinese(html: str) -> bool:
    """For peers that need the language. Loads jieba, which they use for Chinese, quietly and before the first page is timed."""
    chinese = chinese_share(TAGS.sub("", html)) > CHINESE
    if chinese:
        list(segment("预热"))
    return chinese


def _attribute(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _answer(text: str | None, title: str | None, date: object, author: str | None, source: str | None) -> dict[str, str | None]:
    """Dates that do not begin with the year are parsed by dateutil, as in the papers' scores."""
    day = date.isoformat() if isinstance(date, datetime) else str(date) if date else None
    if day and not YEAR_FIRST.search(day):
        try:
            day = str(_attribute("dateutil.parser", "parse")(day).date().isoformat())
        except (ImportError, ValueError, OverflowError):
            day = None
    return {"text": text or None, "title": title or None, "date": day, "author": author or None, "source": source or None}


def _text(html: str) -> str:
    return "\n".join(dom.lines_of(dom.parse_html(html)))
