"""The portal: server-rendered pages, feeds and a JSON API over a store and a search index, of which it uses the protocols only.

The entry point is ``create_app`` in :mod:`newsportal.portal.app`. Packages by feature: ``reading`` (readers' pages: front page, lists,
stories, photos, search, feeds), ``account`` (sign-in, people, marks, alerts), ``desk`` (editors' pages: sources, topics, articles,
publishing), ``monitor`` (health, runs, figures), ``api`` (the same in JSON). Modules here are shared by them. Decisions are in
``docs/decisions/portal.md``.
"""
