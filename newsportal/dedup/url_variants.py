"""Other addresses of one article that can be told by their form: hosts for telephones, AMP pages and their caches, print pages.

A site's ``m.`` host may be another system with pages of its own under the same short paths, so such a mark is taken off only where what
is left is *specific*: it names its article in a way that no second system has by accident (a long number, a day with a number, a
long code, a title in words). Lists and front pages are never specific.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import unquote

Pair = tuple[str, str]

HOSTS: Final = frozenset(("m", "wap", "3g", "mobile", "amp", "www"))
"""First labels of hosts that show the same articles to other devices."""

SECOND_LEVEL: Final = frozenset("com net org gov edu co ac or ne go mil".split())
PROVINCES: Final = frozenset(
    "bj sh tj cq he sx nm ln jl hl js zj ah fj jx sd ha hb hn gd gx hi sc gz yn xz sn gs qh nx xj tw hk mo".split()
)
"""Under ``cn``, registrars sell names below these (CNNIC)."""

AMP_CACHE: Final = re.compile(
    r"https?://(?:(?:(?:[\w-]+\.)?cdn\.ampproject\.org/[cv]/(?:s/)?|(?:www\.)?(?:google|bing)\.com/amp/s/))+(?=[\w-]+(?:\.[\w-]+)+(?:[:/?]|$))",
    re.IGNORECASE,
)
"""What stands before the publisher's own address in the AMP caches of Google and Bing (their documentation)."""

MARK: Final = re.compile(r"(?:/(?:amp|print)(?=/?$)|^/(?:amp|print)(?=/.)|[._-](?:amp|print)(?=\.s?html?$))", re.IGNORECASE)
"""``/a/1/amp``, ``/amp/a/1``, ``/a/1.amp.html``, ``/a/1_print.html``, and the same for print."""

YES: Final = frozenset(("", "1", "true", "yes", "y"))
VIEWS: Final = frozenset(("amp", "print", "printable", "mobile", "wap"))
SHARED: Final = frozenset(
    "rss feed timeline singlemessage groupmessage weibo wechat weixin qq qzone twitter facebook linkedin telegram whatsapp".split()
)
VIEW_NAMES: Final = frozenset(("amp", "print", "printable", "print_view", "printview"))
VIEW_CHOICES: Final = frozenset(("view", "mode", "output", "outputtype", "format", "display"))
SHARE_NAMES: Final = frozenset(("from", "source", "src", "ref", "via", "channel_from"))

LONG_NUMBER: Final = re.compile(r"(?<!\d)\d{7,}(?!\d)")
DATE: Final = re.compile(
    r"(?<!\d)(?:19[89]|20[0-4])\d(?:[-/_]?(?:0[1-9]|1[0-2])[-/_]?(?:0[1-9]|[12]\d|3[01])|[-/_](?:0?[1-9]|1[0-2])[-/_](?:0?[1-9]|[12]\d|3[01]))(?!\d)"
)
NUMBER: Final = re.compile(r"\d{3,}")
CODE: Final = re.compile(r"(?=[A-Za-z0-9]*?(?:\d[A-Za-z]*){3})(?=[A-Za-z0-9]*?(?:[A-Za-z]\d*){3})[A-Za-z0-9]{10,}")
WORDS: Final = re.compile(r"[^\W\d_]{2,}(?:[-_][^\W_]+){3,}")
TITLE_WORDS_CHARS: Final = 20
LONGEST_HOST: Final = 253  # RFC 1035
JUDGED: Final = 512
"""Characters of path and query that are looked at: bounds the work of every pattern."""


def uncached(url: str) -> str:
    """The publisher's own address of a page in an AMP cache; any other URL as it is."""
    found = AMP_CACHE.match(url)
    return f"https://{url[found.end() :]}" if found else url


def specific(path: str, query: str = "") -> bool:
    """Whether an address names one article by itself."""
    text = unquote(f"{path}?{query}"[:JUDGED])
    dated = DATE.search(text)
    rest = text[: dated.start()] + " " + text[dated.end() :] if dated else text
    if LONG_NUMBER.search(rest) or CODE.search(rest):
        return True
    slug = WORDS.search(rest)
    return bool(dated and NUMBER.search(rest)) or bool(slug and len(slug.group()) >= TITLE_WORDS_CHARS)


def unmarked_path(path: str, query: str) -> str:
    """``path`` without its marks of AMP and print, as long as what is left is specific."""
    while len(path) <= JUDGED and (found := MARK.search(path)) is not None:
        rest = path[: found.start()] + path[found.end() :]
        if not specific(rest, query):
            break
        path = rest
    return path.rstrip("/") or "/"


def unmarked_query(path: str, pairs: Sequence[Pair]) -> list[Pair]:
    """``pairs`` without those that choose a view or say who shared the address, where what is left is specific."""
    kept = [pair for pair in pairs if not _is_view(*pair)]
    return kept if len(kept) < len(pairs) and specific(path, "&".join("=".join(pair) for pair in kept)) else list(pairs)


def _is_view(name: str, value: str) -> bool:
    name, value = name.lower(), value.lower()
    return (name in VIEW_NAMES and value in YES) or (name in VIEW_CHOICES and value in VIEWS) or (name in SHARE_NAMES and value in SHARED)


def main_host(host: str) -> str:
    """``host`` without its marks of telephones and AMP, as long as what is left can be somebody's name."""
    while len(host) <= LONGEST_HOST:
        label, _, rest = host.partition(".")
        if label not in HOSTS or not is_name(rest):
            break
        host = rest
    return host


def is_name(host: str) -> bool:
    """Whether ``host`` can be registered: two labels at least, and no ``com.cn``, ``co.uk`` or ``bj.cn``."""
    labels = host.split(".")
    if len(labels) != 2:
        return len(labels) > 2
    return not (len(labels[1]) == 2 and labels[0] in SECOND_LEVEL) and not (labels[1] == "cn" and labels[0] in PROVINCES)


def domain(host: str) -> str:
    """The part of ``host`` that somebody registered, good enough to tell own from foreign."""
    labels = host.split(".")
    while len(labels) > 2 and is_name(".".join(labels[1:])):
        labels = labels[1:]
    return ".".join(labels)
