"""``scrapy serve``: see ``newsportal serve --help``."""

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough):
    """The same as ``newsportal serve``."""
