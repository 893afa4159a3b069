"""``scrapy serve``: see ``newsportal serve --help``."""

from newsportal.commands.scrapy import Passthrough


class Command(Passthrough):
    """The same as ``newsportal serve``."""
