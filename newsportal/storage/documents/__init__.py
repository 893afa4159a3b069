"""Stores over databases of documents (MongoDB, Elasticsearch): one record of everything, on what both of them can do.

:mod:`base` says what a database must offer: rows by id, rows by conditions in an order, and transactions, which neither of the two has of
its own (FerretDB, too, speaks MongoDB's protocol without them), so ``transactions`` makes them of a lease and a journal. The rooms of the
store (articles, threads, galleries …) are written once over that.
"""
