"""The topics of a portal in an editor's hands: what their words would find among stored articles, how they are written into
``sources.yaml``, and how stored articles follow."""
