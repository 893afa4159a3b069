"""``scrapy search``: see ``newsportal search --help``."""

from newsportal.commands.scrapy import Passthrough


class Command(Passthrough):
    """The same as ``newsportal search``."""
