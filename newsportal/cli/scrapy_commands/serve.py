"""``scrapy serve``: see ``newsportal serve --help``."""

from newsportal.cli.scrapy_commands import command

Command = command(__name__)
