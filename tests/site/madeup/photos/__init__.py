"""A made-up picture Web on loopback: photo stories in many layouts, reposted on other hosts. See docs/made-up-web.md."""

from madeup.photos.gold import GoldStory, Picture, alike
from madeup.photos.server import MadeUpPhotos
from madeup.photos.sites import SITES, STATIC
from madeup.photos.world import World

__all__ = ["SITES", "STATIC", "GoldStory", "MadeUpPhotos", "Picture", "World", "alike"]
