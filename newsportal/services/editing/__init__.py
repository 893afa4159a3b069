"""Articles in editors' hands: a body as lines to be typed in, what differs between two texts, what an editor's draft changes.

Pages, API and commands share these; the stores keep what comes of them (``store.corrections``).
"""
