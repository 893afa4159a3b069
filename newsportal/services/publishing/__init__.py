"""Articles published besides the portal (``sources.yaml``: ``publish``): into tables of other people's databases, as documents
into MongoDB and Elasticsearch, as files, by webhook.

:func:`publish` follows the store's change log for one target, and does what its outbox says is to be done. Each
article stands at each target once, whatever dies when: :mod:`newsportal.services.publishing.base` says what a target must promise for that.
"""
