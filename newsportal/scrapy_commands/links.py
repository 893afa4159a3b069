"""``scrapy links``: see ``newsportal links --help``."""

from newsportal.commands.scrapy import Passthrough


class Command(Passthrough):
    """The same as ``newsportal links``."""
