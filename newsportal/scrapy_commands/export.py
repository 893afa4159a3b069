"""``scrapy export``: see ``newsportal export --help``."""

from newsportal.commands.scrapy import Passthrough


class Command(Passthrough):
    """The same as ``newsportal export``."""
