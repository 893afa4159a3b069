"""Recommendation over a store: what :mod:`newsportal.recommend` computes, fitted from what readers looked at, and served to the portal.

``candidates`` makes items of stories, ``fitting`` learns on this machine, ``spark`` on many, ``serving`` answers for a reader.
"""
