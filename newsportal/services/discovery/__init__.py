"""Find new sources: behind a URL, among sites linked from stored articles, and in feed lists of other readers.

Pure, except for the fetch functions passed in. See docs/finding-sources.md.
"""
