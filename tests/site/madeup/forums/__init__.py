"""Made-up forums on loopback, which grow from visit to visit. See docs/made-up-web.md."""

from madeup.forums.server import MadeUpForums
from madeup.forums.world import Board, Forum, Post, Thread, forums

__all__ = ["Board", "Forum", "MadeUpForums", "Post", "Thread", "forums"]
