"""Everything is said in pyproject.toml. ``scrapyd-deploy`` runs this file, and writes one of its own where there is none."""

from setuptools import setup

setup()
