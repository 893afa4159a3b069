"""Scrapy middlewares: robots.txt (RFC 9309), robots tags, challenge and login pages, Retry-After, redirects to invalid URLs, host locks."""

from newsportal.crawl.middlewares.challenge import ChallengeMiddleware, ChallengePage, challenge_of
from newsportal.crawl.middlewares.retry import (
    BadRedirect,
    HostLockMiddleware,
    LeaseMiddleware,
    MetaRefreshMiddleware,
    PatientRetryMiddleware,
    RedirectMiddleware,
)
from newsportal.crawl.middlewares.robots import RobotsDenied, RobotsMiddleware
from newsportal.crawl.middlewares.robots_tags import RobotsTagsMiddleware

__all__ = [
    "BadRedirect", "ChallengeMiddleware", "ChallengePage", "HostLockMiddleware", "LeaseMiddleware", "MetaRefreshMiddleware",
    "PatientRetryMiddleware", "RedirectMiddleware", "RobotsDenied", "RobotsMiddleware", "RobotsTagsMiddleware", "challenge_of",
]  # fmt: skip
