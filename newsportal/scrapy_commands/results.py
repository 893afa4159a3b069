"""``scrapy results``: see ``newsportal results --help``."""

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough):
    """The same as ``newsportal results``."""
