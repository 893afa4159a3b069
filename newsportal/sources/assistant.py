"""The assistant: a language model behind an OpenAI-compatible endpoint, and what it may be asked for. Off unless an endpoint is named."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from newsportal.messages import Message
from newsportal.sources.parts import Part
from newsportal.sources.values import Filled, Url, Word, mistake

Prompt = Annotated[str, StringConstraints(min_length=1, max_length=4000)]


class Uses(Part):
    """What the assistant may be asked for."""

    summaries: bool = True
    """Summaries of articles and events."""
    translation: bool = True
    """Titles and texts of articles in the reader's language."""
    titles: bool = True
    """Titles of events, which editors may take."""


class Prompts(Part):
    """What the assistant is told to do, in place of what newsportal says. {language} is the language of whoever asks."""

    summary: Prompt | None = None
    """For a summary of an article or an event."""
    translation: Prompt | None = None
    """For a translation: the first line is the title."""
    title: Prompt | None = None
    """For the title of an event."""


class Assistant(Part):
    """A language model that people may ask on the pages of articles and events. Opening a page never asks it."""

    url: Url | None = None
    """The endpoint's base address, before /chat/completions: https://api.example.org/v1, http://localhost:11434/v1. Without it the
    assistant is off."""
    model: Word | None = None
    """The model's name at the endpoint."""
    key: Filled | None = None
    """The key that the endpoint asks for; better ${NAME} than the key itself."""
    timeout: Annotated[float, Field(ge=1, le=300)] = 60.0
    """Seconds until an answer is given up, with all tries."""
    calls: Annotated[int, Field(ge=1, le=1_000_000)] = 200
    """Calls a day, of all people together."""
    tokens: Annotated[int, Field(ge=1, le=10_000_000_000)] | None = None
    """Tokens a day, as the endpoint counts them; by default any number."""
    max_chars: Annotated[int, Field(ge=500, le=1_000_000)] = 12_000
    """Characters of a text that are sent; the rest is left out."""
    uses: Uses = Uses()
    """What it may be asked for."""
    prompts: Prompts = Prompts()
    """What it is told to do; a changed prompt makes no use of earlier answers."""

    def __repr__(self) -> str:
        return f"Assistant({self.url!r}, {self.model!r})"  # the key does not belong into a log

    @model_validator(mode="after")
    def _check_keys(self) -> Assistant:
        if self.url is not None and self.model is None:
            raise mistake(Message("sources.no-model"), at=("url",))
        if self.key is not None and not (self.key.isascii() and self.key.isprintable()):
            raise mistake(Message("sources.no-key"), at=("key",))
        return self
