"""``scrapy serve``: see ``newsportal serve --help``."""

from newsportal.scrapy_commands import command

Command = command(__name__)
