"""Stores in SQL databases (SQLite, PostgreSQL, MariaDB, MySQL): :mod:`store` over the rooms, a function a statement.

:mod:`tables` and the ``*_tables`` say what lies where, :mod:`dialects` where databases differ, :mod:`schema` and ``migrations/`` bring a
database to this version.
"""
