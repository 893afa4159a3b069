"""``scrapy source``: see ``newsportal source --help``."""

from newsportal.commands.scrapy import Passthrough


class Command(Passthrough):
    """The same as ``newsportal source``."""
