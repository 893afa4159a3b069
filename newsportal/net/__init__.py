"""The network: checked connections (``egress``), archives of what was fetched (``archive``), pages in a browser (``rendering``)."""
