"""The portal: server-rendered pages and feeds over a store and a search index. It knows both by their protocols only.

``create_app`` in :mod:`newsportal.portal.app` is the way in. The decisions behind it: ``docs/decisions/portal.md``.
"""
