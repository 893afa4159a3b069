"""Downloader middlewares of ours: robots.txt (RFC 9309), pages that stand in front of a page, retries at the server's word."""

from newsportal.middlewares.challenge import ChallengeMiddleware, ChallengePage, challenge_of
from newsportal.middlewares.retry import PatientRetryMiddleware
from newsportal.middlewares.robots import RobotsDenied, RobotsMiddleware

__all__ = ["ChallengeMiddleware", "ChallengePage", "PatientRetryMiddleware", "RobotsDenied", "RobotsMiddleware", "challenge_of"]
