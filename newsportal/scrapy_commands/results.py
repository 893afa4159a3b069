"""``scrapy results``: see ``newsportal results --help``."""

from newsportal.commands.scrapy import Passthrough


class Command(Passthrough):
    """The same as ``newsportal results``."""
