"""Downloader middlewares of ours: robots.txt (RFC 9309), and pages that stand in front of a page."""

from newsportal.middlewares.challenge import ChallengeMiddleware, ChallengePage, challenge_of
from newsportal.middlewares.robots import RobotsDenied, RobotsMiddleware

__all__ = ["ChallengeMiddleware", "ChallengePage", "RobotsDenied", "RobotsMiddleware", "challenge_of"]
