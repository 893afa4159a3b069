"""``scrapy links``: see ``newsportal links --help``."""

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough):
    """The same as ``newsportal links``."""
