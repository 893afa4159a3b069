"""Where a picture is shown from: its publisher."""

from __future__ import annotations

from newsportal.items import Image
from newsportal.portal.reading import web_address


def address_of(article_id: str, place: int, image: Image, *, thumb: bool = False) -> str | None:
    """The address of a picture of a story, fit for a browser, else None."""
    del article_id, place, thumb
    return web_address(image.url)
