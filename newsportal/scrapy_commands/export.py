"""``scrapy export``: see ``newsportal export --help``."""

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough):
    """The same as ``newsportal export``."""
