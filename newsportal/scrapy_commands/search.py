"""``scrapy search``: see ``newsportal search --help``."""

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough):
    """The same as ``newsportal search``."""
