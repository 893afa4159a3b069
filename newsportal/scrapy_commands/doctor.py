"""``scrapy doctor``: see ``newsportal doctor --help``."""

from scrapy.commands import ScrapyCommand

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough, ScrapyCommand):
    """The same as ``newsportal doctor``."""
