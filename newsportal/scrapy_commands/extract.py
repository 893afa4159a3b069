"""``scrapy extract``: see ``newsportal extract --help``."""

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough):
    """The same as ``newsportal extract``."""
