"""Made-up article pages with gold answers, and the models trained on them. Not part of the installed package."""

from training.pages import MadeUpPage, made_up_pages

__all__ = ["MadeUpPage", "made_up_pages"]
