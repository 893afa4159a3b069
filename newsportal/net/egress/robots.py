"""Parsing of robots.txt responses according to RFC 9309. Pure."""

import re
from dataclasses import dataclass

from protego import Protego

MAX_BYTES = 500 * 1024  # the part of a robots.txt that must be read (RFC 9309, 2.5); the rest is ignored
MAX_DELAY = 60.0
"""Seconds; a longer Crawl-delay (not part of RFC 9309) would stop a source. Search engines honour values up to about half a minute."""

LOOKS_LIKE_HTML = re.compile(rb"\s*<(!doctype|html|head|body|\?xml|script)", re.IGNORECASE)
TOKEN = re.compile(r"[A-Za-z_-]+")


@dataclass(frozen=True)
class RobotsRules:
    """``refusal``: why all is forbidden (robots.txt could not be fetched); ``cause``: its slug in the run report. ``agent``: our name."""

    parser: Protego | None = None
    agent: str = "newsportal"
    refusal: str | None = None
    cause: str = "robots-unreachable"

    def allows(self, url: str) -> bool:
        return self.refusal is None and (self.parser is None or bool(self.parser.can_fetch(url, self.agent)))

    @property
    def crawl_delay(self) -> float | None:
        return None if self.parser is None else self.parser.crawl_delay(self.agent)

    @property
    def delay(self) -> float:
        """Seconds between two requests, at most :data:`MAX_DELAY`; 0 without a Crawl-delay."""
        return min(self.crawl_delay or 0.0, MAX_DELAY)


def product_token(user_agent: str) -> str:
    """Return our name in robots.txt: the first word of the user agent (RFC 9309, 2.2.1)."""
    match = TOKEN.match(user_agent.strip())
    return match[0] if match else "newsportal"


def parse_robots(status: int, body: bytes, token: str) -> RobotsRules:
    """Return the rules of a response: 2xx is parsed, 5xx forbids everything, all others (missing, no access) allow everything."""
    if status >= 500:
        return RobotsRules(agent=token, refusal=f"robots.txt answered {status}")
    if not 200 <= status < 300:
        return RobotsRules(agent=token)
    text = body[:MAX_BYTES]
    if len(body) > MAX_BYTES:
        text = text[: text.rfind(b"\n") + 1]  # a truncated rule has another meaning
    text = text.removeprefix(b"\xef\xbb\xbf")
    if LOOKS_LIKE_HTML.match(text):
        return RobotsRules(agent=token)  # a server that returns a page for missing files
    return RobotsRules(Protego.parse(text.decode("utf-8", "replace")), token)
