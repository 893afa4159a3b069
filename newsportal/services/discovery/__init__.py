"""New sources by themselves: what stands behind an address, which sites stored articles lead to, lists of feeds from other readers.

Pure but for the functions that are handed in to fetch. See docs/finding-sources.md.
"""
