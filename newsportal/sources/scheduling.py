"""When sources are visited that name no interval of their own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from newsportal.messages import Message
from newsportal.sources.parts import Minutes, Part
from newsportal.sources.values import mistake


class Scheduling(Part):
    """How the visits are timed."""

    policy: Literal["learnt", "fixed", "hours", "weight"] = "learnt"
    """learnt: by what each source's visits brought; fixed: every usual minutes; hours and weight: as two papers tell it."""
    usual: Minutes = 60.0
    """Minutes between two visits of a source of which nothing is known yet; with policy fixed, of every source."""
    shortest: Minutes = 10.0
    """Minutes: no source is visited more often, unless its own interval says so."""
    longest: Minutes = 720.0
    """Minutes: every source is visited as often as that, however little it brings."""
    per_hour: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Visits an hour of all sources together, spent where they find most; by default as many as a visit every usual minutes makes."""
    websub: bool = True
    """true: feeds that offer a hub tell the portal at once of what is new (WebSub), if portal.url is an address they can reach."""

    @model_validator(mode="after")
    def _times_are_in_order(self) -> Scheduling:
        if self.shortest > self.longest:
            message = Message("sources.longer-than", found=self.shortest, key="longest", limit=self.longest)
            raise mistake(message, at=("shortest",))
        return self
