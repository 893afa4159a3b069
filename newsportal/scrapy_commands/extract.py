"""``scrapy extract``: see ``newsportal extract --help``."""

from newsportal.commands.scrapy import Passthrough


class Command(Passthrough):
    """The same as ``newsportal extract``."""
