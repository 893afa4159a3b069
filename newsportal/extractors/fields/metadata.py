"""Read a page's metadata: ``meta`` elements, JSON-LD, microdata, ``link rel``, ``html lang``."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from newsportal.extractors.article.hints import find_elements, short_text
from newsportal.extractors.lists.hub_urls import Address
from newsportal.text import CJK, chinese_share, clean, dom, fold_characters

ARTICLE_TYPES: Final = re.compile(r"Article|BlogPosting|Report|LiveBlogPosting|WebPage$")
MAX_JSON: Final = 1_000_000
MAX_OBJECTS: Final = 500  # larger JSON-LD, or more objects, describes a catalogue, not an article
MAX_NESTING: Final = 4
_WRAPPING = re.compile(r"^\s*(?:<!--|/\*.*?\*/|//<!\[CDATA\[)|(?:-->|//\]\]>)\s*$")
_COMMENT = re.compile(r"(?m)(?:^|(?<=[,{\[]))[ \t]*//[^\n]*$")
_LAST_COMMA = re.compile(r",(?=\s*[\]}])")


@dataclass(frozen=True, slots=True)
class Metadata:
    """``names``: the first content of every ``meta`` by its lower-case name, property or itemprop; ``objects``: JSON-LD of articles, then
    their microdata; ``by_id``: other JSON-LD objects (people, images) by ``@id``; ``citation_authors``: one per ``meta``."""

    names: Mapping[str, str] = field(default_factory=dict)
    objects: tuple[Mapping[str, Any], ...] = ()
    by_id: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    canonical: str | None = None
    language: str | None = None
    citation_authors: tuple[str, ...] = ()

    def get(self, name: str) -> str | None:
        return self.names.get(name)

    def article(self, key: str) -> str | None:
        """Return a text field of the JSON-LD article, such as ``headline``, ``datePublished``, ``articleBody``."""
        for thing in self.objects:
            value = thing.get(key)
            if isinstance(value, str) and value.strip():
                return value.strip()
        return None

    def article_image(self) -> str | None:
        """Return the URL of the JSON-LD article's ``image``: a text, an object with ``url``, an ``@id``, or a list of these."""
        for thing in self.objects:
            value = _first(thing.get("image"))
            if isinstance(value, dict):
                value = value if "url" in value or "contentUrl" in value else self.by_id.get(str(value.get("@id")), value)
                value = _first(value.get("url") or value.get("contentUrl"))
            if isinstance(value, str) and value.strip():
                return value.strip()
        return None

    def named(self, key: str, *, organisations: bool = False) -> tuple[str, ...]:
        """Return the names of people, or of organisations, under ``key`` of the JSON-LD article (``author``, ``publisher``)."""
        for thing in self.objects:
            found = tuple(name for name, is_organisation in self._names(thing.get(key)) if is_organisation == organisations and name)
            if found:
                return found
        return ()

    def _names(self, value: object, is_organisation: bool = False, depth: int = 0) -> Iterator[tuple[str, bool]]:
        """Yield each name, and whether it is an organisation's; an object may be defined elsewhere under its ``@id``."""
        if depth > MAX_NESTING:
            return
        if isinstance(value, str):
            yield clean(value), is_organisation
        elif isinstance(value, dict):
            thing = value if "name" in value else self.by_id.get(str(value.get("@id")), value)
            yield from self._names(thing.get("name"), "Organi" in type_of(thing), depth + 1)
        elif isinstance(value, list):
            for item in value[:20]:
                yield from self._names(item, is_organisation, depth + 1)


def read_metadata(document: dom.Document) -> Metadata:
    """Read all metadata in one pass over the page. Never raises: invalid JSON is skipped."""
    root = document.root
    names: dict[str, str] = {}
    things: list[Mapping[str, Any]] = []
    by_id: dict[str, Mapping[str, Any]] = {}
    authors: list[str] = []
    canonical = None
    for node in root.iter("meta", "script", "link"):
        if node.tag == "meta":
            key = node.get("property") or node.get("name") or node.get("itemprop") or ""
            content = clean(node.get("content") or "")
            if key and content:
                names.setdefault(key.strip().lower(), content)
                if key == "citation_author":
                    authors.append(content)
        elif node.tag == "link":
            if canonical is None and "canonical" in (node.get("rel") or "").lower().split():
                canonical = dom.link_of(node, document.base)
        elif "ld+json" in (node.get("type") or "").lower():
            for thing in _objects(node.text or ""):
                if ARTICLE_TYPES.search(type_of(thing)):
                    things.append(thing)
                elif "@id" in thing and ("name" in thing or "url" in thing):
                    by_id.setdefault(str(thing["@id"]), thing)
    things.extend(microdata_articles(document))
    things.sort(key=lambda thing: type_of(thing).endswith("WebPage"))
    language = root.get("lang") or root.get("xml:lang") or names.get("content-language")
    return Metadata(names, tuple(things), by_id, canonical, language, tuple(authors))


def type_of(thing: Mapping[str, Any]) -> str:
    kind = thing.get("@type")
    return str(kind[0]) if isinstance(kind, list) and kind else str(kind)


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    if len(text) > MAX_JSON:
        return
    # JSON as found on pages: in a comment, with line feeds in strings, line comments, trailing commas
    text = _WRAPPING.sub("", text.strip().rstrip(";"))
    try:
        try:
            found = json.loads(text, strict=False)
        except ValueError:
            found = json.loads(_LAST_COMMA.sub("", _COMMENT.sub("", text)), strict=False)
    except (ValueError, RecursionError):
        return
    waiting, count = [found], 0
    while waiting and count < MAX_OBJECTS:
        thing, count = waiting.pop(0), count + 1
        if isinstance(thing, list):
            waiting.extend(thing)
        elif isinstance(thing, dict):
            yield thing
            waiting.extend(value for key, value in thing.items() if key in ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement"))


def canonical_of(document: dom.Document, meta: Metadata) -> str | None:
    """Return ``rel=canonical``, else ``og:url``, if plausible: on the same site, and not its front page unless this is it."""
    declared = meta.canonical or dom.join(document.base, meta.get("og:url") or "")
    if not declared:
        return None
    page, canonical = Address(document.url), Address(declared)
    if not page.host or page.domain != canonical.domain:
        return None
    if canonical.parts.path in ("", "/") and not canonical.parts.query and page.parts.path not in ("", "/"):
        return None
    return declared


# Articles marked up with HTML microdata (``itemscope``, ``itemtype``, ``itemprop``), in the shape of JSON-LD. WHATWG HTML, "Microdata": an
# item's properties are the ``itemprop`` elements below it that are not inside another item; a property that is an item itself is an object;
# the value is ``content``, a URL or a ``datetime``, depending on the element, else the text.

ARTICLE: Final = re.compile(r"schema\.org/(?:\w*Article|BlogPosting|SocialMediaPosting|LiveBlogPosting|\w*Report)$")
# A quick check for such items in the source.
MICRODATA_HINT: Final = re.compile(r"schema\.org/(?:\w{0,30}Article|\w{0,30}Posting|\w{0,30}Report)[\"'\s>]")
MAX_ITEMS: Final = 5
MAX_PROPERTIES: Final = 200
MAX_VALUE_CHARS: Final = 2000
URL_KEYS: Final = {**dict.fromkeys(("a", "link", "area"), "href"), **dict.fromkeys(("img", "audio", "video", "source", "iframe"), "src")}
# Properties that contain the full text or other people's texts: these are read from the page instead.
SKIPPED_PROPERTIES: Final = frozenset(("articlebody", "text", "reviewbody", "comment"))


def microdata_articles(document: dom.Document) -> Iterator[Mapping[str, Any]]:
    """Yield each article of the page as a JSON-LD object (``@type``, properties). A page without microdata costs one text search."""
    count, written = 0, "schema.org/" in document.html and MICRODATA_HINT.search(document.html)
    for node in find_elements(document, ("schema.org/",), ("itemtype",)) if written else ():
        if node.get("itemscope") is not None and ARTICLE.search((node.get("itemtype") or "").strip()):
            count += 1
            if count > MAX_ITEMS:
                return
            yield _item(node, 0)


def _item(node: dom.Element, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {"@type": (node.get("itemtype") or "Thing").strip().rpartition("/")[2]}
    if node.get("itemid"):
        found["@id"] = node.get("itemid")
    for number, (name, element) in enumerate(_properties(node)):
        if number >= MAX_PROPERTIES:
            break
        if name.lower() in SKIPPED_PROPERTIES:
            continue
        nested = element.get("itemscope") is not None
        value = _item(element, depth + 1) if nested and depth < MAX_NESTING else _value(element)
        if not value:
            continue
        if name not in found:
            found[name] = value
        elif isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = [found[name], value]
    return found


def _properties(node: dom.Element) -> Iterator[tuple[str, dom.Element]]:
    """Yield the named elements of this item, in document order; not recursive."""
    waiting = list(reversed(node))
    while waiting:
        element = waiting.pop()
        for name in (element.get("itemprop") or "").split():
            yield name, element
        if element.get("itemscope") is None:
            waiting.extend(reversed(element))


def _value(node: dom.Element) -> str:
    content = node.get("content")
    if content is not None:
        return str(content).strip()[:MAX_VALUE_CHARS]
    address = URL_KEYS.get(node.tag)
    if address and node.get(address):
        return str(node.get(address)).strip()[:MAX_VALUE_CHARS]
    if node.tag in ("time", "data", "meter") and (value := node.get("datetime") or node.get("value")):
        return str(value).strip()
    return short_text(node)[:MAX_VALUE_CHARS]


# Language detection.

KANA: Final = re.compile("[\u3041-\u30fa]")
HANGUL: Final = re.compile("[\uac00-\ud7a3]")
ENGLISH: Final = re.compile(r"\b(?:the|of|and|to|is|that)\b", re.IGNORECASE)
SAMPLE_CHARS: Final = 3000


def language_of(meta: Metadata, lines: Sequence[str]) -> str | None:
    """Return the language (BCP 47), by the text first: templates are often copied with a wrong ``lang``."""
    text = "".join(lines)[:SAMPLE_CHARS]
    declared = re.sub(r"[^A-Za-z-].*$", "", (meta.language or "").replace("_", "-")).lower()
    if len(KANA.findall(text)) > 0.05 * len(text) > 0:
        return "ja"
    if len(HANGUL.findall(text)) > 0.2 * len(text) > 0:
        return "ko"
    if chinese_share(text) > 0.3:
        characters = CJK.findall(text)[:600]
        changed = sum(1 for before, after in zip(characters, fold_characters("".join(characters)), strict=True) if before != after)
        return "zh-Hant" if changed > 0.1 * len(characters) else "zh"
    if declared and not declared.startswith(("zh", "ja", "ko")) and 2 <= len(declared.split("-")[0]) <= 3:
        return declared.split("-")[0]
    return "en" if len(ENGLISH.findall(text)) > len(text) / 100 else None
