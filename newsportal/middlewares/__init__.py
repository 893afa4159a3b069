"""Downloader middlewares of ours: robots.txt (RFC 9309), what pages say to robots, pages that stand in front of a page, retries at the
server's word, and the frontier's turns."""

from newsportal.middlewares.challenge import ChallengeMiddleware, ChallengePage, challenge_of
from newsportal.middlewares.retry import PatientRetryMiddleware
from newsportal.middlewares.robots import RobotsDenied, RobotsMiddleware
from newsportal.middlewares.robots_tags import RobotsTagsMiddleware
from newsportal.middlewares.turns import ChildrenMiddleware, TurnsMiddleware

__all__ = [
    "ChallengeMiddleware",
    "ChallengePage",
    "ChildrenMiddleware",
    "PatientRetryMiddleware",
    "RobotsDenied",
    "RobotsMiddleware",
    "RobotsTagsMiddleware",
    "TurnsMiddleware",
    "challenge_of",
]
