"""Publish articles outside the portal (``publish`` in ``sources.yaml``): to tables of other databases, as documents to MongoDB and
Elasticsearch, as files, by webhook.

:func:`publish` follows the store's change log for one target, and processes its outbox. Each article is published exactly once per target,
even after crashes; :mod:`newsportal.services.publishing.base` defines the guarantees that targets give for that.
"""
