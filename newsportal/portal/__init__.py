"""The portal: server-rendered pages, feeds and a JSON API over a store and a search index. It knows both by their protocols only.

``create_app`` in :mod:`newsportal.portal.app` is the way in. Packages by feature: ``reading`` (what readers see: front page, lists,
stories, photos, search, feeds), ``account`` (sign in, people, marks, alerts), ``desk`` (what editors change: sources, topics, articles,
publishing), ``monitor`` (health, runs, figures), ``api`` (the same in JSON). What they share lies here. ``docs/decisions/portal.md``
has the decisions.
"""
