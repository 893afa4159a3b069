"""What a source gives right now, and what stands behind an address: asked by commands and the portal alike, politely.

``trial`` fetches one list page and one article as the crawl would; ``proposing`` looks what an address
offers and makes entries of ``sources.yaml`` of it; ``polite_fetch`` fetches, within robots.txt and the delay of each host.
"""
