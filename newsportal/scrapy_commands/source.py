"""``scrapy source``: see ``newsportal source --help``."""

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough):
    """The same as ``newsportal source``."""
