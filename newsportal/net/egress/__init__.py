"""The only access to the network: a policy of allowed IP addresses, checked name resolution, HTTP for everything except the crawl.

The crawl's download handler (``newsportal.crawl.handlers``) uses the same policy and resolver. See ``docs/decisions/egress.md``.
"""

from newsportal.net.egress.addresses import PUBLIC, Policy, check_address, check_url, points_to_internal, resolve, resolve_async
from newsportal.net.egress.client import Exchange, HttpResponse, fetch, fetch_async, open_exchange, request, was_not_sent
from newsportal.net.egress.decompress import TooLarge, decompress

__all__ = [
    "PUBLIC", "Exchange", "HttpResponse", "Policy", "TooLarge", "check_address", "check_url", "decompress", "fetch", "fetch_async",
    "open_exchange", "points_to_internal", "request", "resolve", "resolve_async", "was_not_sent",
]  # fmt: skip
