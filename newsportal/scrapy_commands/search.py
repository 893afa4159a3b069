"""``scrapy search``: see ``newsportal search --help``."""

from scrapy.commands import ScrapyCommand

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough, ScrapyCommand):
    """The same as ``newsportal search``."""
