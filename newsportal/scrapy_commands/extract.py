"""``scrapy extract``: see ``newsportal extract --help``."""

from scrapy.commands import ScrapyCommand

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough, ScrapyCommand):
    """The same as ``newsportal extract``."""
