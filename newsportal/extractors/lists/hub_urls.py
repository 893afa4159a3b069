"""Classify a URL by its text alone: article, list of articles, or service of the site.

Pure string operations. The words are those that public Chinese and English sites use in their paths; none names a site.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Generic, TypeVar
from urllib.parse import SplitResult, parse_qsl, urlsplit

ARTICLE_WORDS = frozenset(
    "a art article articles arts content contents contentid detail details doc document info item news_detail newsdetail newsinfo newsshow "
    "p post posts read show shows stories story view views wenzhang xinwen yaowen zixun archives archive".split()
)  # words before the number or name of one article (``/a/406539383``, ``/article/…``, ``/show/…``)
LIST_WORDS = frozenset(
    "all board boards brand brands cat category categories channel channels class column columns district focus forum forums gundong hot "
    "hotlist index latest list lists mostpopular more node nodes page paihang plate rank ranking ranklist region roll rolling section "
    "sections series sort special specials subject subjects tag tags theme timeline top topic topics trending zhuanti zhuanlan zt "
    "default home main".split()
)  # words of pages that list articles: channels, tags, topics, rankings
MEDIA_WORDS = frozenset(
    "album albums audio av broadcast galleries gallery image images img imgs live listen movie photo photos photonews photoview pic pics "
    "picture pictures play player podcast podcasts radio shipin slide slides slideshow sounds tp tu tuji tuku tupian tv video "
    "videos vod vr watch zhibo".split()
)  # words of pictures, film and sound: they have their own spiders and contain no text
SERVICE_WORDS = frozenset(
    "about aboutus account accounts ad ads advert advertise advertising agreement aid api app apps auth author authors bang bbsindex "
    "bookmark buy calendar career careers cart chat client comment comments complaint contact contacts contactus cookie cookies "
    "copyright coupon dealer declare disclaimer donate download downloads editor faq favorite feed feedback "
    "feeds follow gov guanyu guide help helpcenter hr job jobs join jubao kefu legal link links login loginout logout loupan "
    "lottery lxwm mail mall map market member members message misc modules my newsletter newsletters notice notify "
    "passport password pay pinglun policy post.php poster price print privacy profile profiles "
    "rating recruit redirect reg register registration reply rss rules score search service services setting settings share "
    "shop shopping signin signup sitemap sites sms so sousuo space staff static submit subscribe subscription support "
    "survey tel terms tianqi tools u uid upload user usercenter userid users vip vote wap weibo weixin widget "
    "yhxy yinsi zhaopin".split()
)  # words of other services of a site: accounts, help, shop, tools, people
SEARCH_KEYS = frozenset("q query word wd keyword keywords kw search searchword k key searchtext".split())
ID_KEYS = re.compile(r"^(?:.*id|idx|idxno|.*no|num|seq|p|t|sn|doc)$")
TRACKING = re.compile(
    r"^(?:utm_.*|spm|scm|from|_f|pvareaid|pvid|hpt|ref|refer|referer|source|src|channel|fr|share.*|track.*|_zbs.*|cmpid|ncid)$"
)  # query keys that record where a visitor came from; ignored in URL patterns
PAGE_ENDING = re.compile(r"\.(?:s?html?|xhtml|aspx?|php\d?|jsp|jhtml|do|dhtml|cgi|pl|cfm)$", re.IGNORECASE)
FILE_ENDING = re.compile(
    r"\.(?:jpe?g|png|gif|webp|svg|ico|css|js|json|xml|rss|pdf|docx?|xlsx?|pptx?|zip|rar|7z|apk|ipa|exe|dmg|mp[34]|m3u8|avi|flv|wmv|torrent)$",
    re.IGNORECASE,
)
MAX_SEGMENTS = 16  # in a path; the longest article URL of the development set has eleven
YEAR = r"(?:19[89]\d|20[0-4]\d)"
MONTH = r"(?:0[1-9]|1[0-2])"
DAY = r"(?:0[1-9]|[12]\d|3[01])"
DAY_IN_PATH = re.compile(
    rf"(?<!\d){YEAR}[-/_]?{MONTH}[-/_]?{DAY}(?!\d)"  # 2016-09/19, 20160919, 2016/09/18
    rf"|(?<!\d){YEAR}{MONTH}{DAY}\d{{2,}}"  # 20160919 and a time or counter
    rf"|(?<!\d){YEAR}[-/_](?:0?[1-9]|1[0-2])[-/_](?:0?[1-9]|[12]\d|3[01])(?!\d)"  # 2016/9/8
    rf"|/{YEAR}/[a-z]{{3}}/[0-3]?\d/"  # /2026/mar/12/
    rf"|/[012]\d/{MONTH}{DAY}/"  # /20/0802/
    rf"|(?<!\d)[012]\d{MONTH}{DAY}\d{{6,9}}(?!\d)"  # 160919101222656: two-digit year, time, counter
)
MONTH_IN_PATH = re.compile(rf"(?<!\d){YEAR}[-/_]?{MONTH}(?!\d)|/{YEAR}/[a-z]{{3}}/", re.IGNORECASE)
THREAD = re.compile(
    r"/(?:thread[-_/]?\w|threads?/|topics?/[\w-]*\d|t/(?:[^/]+/)?\d|discussions?/\d|read\.php\?|d/\d|questions?/\d|Forum/\d|topic\.\w+\?"
    r"|forums?/(?:[^/]+/)*[^/]*\d[^/]*\.html)|viewthread|showthread|viewtopic|showtopic|topic_show|\?(?:tid|mnr)=\d|&(?:tid|mnr)=\d"
    r"|tieba\.[^/]+/p/\d|-t\d{3,}\.html|_t\d{3,}\.html"
)  # each alternative begins with a character, not a class, so that ``re`` can skip ahead to these characters
BOARD = re.compile(
    r"^https?://(?:[\w-]+\.)*(?:bbs|forums?|club|tieba|boards?|community|talk)\d?\.|/(?:forums?|bbs|boards?|viewforum|forumdisplay)\b|forum-\d"
)
LATER_PAGE = re.compile(
    r"thread-\d+-(?!1-)\d+-\d+|lastpost|goto=|\?(?:(?:page|pn|start)=(?!1\b|0\b)\d+|(?:action|share|replytocom|print)=)"
    r"|&(?:(?:page|pn|start)=(?!1\b|0\b)\d+|(?:action|share|replytocom|print)=)"
)
COMMENT_FRAGMENT = re.compile(r"comment|reply|replies|respond|disqus|pinglun|^cmt|^post|^p\d", re.IGNORECASE)
SECOND_LEVEL = frozenset("com net org gov edu co ac or ne go".split())
NAMED_ITEM = re.compile(r"(?:art|article|content|detail|news|show|view|doc|info)[-_]?\d{3,}")
SHOW_ACTION = re.compile(r"(?:show|view|article|content|detail|read|news|info)\w*|\w*(?:show|view|detail|article|content)", re.IGNORECASE)
SERVICE_SLUG = re.compile(r"(?:about|contact|privacy|terms|cookies?|copyright|advertis\w+|subscri\w+|sitemap|legal)-", re.IGNORECASE)
PERSON_KEYS = frozenset(("uid", "userid", "username"))
MODULE_KEYS = frozenset(("mod", "do", "ac", "act"))
LIST_DIRECTORIES = LIST_WORDS - {"node"}  # /node/123 is an article (Drupal), node_123.htm a channel
CODE = re.compile(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[A-Za-z0-9]{8,}")
DIGITS = re.compile(r"\d+")
PAGE_COUNTER = re.compile(r"[-_]?\d")
WORDS = re.compile(r"[A-Za-z\u3400-\u9fff]{2,}")
COMMON_URL = re.compile(r"(https?)://([a-zA-Z0-9.:-]+)((?:/[!\"$->@-~]*)?)(?:\?([!\"$-~]*))?(?:#([!-~]*))?")  # common form of URLs
LONG_ID = 6  # digits: the counters of large sites
SHORT_ID = 4
ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")  # decoded run by run: ``unquote`` decodes byte by byte
MAX_URL_CHARS = 2_048  # longer URLs are not articles
MAX_EXAMINED_CHARS = 512  # length up to which a URL is examined; limits the cost of every pattern

Value = TypeVar("Value")


class lazy_property(Generic[Value]):  # noqa: N801  written as a decorator
    """:class:`functools.cached_property` without its lock, which Python 3.11 acquires on first access (bpo-43468)."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute, self.name = compute, compute.__name__

    def __get__(self, owner: Any, kind: type | None = None) -> Value:
        value = owner.__dict__[self.name] = self.compute(owner)
        return value


@dataclass(frozen=True)
class Address:
    """An absolute http(s) URL, split into parts once."""

    url: str

    @lazy_property
    def parts(self) -> SplitResult:
        start = self.url[:MAX_EXAMINED_CHARS]
        if plain := COMMON_URL.fullmatch(start):
            return SplitResult(*plain.groups(""))
        try:
            return urlsplit(start)
        except ValueError:  # "http://[" and the like
            return urlsplit("http://invalid/")

    @lazy_property
    def host(self) -> str:
        return self.parts.netloc.rpartition("@")[2].partition(":")[0].lower().removeprefix("www.")

    @lazy_property
    def domain(self) -> str:
        """Approximate registered domain, to compare sites: two labels, three under ``com.cn``, ``co.uk`` and similar suffixes."""
        labels = self.host.split(".")
        keep = 3 if len(labels) > 2 and labels[-2] in SECOND_LEVEL and len(labels[-1]) == 2 else 2
        return ".".join(labels[-keep:])

    @lazy_property
    def segments(self) -> tuple[str, ...]:
        """Segments of the path; of a path with more than ``MAX_SEGMENTS`` (a crawler trap) the first ones and the last."""
        path = self.parts.path
        if "%" in path:
            path = ESCAPED.sub(lambda run: bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace"), path)
        found = [segment for segment in path.split("/") if segment]
        return tuple(found if len(found) <= MAX_SEGMENTS else (*found[: MAX_SEGMENTS - 1], found[-1]))

    @lazy_property
    def stem(self) -> str:
        """Last segment without its file extension: ``/a/b/t2016_1.htm`` → ``t2016_1``."""
        return _stem(self.segments[-1]) if self.segments else ""

    @lazy_property
    def query(self) -> tuple[tuple[str, str], ...]:
        if not self.parts.query:
            return ()
        try:
            pairs = parse_qsl(self.parts.query, keep_blank_values=True, max_num_fields=50)
        except ValueError:
            return ()
        return tuple((key, value) for key, value in pairs if not TRACKING.match(key.lower()))

    @lazy_property
    def words(self) -> frozenset[str]:
        """Words of the path and the first label of the host, in lower case, without extensions and counters."""
        host = (self.host.partition(".")[0],) if self.host.count(".") >= 2 else ()
        return frozenset(chain(host, *map(words_in, self.segments))) - {""}

    @lazy_property
    def dated(self) -> bool:
        """Whether the path contains a full date."""
        return self._has_digit and bool(DAY_IN_PATH.search(self.parts.path))

    @lazy_property
    def last_id(self) -> int:
        """Length of the longest run of digits where articles have their number: the last two segments and values of id-like query keys."""
        places = [self.stem, *self.segments[-2:-1]] if self._has_digit or "%" in self.parts.path else []
        places += [value for key, value in self.query if ID_KEYS.match(key.lower())]
        return max(map(len, DIGITS.findall("/".join(places))), default=0) if places else 0

    @lazy_property
    def slug_words(self) -> int:
        """Number of words of the hyphenated name in the last segment, or in the one before if the last is like ``index.html``."""
        is_list = self.stem.lower() in LIST_WORDS and len(self.segments) > 1
        return max(_word_count(self.stem), _word_count(self.segments[-2])) if is_list else _word_count(self.stem)

    @lazy_property
    def thread_form(self) -> tuple[str, str] | None:
        """Form of the site's thread URLs (host and keyword); ``None`` if the URL is not a thread."""
        match = THREAD.search(self.same_page[:MAX_EXAMINED_CHARS])
        word = re.search("[A-Za-z]+", match.group()) if match else None
        return (self.host, word.group().lower()) if word else None

    @lazy_property
    def names_month(self) -> bool:
        """Whether the path contains a year and month, with or without a day."""
        return self._has_digit and bool(MONTH_IN_PATH.search(self.parts.path))

    @lazy_property
    def _has_digit(self) -> bool:
        return DIGITS.search(self.parts.path) is not None

    @lazy_property
    def has_ending(self) -> bool:
        return "." in self.parts.path and bool(PAGE_ENDING.search(self.parts.path))

    @lazy_property
    def _directories(self) -> frozenset[str]:
        """Path segments before the last, in lower case."""
        return frozenset(map(str.lower, self.segments[:-1]))

    @lazy_property
    def is_numbered(self) -> bool:
        """Whether a script shows one item by its number: ``index.php?m=content&a=show&id=123``, ``NewsShow.asp?ID=23``."""
        if not self.query:
            return False
        values = dict(self.query)
        shows = SHOW_ACTION.search(self.stem) or any(SHOW_ACTION.fullmatch(value) for value in values.values())
        return bool(shows) and any(ID_KEYS.match(key.lower()) and value.isdigit() for key, value in values.items())

    @lazy_property
    def features(self) -> frozenset[str]:
        """Names of the features that apply to the URL (keys of ``URL_FEATURES``)."""
        return frozenset([name for name, (_, holds) in (URL_FEATURES if self.query else PATH_FEATURES).items() if holds(self)])

    @lazy_property
    def same_page(self) -> str:
        """URL without its fragment, as sent to the server."""
        return self.url.partition("#")[0]


def url_pattern(address: Address) -> str:
    """Return the URL pattern shared by pages of one template: numbers, codes and slugs become placeholders, short words are kept.

    ``https://news.site.example/20/0802/FJ1PABCD01.html`` → ``site.example/N2/N4/C.html``.
    """
    keys = "&".join(sorted({key for key, _ in address.query}))
    return f"{address.domain}/{'/'.join(map(shape_of, address.segments))}?{keys}"


@lru_cache(maxsize=4096)  # links share directories
def shape_of(segment: str) -> str:
    """Return a path segment with its numbers, code or slug replaced by a placeholder."""
    stem = _stem(segment)
    ending = segment[len(stem) :].lower()
    short = "C" if CODE.fullmatch(stem) else DIGITS.sub(lambda digits: f"N{min(len(digits.group()), 8)}", stem.lower())
    return ("S" if _word_count(stem) >= 3 else short) + ending


@lru_cache(maxsize=4096)
def words_in(segment: str) -> tuple[str, ...]:
    """Return the words of a path segment in lower case: without its extension, and without its counter as well."""
    stem = _stem(segment).lower()
    return (stem, stem[: counter.start()]) if (counter := PAGE_COUNTER.search(stem)) and counter.start() > 2 else (stem,)


def _stem(segment: str) -> str:
    return PAGE_ENDING.sub("", segment) if "." in segment else segment


def _word_count(name: str) -> int:
    if "-" not in name and "_" not in name:
        return 0
    return sum(map(bool, map(WORDS.fullmatch, name.replace("_", "-").split("-"))))


def _is_listing(address: Address) -> bool:
    """Return whether the last name or a directory is a list word, in a URL without date or item number."""
    if address.dated or address.names_month or address.is_numbered:
        return False
    return PAGE_COUNTER.split(address.stem.lower(), 1)[0] in LIST_WORDS or not LIST_DIRECTORIES.isdisjoint(address._directories)


def _is_service(address: Address) -> bool:
    """Return whether the URL has a service word, a user id or a slug like ``terms-of-use``, and no date (``/weather/2026-01-01/…``)."""
    page = len(address.segments) == 1 and SERVICE_SLUG.match(address.stem) is not None
    by_query = any(key in PERSON_KEYS or (key in MODULE_KEYS and value in SERVICE_WORDS) for key, value in address.query)
    return not address.dated and (page or by_query or not SERVICE_WORDS.isdisjoint(address.words))


def _is_media(address: Address) -> bool:
    """Return whether the URL has a media word, or ``v`` as host name or in a path without a date (``v`` also abbreviates channels)."""
    letter = address.host.startswith("v.") or ("v" in address.words and not address.dated)
    return letter or not MEDIA_WORDS.isdisjoint(address.words)


def _is_code(address: Address) -> bool:
    """Return whether the last name is machine-made: letters among digits (``FIT0B0MS000181IU``) or inner capitals (``8GVppf8aesd``)."""
    stem = address.stem
    return bool(CODE.fullmatch(stem)) and (sum(map(str.isdigit, stem)) >= 2 or bool(re.search("[a-z0-9][A-Z].*[a-z]", stem)))


def _is_shallow(address: Address) -> bool:
    """Return whether the path is one or two plain names: a channel (``/sports/``, ``/news/world``)."""
    if not 1 <= len(address.segments) <= 2:
        return False
    specific = address.last_id >= SHORT_ID or address.slug_words >= 3 or _is_code(address) or address.has_ending
    return not specific


URL_FEATURES: Mapping[str, tuple[float, Callable[[Address], bool]]] = {
    "url-root": (-6.0, lambda a: not a.segments and not a.query),
    "url-file": (-6.0, lambda a: "." in a.parts.path and bool(FILE_ENDING.search(a.parts.path))),
    "url-too-long": (-6.0, lambda a: len(a.url) > MAX_URL_CHARS),
    "url-shallow": (-2.5, _is_shallow),
    "url-day": (2.5, lambda a: a.dated),
    "url-month": (1.0, lambda a: not a.dated and a.names_month),
    "url-long-id": (1.5, lambda a: a.last_id >= LONG_ID),
    "url-short-id": (0.5, lambda a: SHORT_ID <= a.last_id < LONG_ID),
    "url-code": (1.0, _is_code),
    "url-page": (0.5, lambda a: a.has_ending and a.stem.lower() not in LIST_WORDS),
    "url-slug": (1.0, lambda a: 3 <= a.slug_words < 5),
    "url-long-slug": (2.0, lambda a: a.slug_words >= 5),
    "url-article-word": (1.0, lambda a: not ARTICLE_WORDS.isdisjoint(a._directories) or NAMED_ITEM.match(a.stem.lower()) is not None),
    "url-numbered": (1.5, lambda a: a.is_numbered and a.thread_form is None),
    "url-list-word": (-2.0, _is_listing),
    "url-media-word": (-6.0, _is_media),
    "url-service-word": (-2.5, _is_service),
    "url-search": (-6.0, lambda a: any(key.lower() in SEARCH_KEYS for key, _ in a.query)),
    "url-query-only": (-1.0, lambda a: bool(a.query) and a.last_id < SHORT_ID),
    "url-thread": (0.0, lambda a: a.thread_form is not None),  # its weight depends on the page
    "url-later-page": (-3.0, lambda a: bool(LATER_PAGE.search(a.same_page[:MAX_EXAMINED_CHARS]))),
    "url-comments": (-6.0, lambda a: "#" in a.url and bool(COMMENT_FRAGMENT.search(a.url.partition("#")[2][:MAX_EXAMINED_CHARS]))),
}  # features of a URL: weight in logits (:mod:`newsportal.extractors.lists.hub_score`) and test
PATH_FEATURES = {name: fact for name, fact in URL_FEATURES.items() if name not in ("url-numbered", "url-search", "url-query-only")}
