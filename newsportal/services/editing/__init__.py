"""Editing of articles: a body as editable lines, differences between two texts, and corrections from an editor's draft.

Shared by pages, API and commands; the store saves the results (``store.corrections``).
"""
