"""Recommendation over a store: models of :mod:`newsportal.recommend`, fitted on readers' views, and served to the portal.

``parts`` converts stories to items and fits the model on this machine, ``spark`` fits it on a cluster, ``serving`` recommends for a reader.
"""
