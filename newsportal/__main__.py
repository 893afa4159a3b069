"""``python -m newsportal`` is ``newsportal``."""

from newsportal.cli import main

main()
