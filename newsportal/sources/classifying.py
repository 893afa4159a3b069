"""How articles are classified: words of one's own, and when a trained model may take over from them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from newsportal.sources.parts import Part
from newsportal.sources.values import Name, Words


class CategoryWords(Part):
    """A category of one's own, or more words for one that comes with newsportal."""

    name: Name
    """The category's name; one of those that come with newsportal, or a new one."""
    enabled: bool = True
    """false: articles never get this category from the lexicon."""
    words: Words = ()
    """Words that nearly decide alone."""
    hints: Words = ()
    """Words that only hint at it."""


class Classifying(Part):
    """When a trained model takes the lexicon's place, and whether it is trained anew by itself."""

    good_enough: Annotated[float, Field(ge=0, le=1)] = 0.75
    """The macro-F1 on texts held back that a model needs to be used; below it the lexicon goes on."""
    retrain: bool = True
    """Whether newsportal up trains models by itself once enough new articles are known."""
    least_new: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """How many new labelled articles make a training worth while."""
