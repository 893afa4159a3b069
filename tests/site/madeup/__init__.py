"""A small made-up Web: news sites, feeds, search engines and traps on loopback, for tests and ``make demo``. See docs/made-up-web.md."""

from madeup.engines import CAPTCHA_AFTER
from madeup.manifest import manifest
from madeup.server import MadeUpWeb, Visit
from madeup.sources import sources_yaml
from madeup.traps import Limits

__all__ = ["CAPTCHA_AFTER", "Limits", "MadeUpWeb", "Visit", "manifest", "sources_yaml"]
