"""Downloader middlewares of ours: robots.txt (RFC 9309), what pages say to robots, pages that stand in front of a page, retries at the
server's word, redirects to what is no address, and the frontier's turns."""

from newsportal.crawl.middlewares.challenge import ChallengeMiddleware, ChallengePage, challenge_of
from newsportal.crawl.middlewares.retry import (
    BadRedirect,
    ChildrenMiddleware,
    MetaRefreshMiddleware,
    PatientRetryMiddleware,
    RedirectMiddleware,
    TurnsMiddleware,
)
from newsportal.crawl.middlewares.robots import RobotsDenied, RobotsMiddleware
from newsportal.crawl.middlewares.robots_tags import RobotsTagsMiddleware

__all__ = [
    "BadRedirect", "ChallengeMiddleware", "ChallengePage", "ChildrenMiddleware", "MetaRefreshMiddleware", "PatientRetryMiddleware",
    "RedirectMiddleware", "RobotsDenied", "RobotsMiddleware", "RobotsTagsMiddleware", "TurnsMiddleware", "challenge_of",
]  # fmt: skip
