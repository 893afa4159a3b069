"""What the titles of pages are padded with: the site's name, its sections, marks that part them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Final

from newsportal.text import clean

MAX_TITLE_CHARS: Final = 300  # longer "titles" are paragraphs or padding; the common substring is quadratic in them

SEPARATOR: Final = re.compile(
    r"\s*[_|｜]+\s*|\s+(?:[-–—·•»›:@<>]|--|::)\s+|\s*(?:--+|——+)\s*|(?<=[^\x00-\x7f])-(?=[^\x00-\x7f])|-(?=[\u4e00-\u9fff]{2,8}[网網]$)"
)
"""What stands between a title and the site's name. A hyphen or point counts between spaces, a hyphen between Chinese characters."""

_SITE: Final = "网|網|新闻|新聞|日报|日報|晚报|晚報|在线|線上|频道|頻道|中心|电子报|電子報|官网|门户|首页|首頁"

SITE_FIRST: Final = re.compile(
    r"^[\w\s]{2,12}?(?:网|網|新闻|新聞|日报|日報|在线|線上)[:：]\s*(?=\S{4})"
)  # 「某某新闻网：」 before the title
BULLET: Final = re.compile(
    r"^(?:[〉›»>·•・．■□◆◇●○◎▲★☆*|｜]+|》+(?![^《]*《))\s*(?=\S{4})"
)  # what lists and breadcrumbs put before a title

SITE_LAST: Final = re.compile(
    r"[-_|｜–—]\s*[^-_|｜–—]{0,16}(?:网|網|新闻|新聞|日报|日報|在线|線上|频道|頻道|online|news|\.com|\.cn)\s*$", re.IGNORECASE
)

SITE_NAME: Final = re.compile(rf"(?:{_SITE}|online|news|\.com|\.cn|home)$", re.IGNORECASE)  # how names of sites and sections end

MARK_LAST: Final = re.compile(r"\s*[【\[(（〔][^】\])）〕]{1,12}[】\])）〕]$")
"""（图）, [3P], 【16:15】: an editor's mark belongs to the headline, although the page's title goes without it."""

NAME_CHARS: Final = 16  # longer parts are headlines that end like a name

FEW: Final = 5
"""A title before the first separator has at least so many characters (twice that in Latin letters), else the longest part is taken."""

ENTITY: Final = re.compile(r"&(?:#\d{1,6}|#x[0-9a-fA-F]{1,5}|[a-zA-Z]{2,8});")


def plain(text: str | None) -> str:
    """A title on one line; one that was escaped twice is read as it was meant."""
    text = clean((text or "")[: 4 * MAX_TITLE_CHARS])
    return clean(html.unescape(text))[:MAX_TITLE_CHARS] if ENTITY.search(text) else text[:MAX_TITLE_CHARS]


def bare(title: str) -> str:
    """``title`` without the site's name and the bullet before it."""
    return SITE_FIRST.sub("", BULLET.sub("", title)) or title


def parts_of(title: str) -> list[str]:
    return [part for part in SEPARATOR.split(title) if part]


def enough(part: str) -> bool:
    """Whether a part of a title can be a headline."""
    return len(part) >= (FEW if not part.isascii() else 2 * FEW)


def without_site(title: str, site: str | None = None) -> str:
    """``title`` without the names of site and section at its end (rarely its start)."""
    title = clean(title)
    if site and len(site) > 1 and title.endswith(site) and title != site:
        title = title[: -len(site)].rstrip(" _|｜–—»›·•-:@,，")
    parts = parts_of(title)
    if len(parts) < 2:
        return title.strip(" _|｜-")
    first, longest = parts[0], max([part for part in parts if not _is_name(part)] or parts, key=len)
    return first if enough(first) and 3 * len(first) > len(longest) else longest


def says_nothing(title: str, names: Iterable[str] = ()) -> bool:
    """Whether a page's title holds nothing but the names of site and section: each part is short, known, or ends like a name."""
    known = frozenset(names)
    return all(len(part) < FEW or part in known or _is_name(part) for part in parts_of(title) or [title])


def _is_name(part: str) -> bool:
    return len(part) <= NAME_CHARS and SITE_NAME.search(part) is not None
