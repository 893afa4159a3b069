"""Try a source, or search for sources behind a URL, for commands and the portal, within the crawl's politeness.

``trial`` fetches one list page and one article as the crawl would; ``proposing`` finds the sources behind a URL and makes entries of
``sources.yaml`` of them; ``polite_fetch`` obeys robots.txt and the delay of each host.
"""
