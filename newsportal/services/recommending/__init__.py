"""Recommendation over a store: what :mod:`newsportal.recommend` computes, fitted from what readers looked at, and served to the portal.

``parts`` makes items of stories and fits the model on this machine, ``spark`` fits it on a cluster, ``serving`` answers for a reader.
"""
