"""newsportal: name your topics and sources in one file; a minute later you have your own topic news portal."""

__version__ = "0.1.0"
