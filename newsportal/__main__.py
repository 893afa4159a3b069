"""Run ``newsportal`` as ``python -m newsportal``."""

from newsportal.cli import main

main()
