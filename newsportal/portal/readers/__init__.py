"""Reader apps: the Google Reader API and the Fever API over the portal's stories, marks and searches (``docs/readers.md``)."""
