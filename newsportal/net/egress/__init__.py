"""The only access to the network: a policy of allowed IP addresses, checked name resolution, HTTP for everything except the crawl.

The crawl's download handler (``newsportal.crawl.handlers``) uses the same policy and resolver. See ``docs/decisions/egress.md``.
"""

from newsportal.net.egress.addresses import PUBLIC, Policy, check_address, check_url, leads_inside, resolve, resolve_async
from newsportal.net.egress.client import Answer, Exchange, exchanges, fetch, fetch_async, never_sent, request
from newsportal.net.egress.decompress import TooLarge, decompress

__all__ = [
    "PUBLIC", "Answer", "Exchange", "Policy", "TooLarge", "check_address", "check_url", "decompress", "exchanges", "fetch", "fetch_async",
    "leads_inside", "never_sent", "request", "resolve", "resolve_async",
]  # fmt: skip
