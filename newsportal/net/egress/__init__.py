"""The only door to the network: which addresses may be reached, names looked up once and checked, HTTP for all that is not the crawl.

The crawl's download handler (``newsportal.crawl.handlers``) asks the same policy and the same resolver. See ``docs/decisions/egress.md``.
"""

from newsportal.net.egress.addresses import PUBLIC, Policy, check_address, check_url, leads_inside, resolve, resolve_async
from newsportal.net.egress.client import Answer, Exchange, exchanges, fetch, fetch_async, never_sent, request
from newsportal.net.egress.decompress import TooLarge, decompress

__all__ = [
    "PUBLIC", "Answer", "Exchange", "Policy", "TooLarge", "check_address", "check_url", "decompress", "exchanges", "fetch", "fetch_async",
    "leads_inside", "never_sent", "request", "resolve", "resolve_async",
]  # fmt: skip
