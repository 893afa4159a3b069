"""Downloader middlewares of ours: robots.txt (RFC 9309)."""

from newsportal.middlewares.robots import RobotsDenied, RobotsMiddleware

__all__ = ["RobotsDenied", "RobotsMiddleware"]
