"""Whether stories are recommended, and how."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from newsportal.sources.parts import Part


class Recommending(Part):
    """Whether the portal remembers what readers look at, and recommends by it."""

    enabled: bool = True
    """false: nothing is recorded of readers, and nothing recommended."""
    fit_hour: Annotated[int, Field(ge=0, le=23)] = 4
    """The hour, in the portal's time zone, at which newsportal up learns anew."""
    days: Annotated[int, Field(ge=1, le=366)] = 30
    """Stories of the last days that may be recommended without anybody having looked at them."""
