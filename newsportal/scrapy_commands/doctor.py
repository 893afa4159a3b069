"""``scrapy doctor``: see ``newsportal doctor --help``."""

from newsportal.commands.scrapy import Passthrough


class Command(Passthrough):
    """The same as ``newsportal doctor``."""
