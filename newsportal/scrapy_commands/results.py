"""``scrapy results``: see ``newsportal results --help``."""

from newsportal.scrapy_commands import command

Command = command(__name__)
