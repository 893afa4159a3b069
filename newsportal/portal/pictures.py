"""Where a picture is shown from: our own cache where ``sources.yaml`` names one, else its publisher."""

from __future__ import annotations

from newsportal.items import Image, content_id
from newsportal.portal.context import Portal
from newsportal.portal.reading import thumbnail, web_address
from newsportal.store.results import StoredArticle

VERSION_CHARS = 8


def address_of(portal: Portal, article_id: str, place: int, image: Image, *, thumb: bool = False) -> str | None:
    """The address of a picture of a story, fit for a browser, else None. ``place`` counts from 1 among those shown."""
    url = web_address(image.url)
    if url is None or portal.desk is None:
        return url
    return f"/picture/{article_id}/{place}{'/thumb' if thumb else ''}?v={version(url)}"


def beside(portal: Portal, article: StoredArticle) -> str | None:
    """The address of the picture that stands beside an article's headline, None where it has none."""
    found = thumbnail(article.images)
    return address_of(portal, article.id, *found, thumb=True) if found else None


def version(url: str) -> str:
    """Tells one picture from another at the same place of a story: what stands there may change, the address with it."""
    return content_id(url)[:VERSION_CHARS]
