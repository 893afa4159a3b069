"""Parse a mail (RFC 5322, MIME) as a feed entry: title, author, date, its text as HTML without tracking pixels and unsubscribe notices.

Only text parts are decoded; attachments are ignored. Mails are untrusted, so the number of parts and the length of headers are bounded
before anything is decoded.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.utils import parseaddr, parsedate_to_datetime
from html import escape
from itertools import islice
from typing import Final
from urllib.parse import quote, urlsplit

from newsportal.errors import NotApplicable
from newsportal.extractors.article.sanitise import sanitise
from newsportal.extractors.fields.date import is_plausible
from newsportal.extractors.fields.headlines import is_long_enough
from newsportal.items import content_id
from newsportal.text import clean, dom
from newsportal.text.characters import CONTROL
from newsportal.text.encoding import decode

MAX_PARTS: Final = 100  # of multipart parts: a daily digest has some dozens; a thousand nested parts exceed Python's recursion limit
MAX_LINES: Final = 2_000  # that begin with two dashes, like boundaries between parts
MAX_HEAD_BYTES: Final = 256 * 1024  # headers of a mail relayed by twenty servers take some 20 kB
MAX_HEADER_CHARS: Final = 4_000  # RFC 5322 allows 998 a line; finding encoded words takes quadratic time
MAX_TITLE_CHARS: Final = 300
MAX_NOTICE_CHARS: Final = 400  # "You receive this because …" with a postal address. Chosen.
MAX_NOTICES: Final = 20
MAX_LINKS: Final = 200
MAX_NODES: Final = 200  # elements read for the text of a link, as in list pages
MAX_PIXEL_SIDE: Final = 3  # smaller images are spacers or tracking pixels

BOUNDARY: Final = re.compile(rb"boundary\s*=", re.IGNORECASE)
HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
STYLE_SIZE: Final = re.compile(r"(?<![-\w])(?:width|height)\s*:\s*(\d+)\s*px", re.IGNORECASE)
BASE_URL: Final = "mid:"  # base URL against which relative URLs are invalid
FOOTER_LINK: Final = re.compile(
    r"unsubscribe|opt[- ]?out|(?:manage|update|change)\b.{0,20}\b(?:preferences|profile|subscription)|退订|取消订阅|取消訂閱|订阅设置|"
    r"view\b.{0,30}\bbrowser|view\b.{0,20}\bonline|read online|web version|浏览器(?:中|里|内)?(?:查看|打开|阅读)|网页版|在线(?:阅读|查看)",
    re.IGNORECASE,
)
WEB_VERSION_LINK: Final = re.compile(r"browser|online|web version|on the web|浏览器|网页版|在线(?:阅读|查看)", re.IGNORECASE)
PLAIN_URL: Final = re.compile(r"https?://[^\s<>\"']+[^\s<>\"'.,;:!?)\]，。；：！？）】]")
SIGNATURE: Final = re.compile(r"^-- ?$", re.MULTILINE)
PARSE_ERRORS: Final = (MessageError, RecursionError, ValueError, LookupError, TypeError, AttributeError)
"""Errors raised by Python's ``email`` for malformed mails."""


@dataclass(frozen=True, slots=True)
class Mail:
    """``id``: its Message-ID, else a hash of its bytes. ``url``: its URL on the Web if the mail has one, else a ``mid:`` URL (RFC 2392).
    ``links``: URLs with their titles, in order."""

    id: str
    url: str
    title: str | None
    html: str
    published: datetime
    author: str | None
    links: tuple[tuple[str, str], ...]


def parse_mail(raw: bytes, received: datetime, truncated: bool = False) -> Mail:
    """Parse a mail received at ``received``; ``truncated``: whether its end is missing. Raises ``NotApplicable``: ``mail-parts``,
    ``mail-broken``, ``mail-too-large``, ``no-body``."""
    if len(BOUNDARY.findall(raw)) > MAX_PARTS or raw.count(b"\n--") > MAX_LINES:
        raise NotApplicable("mail-parts", "it has too many parts")
    if len(_head(raw)) > MAX_HEAD_BYTES:
        raise NotApplicable("mail-broken", f"its headers have more than {MAX_HEAD_BYTES} bytes")
    try:
        message = message_from_bytes(raw)
        html = _body(message)
        headers = {name: _header(message, name) for name in ("Subject", "From", "Date", "Received", "Archived-At", "List-Archive")}
    except PARSE_ERRORS as error:
        raise NotApplicable("mail-broken", f"{type(error).__name__}: {error}") from error
    if html is None:
        raise NotApplicable("mail-too-large" if truncated else "no-body", "no part of text")
    page = dom.parse_html(html)
    root = page.find("body") if page.find("body") is not None else page
    online = _without_notices(root)
    lines = dom.lines_of(root)
    if not lines:
        raise NotApplicable("no-body", "no text except notices")
    name, address = parseaddr(headers["From"])
    matches = [PLAIN_URL.search(headers[key]) for key in ("Archived-At", "List-Archive")]
    message_url, archive_url = (dom.join(BASE_URL, match[0]) if match else None for match in matches)
    id, url = id_of(raw), message_url or online or archive_url
    return Mail(
        id,
        url or f"mid:{quote(id, safe='@!$&*+=')}",
        (clean(headers["Subject"]) or lines[0])[:MAX_TITLE_CHARS],
        CONTROL.sub("", sanitise(dom.html_of(root), url or BASE_URL)),
        _published((headers["Date"], headers["Received"].rpartition(";")[2]), received),
        clean(name) or clean(address) or None,
        tuple(_links(root)),
    )


def id_of(raw: bytes) -> str:
    """Return the id of a mail, even of one that cannot be parsed."""
    found = None
    with suppress(*PARSE_ERRORS):
        found = re.search(r"<?([^<>\s]+)>?", _header(message_from_bytes(_head(raw)[:MAX_HEAD_BYTES]), "Message-ID"))
    return found[1] if found and found[1].isprintable() else f"{content_id(raw.decode('latin-1'))}@mail.invalid"


def _head(raw: bytes) -> bytes:
    return raw.partition(b"\r\n\r\n")[0].partition(b"\n\n")[0]


def _header(message: Message, name: str) -> str:
    """Return a header as text, by RFC 2047 or in whatever encoding the sender used; empty if it is missing."""
    header = next((str(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")[:MAX_HEADER_CHARS]
    if not header.isascii():
        header = decode(header.encode("utf-8", "surrogateescape"))[0]
    try:
        pieces = decode_header(header.replace("\r", "").replace("\n", ""))
    except (MessageError, ValueError):  # invalid base64
        return header
    texts = (
        piece if isinstance(piece, str) else decode(piece, f"text/plain; charset={charset or 'utf-8'}")[0] for piece, charset in pieces
    )
    return "".join(texts)


def _body(message: Message) -> str | None:
    """Return the first HTML part, else the first plain text part as HTML; attachments are skipped."""
    plain = None
    for part in _read_parts(message):
        kind = part.get_content_type()
        if kind not in ("text/html", "text/plain"):
            continue
        payload = part.get_payload(decode=True)
        if not isinstance(payload, bytes) or not payload.strip():
            continue
        charset = part.get_param("charset")
        text = decode(payload, f"{kind}; charset={charset if isinstance(charset, str) else ''}")[0]
        if kind == "text/html":
            return text
        if plain is None:
            plain = _marked_up(text, flowed=str(part.get_param("format")).lower() == "flowed")
    return plain


def _read_parts(message: Message) -> Iterator[Message]:
    """Yield the parts shown with the mail; attachments, such as a mail forwarded as a file, are skipped."""
    if message.get_content_disposition() == "attachment":
        return
    yield message
    for part in message.get_payload() if message.is_multipart() else ():
        if isinstance(part, Message):
            yield from _read_parts(part)


def _marked_up(text: str, *, flowed: bool) -> str:
    """Return plain text as paragraphs with links, without its signature. ``flowed``: a trailing space joins lines (RFC 3676)."""
    text = SIGNATURE.split(text.replace("\r\n", "\n"), maxsplit=1)[0]
    text = text.replace(" \n", " ") if flowed else text
    paragraphs = (part for part in re.split(r"\n\s*\n", text) if part.strip())
    content = (part for part in paragraphs if len(part) > MAX_NOTICE_CHARS or not FOOTER_LINK.search(part))
    linked = (PLAIN_URL.sub(lambda match: f'<a href="{match[0]}">{match[0]}</a>', escape(part, quote=False)) for part in content)
    return "".join(f"<p>{part.strip().replace(chr(10), '<br>')}</p>" for part in linked)


def _without_notices(root: dom.Element) -> str | None:
    """Remove hidden elements and notices. Return the URL of the online version, unless it is the subscriber's own (with parameters, which
    might let readers unsubscribe him)."""
    for node in [node for node in root.iter() if _is_hidden(node)]:
        if node.getparent() is not None:
            node.drop_tree()
    online, half = None, len(dom.text_of(root)) / 2
    notices = (node for node in root.iter("a") if FOOTER_LINK.search(f"{dom.text_of(node, MAX_NODES)} {node.get('href') or ''}"))
    for node in list(islice(notices, MAX_NOTICES)):
        url = dom.link_of(node, BASE_URL)
        if online is None and url and WEB_VERSION_LINK.search(dom.text_of(node, MAX_NODES)) and not urlsplit(url).query:
            online = url
        while (above := node.getparent()) is not None and above.tag not in ("body", "html"):
            length = len(dom.text_of(above))
            if length > MAX_NOTICE_CHARS or length > half:
                break
            node = above
        if node.getparent() is not None:
            node.drop_tree()
    return online


def _is_hidden(node: dom.Element) -> bool:
    """Return whether an element is invisible to readers; also true of embedded images and of tracking pixels."""
    style = (node.get("style") or "")[:MAX_HEADER_CHARS]
    if node.tag != "img":
        return bool(HIDDEN.search(style)) and node.tag not in ("body", "html")
    sides = [node.get(side) or "" for side in ("width", "height")] + STYLE_SIZE.findall(style)
    return (node.get("src") or "").lower().startswith("cid:") or any(map(_is_pixel, sides)) or bool(HIDDEN.search(style))


def _is_pixel(side: str) -> bool:
    number = side.strip().lower().removesuffix("px")
    return number.isascii() and number.isdigit() and int(number[:9]) < MAX_PIXEL_SIDE


def _links(root: dom.Element) -> Iterator[tuple[str, str]]:
    """Return URLs whose link texts read like titles, each with its longest text."""
    found: dict[str, str] = {}
    for node in root.iter("a"):
        if (url := dom.link_of(node, BASE_URL)) is not None and (url in found or len(found) < MAX_LINKS):
            found[url] = max(found.get(url, ""), dom.text_of(node, MAX_NODES), key=len)
    return ((url, text[:MAX_TITLE_CHARS]) for url, text in found.items() if is_long_enough(text) and not PLAIN_URL.fullmatch(text))


def _published(texts: tuple[str, ...], received: datetime) -> datetime:
    """Return the first plausible date, else ``received``."""
    for text in texts:
        with suppress(ValueError, TypeError, IndexError, OverflowError):
            found = parsedate_to_datetime(text)
            if is_plausible(found := found if found.tzinfo else found.replace(tzinfo=UTC), received):
                return found
    return received
