"""What ``sources.yaml`` says of pictures: whether their sizes are looked up, and where they are kept."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from newsportal.sources.parts import Part
from newsportal.sources.values import FilePath, Space


class Pictures(Part):
    """The pictures of photo stories."""

    look: bool = True
    """true: format and size are read from each picture's first bytes, and logos and banners are told by them."""
    prints: Annotated[int, Field(ge=0, le=1000)] = 6
    """How many pictures of a story, the first ones, are fetched whole for their perceptual hashes, by which copies of stories are found.
    Smaller ones have one in any case."""
    cache: FilePath | None = None
    """A folder in which pictures that readers look at are kept, with thumbnails; by default browsers fetch them from their publishers."""
    cache_size: Space = 2 * 1024**3
    """How much the cache holds; what was looked at longest ago goes first: bytes, or a text such as 2 GB."""
    max_megapixels: Annotated[float, Field(ge=1, le=500)] = 60
    """Larger pictures are refused (width × height, in millions)."""

    @property
    def max_pixels(self) -> int:
        return int(self.max_megapixels * 1_000_000)
