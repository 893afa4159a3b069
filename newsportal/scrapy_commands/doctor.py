"""``scrapy doctor``: see ``newsportal doctor --help``."""

from newsportal.scrapy_commands import Passthrough


class Command(Passthrough):
    """The same as ``newsportal doctor``."""
